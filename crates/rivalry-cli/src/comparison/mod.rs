//! Output of a comparison: the same tables for the terminal, Markdown and LaTeX, and all numbers as CSV.

mod csv;
mod latex;
mod markdown;
mod notes;
mod tables;

pub use self::csv::csv;
pub use latex::latex;
pub use markdown::markdown;

use rivalry_runs::compare::Comparison;

use crate::table::terminal_table;
use notes::{heading, notes};
use tables::tables;

/// A comparison for the terminal.
pub fn terminal(comparison: &Comparison) -> String {
    let mut blocks = vec![heading(comparison)];
    for table in tables(comparison) {
        blocks.push(format!("{}\n{}", table.caption, terminal_table(&table)));
    }
    blocks.push(notes(comparison).join("\n"));
    blocks.join("\n\n")
}
