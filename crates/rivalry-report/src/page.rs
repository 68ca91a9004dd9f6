//! The content of a report as plain values, independent of its format.

use crate::draw::{Palette, Scene, svg};
use crate::table::Table;

/// A report.
pub(crate) struct Page {
    pub title: String,
    pub sections: Vec<Section>,
    /// All runs; figures and tables refer to them by index.
    pub runs: Vec<RunEntry>,
    /// All runs with their settings and metrics.
    pub list: RunList,
}

/// The table of all runs.
pub(crate) struct RunList {
    pub table: Table,
    /// The index of the run in each row.
    pub order: Vec<usize>,
    /// The column that the rows are sorted by, the highest first.
    pub sorted_by: usize,
}

/// A section of a report.
pub(crate) struct Section {
    /// The anchor for links.
    pub id: &'static str,
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

/// An element of a section. All text is plain text.
pub(crate) enum Block {
    Heading(String),
    Paragraph(String),
    Table(RunTable),
    Figure(Figure),
}

/// A table with the runs it shows.
pub(crate) struct RunTable {
    pub table: Table,
    pub runs: Vec<usize>,
}

/// A run in the appendix of a report.
pub(crate) struct RunEntry {
    pub name: String,
    /// The command that trains it again.
    pub command: String,
    /// Its config as TOML.
    pub config: String,
}

/// A figure of a report.
pub struct Figure {
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) scene: Scene,
    /// The runs it shows.
    pub(crate) runs: Vec<usize>,
}

impl Figure {
    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The figure as a standalone SVG file.
    pub fn svg(&self) -> String {
        svg(&self.scene, &self.title, Palette::Standalone)
    }
}

impl Page {
    /// All figures, in page order.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }
}
