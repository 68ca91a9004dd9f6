//! A comparison as LaTeX: plain `tabular`, without packages.

use rivalry_runs::compare::Comparison;

use super::notes::prose;
use super::sheet::{Cell, Sheet, sheets};

/// Tables with the best means in bold; the protocol is a note below the table of differences.
pub fn latex(comparison: &Comparison) -> String {
    let place = usize::from(comparison.methods.len() > 1);
    let sheets = sheets(comparison);
    let tables = sheets.iter().enumerate().map(|(at, sheet)| {
        let note = (at == place).then(|| escaped(&prose(comparison)));
        table(sheet, note)
    });
    tables.collect::<Vec<_>>().join("\n\n")
}

fn table(sheet: &Sheet, note: Option<String>) -> String {
    let columns: String =
        (0..sheet.header.len()).map(|column| if column < sheet.texts { 'l' } else { 'r' }).collect();
    let line = |cells: Vec<String>| format!("  {} \\\\", cells.join(" & "));
    let mut lines = vec![
        r"\begin{table}".to_owned(),
        r"  \centering".to_owned(),
        format!("  \\caption{{{}}}", escaped(&sheet.title)),
        format!("  \\begin{{tabular}}{{{columns}}}"),
        r"  \hline".to_owned(),
        line(sheet.header.iter().map(|text| escaped(text)).collect()),
        r"  \hline".to_owned(),
    ];
    lines.extend(sheet.rows.iter().map(|row| line(row.iter().map(cell).collect())));
    lines.extend([r"  \hline", r"  \end{tabular}"].map(str::to_owned));
    lines.extend(note.map(|note| format!("  \\par\\medskip {{\\footnotesize {note}}}")));
    lines.push(r"\end{table}".to_owned());
    lines.join("\n")
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    if cell.best { format!(r"\textbf{{{text}}}") } else { text }
}

/// Escapes the special characters of LaTeX.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str(r"\textbackslash{}"),
            '~' => escaped.push_str(r"\textasciitilde{}"),
            '^' => escaped.push_str(r"\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '±' => escaped.push_str(r"$\pm$"),
            '<' => escaped.push_str("$<$"),
            '–' => escaped.push_str("--"),
            _ => escaped.push(c),
        }
    }
    escaped
}
