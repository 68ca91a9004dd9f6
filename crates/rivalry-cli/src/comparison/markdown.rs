//! A comparison as Markdown.

use rivalry_report::{Table, comparison_tables, escape_markdown};
use rivalry_runs::compare::Comparison;

use super::notes::prose;

/// All tables, followed by the protocol and the statistical methods.
pub fn markdown(comparison: &Comparison) -> String {
    let mut blocks: Vec<String> = comparison_tables(comparison).iter().map(Table::markdown).collect();
    blocks.push(escape_markdown(&prose(comparison)));
    blocks.join("\n\n")
}
