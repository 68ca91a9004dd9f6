//! A comparison as LaTeX, with plain `tabular` environments that need no package.

use rivalry_report::{Table, TableCell, comparison_tables};
use rivalry_runs::compare::Comparison;

use super::notes::prose;

/// All tables, with the protocol and the statistical methods as a note under the differences.
pub fn latex(comparison: &Comparison) -> String {
    let differences = usize::from(comparison.methods.len() > 1);
    let tables = comparison_tables(comparison);
    let floats = tables.iter().enumerate().map(|(index, table)| {
        let note = (index == differences).then(|| escape_latex(&prose(comparison)));
        float(table, note)
    });
    floats.collect::<Vec<_>>().join("\n\n")
}

fn float(table: &Table, note: Option<String>) -> String {
    let alignment: String =
        table.columns.iter().map(|column| if column.numeric { 'r' } else { 'l' }).collect();
    let line = |cells: Vec<String>| format!("  {} \\\\", cells.join(" & "));
    let mut lines = vec![
        r"\begin{table}".to_owned(),
        r"  \centering".to_owned(),
        format!("  \\caption{{{}}}", escape_latex(&table.caption)),
        format!("  \\begin{{tabular}}{{{alignment}}}"),
        r"  \hline".to_owned(),
        line(table.columns.iter().map(|column| escape_latex(&column.title)).collect()),
        r"  \hline".to_owned(),
    ];
    lines.extend(table.rows.iter().map(|row| line(row.iter().map(cell).collect())));
    lines.extend([r"  \hline", r"  \end{tabular}"].map(str::to_owned));
    lines.extend(note.map(|note| format!("  \\par\\medskip {{\\footnotesize {note}}}")));
    lines.push(r"\end{table}".to_owned());
    lines.join("\n")
}

fn cell(cell: &TableCell) -> String {
    let text = escape_latex(&cell.text);
    if cell.bold { format!(r"\textbf{{{text}}}") } else { text }
}

/// Escapes text for LaTeX.
fn escape_latex(text: &str) -> String {
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
