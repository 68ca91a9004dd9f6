//! Output of a comparison: the same tables for the terminal, Markdown and LaTeX, and all numbers as CSV.

mod csv;
mod latex;
mod markdown;
mod notes;

pub use self::csv::csv;
pub use latex::latex;
pub use markdown::markdown;

use rivalry_report::{comparison_notes, comparison_tables};
use rivalry_runs::compare::Comparison;

use crate::table::terminal_table;
use notes::heading;

/// A comparison for the terminal.
pub fn terminal(comparison: &Comparison) -> String {
    let mut blocks = vec![heading(comparison)];
    for table in comparison_tables(comparison) {
        blocks.push(format!("{}\n{}", table.caption, terminal_table(&table)));
    }
    blocks.push(comparison_notes(comparison).join("\n"));
    blocks.join("\n\n")
}
