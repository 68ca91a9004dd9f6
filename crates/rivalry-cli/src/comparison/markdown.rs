//! A comparison as Markdown.

use rivalry_runs::compare::Comparison;

use super::notes::prose;
use super::sheet::{Cell, Sheet, sheets};

/// Tables with the best means in bold, followed by the protocol.
pub fn markdown(comparison: &Comparison) -> String {
    let mut parts: Vec<String> = sheets(comparison).iter().map(table).collect();
    parts.push(escaped(&prose(comparison)));
    parts.join("\n\n")
}

fn table(sheet: &Sheet) -> String {
    let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let rule = (0..sheet.header.len()).map(|column| if column < sheet.texts { "---" } else { "---:" });
    let mut lines = vec![
        format!("**{}**\n", escaped(&sheet.title)),
        line(sheet.header.iter().map(|text| escaped(text)).collect()),
        line(rule.map(str::to_owned).collect()),
    ];
    lines.extend(sheet.rows.iter().map(|row| line(row.iter().map(cell).collect())));
    lines.join("\n")
}

fn cell(cell: &Cell) -> String {
    let text = escaped(&cell.text);
    if cell.best { format!("**{text}**") } else { text }
}

/// Escapes the special characters of Markdown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_|<[]".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
