//! What a report consists of, as plain values. How it looks is decided where it is written.

use crate::draw::{Colours, Scene, png, svg};

/// A report.
pub(crate) struct Page {
    pub title: String,
    pub sections: Vec<Section>,
    /// The runs, by number.
    pub runs: Vec<RunEntry>,
}

/// A part of a report with a heading.
pub(crate) struct Section {
    /// The anchor that links lead to.
    pub id: &'static str,
    pub title: &'static str,
    pub blocks: Vec<Block>,
}

/// What a section holds. All text is plain text.
pub(crate) enum Block {
    Heading(String),
    Prose(String),
    Table(Table),
    Figure(Figure),
}

/// A table: the first column is text, as are those that say so.
pub(crate) struct Table {
    pub caption: String,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// The runs it is made of.
    pub runs: Vec<usize>,
}

/// The head of a column.
pub(crate) struct Column {
    pub title: String,
    pub number: bool,
}

/// A field of a table.
pub(crate) struct Cell {
    pub text: String,
    pub strong: bool,
}

/// What the appendix says of a run.
pub(crate) struct RunEntry {
    pub summary: String,
    pub command: String,
    pub config: String,
}

/// A figure of a report.
pub struct Figure {
    pub(crate) title: String,
    pub(crate) caption: String,
    pub(crate) scene: Scene,
    /// The runs it is made of.
    pub(crate) runs: Vec<usize>,
}

impl Figure {
    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The figure as an SVG file that stands alone.
    pub fn svg(&self) -> String {
        svg(&self.scene, &self.title, Colours::Own)
    }

    /// The figure as a PNG file, at twice its size.
    pub fn png(&self) -> Vec<u8> {
        png(&self.scene).unwrap_or_default()
    }
}

impl Column {
    pub(crate) fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), number: false }
    }

    pub(crate) fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), number: true }
    }
}

impl Cell {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), strong: false }
    }

    /// A value, or a dash where there is none.
    pub(crate) fn maybe(text: Option<String>) -> Self {
        Self::plain(text.unwrap_or_else(|| "–".to_owned()))
    }
}

impl Page {
    /// Every figure, in the order of the page.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        let blocks = self.sections.iter().flat_map(|section| &section.blocks);
        blocks.filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        })
    }
}
