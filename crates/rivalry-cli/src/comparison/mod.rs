//! Output formats of a comparison: tables for the terminal, Markdown and LaTeX, and CSV.

mod csv;
mod latex;
mod markdown;
mod notes;
mod sheet;

pub use self::csv::csv;
pub use latex::latex;
pub use markdown::markdown;

use rivalry_runs::compare::Comparison;

use crate::table::aligned;
use notes::{heading, notes};
use sheet::sheets;

/// For the terminal.
pub fn terminal(comparison: &Comparison) -> String {
    let mut parts = vec![heading(comparison)];
    for sheet in sheets(comparison) {
        let rows = sheet.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect());
        parts.push(format!("{}\n{}", sheet.title, aligned(sheet.header.clone(), sheet.texts, rows)));
    }
    parts.push(notes(comparison).join("\n"));
    parts.join("\n\n")
}
