//! Tables as plain values, and their Markdown form.

use crate::escape::escape_markdown;

/// A table. All text is plain text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What the table shows; may be empty.
    pub caption: String,
    /// The columns.
    pub columns: Vec<TableColumn>,
    /// The rows, each with one cell per column.
    pub rows: Vec<Vec<TableCell>>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its heading.
    pub title: String,
    /// Whether its cells are numbers, which are aligned right.
    pub numeric: bool,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCell {
    /// Its text.
    pub text: String,
    /// Whether it is set in bold, as the best value of a column is.
    pub bold: bool,
}

impl Table {
    /// The table as Markdown, after its caption in bold.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let alignment = |column: &TableColumn| if column.numeric { "---:" } else { "---" }.to_owned();
        let cell = |cell: &TableCell| match (escape_markdown(&cell.text), cell.bold) {
            (text, true) => format!("**{text}**"),
            (text, false) => text,
        };
        let mut lines = Vec::new();
        if !self.caption.is_empty() {
            lines.push(format!("**{}**\n", escape_markdown(&self.caption)));
        }
        lines.push(line(self.columns.iter().map(|column| escape_markdown(&column.title)).collect()));
        lines.push(line(self.columns.iter().map(alignment).collect()));
        lines.extend(self.rows.iter().map(|row| line(row.iter().map(cell).collect())));
        lines.join("\n")
    }
}

impl TableColumn {
    /// A column of text.
    pub fn text(title: impl Into<String>) -> Self {
        Self { title: title.into(), numeric: false }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Self { title: title.into(), numeric: true }
    }
}

impl TableCell {
    /// A cell with plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), bold: false }
    }

    /// A value, or a dash if there is none.
    pub fn or_dash(text: Option<String>) -> Self {
        Self::new(text.unwrap_or_else(|| "–".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_aligns_numbers_and_escapes_text() {
        let best = TableCell { bold: true, ..TableCell::new("0.2") };
        let mut table = Table {
            caption: "Test_metrics".to_owned(),
            columns: vec![TableColumn::text("loss"), TableColumn::number("NDCG@20")],
            rows: vec![
                vec![TableCell::new("a|b"), best],
                vec![TableCell::new("sl"), TableCell::or_dash(None)],
            ],
        };
        let lines = "| loss | NDCG@20 |\n| --- | ---: |\n| a\\|b | **0.2** |\n| sl | – |";
        assert_eq!(table.markdown(), format!("**Test\\_metrics**\n\n{lines}"));
        table.caption.clear();
        assert_eq!(table.markdown(), lines);
    }
}
