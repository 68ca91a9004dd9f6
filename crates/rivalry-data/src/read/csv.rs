//! Tables with any delimiter, with or without a header: CSV, TSV, MovieLens `ratings.csv`, Amazon reviews…

use super::columns::Columns;
use super::rows::{Delimiter, Rows};
use super::source::{Source, Text};
use super::table::{Layout, read_whole};
use super::{Confidence, Format, ReadOptions, sniff, stream};
use crate::{InputError, RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "CSV, TSV or any delimiter, with or without a header, columns by name or number",
    recognised_by: "the extension .csv or .tsv, or rows with the same number of fields",
    options: &["delimiter", "header", "user", "item", "rating", "time"],
    streams: true,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    let text = match source {
        Source::Text(text) => text,
        Source::Parts(parts) if !parts.parquet => return Confidence::Name,
        _ => return Confidence::None,
    };
    if sniff::json(text) {
        return Confidence::None;
    }
    let name = text.base_name();
    if name.ends_with(".csv") || name.ends_with(".tsv") {
        return Confidence::Name;
    }
    let tabular = sniff::delimiter(text).is_some() && sniff::adjacency(text) != sniff::Adjacency::Yes;
    if tabular { Confidence::Plausible } else { Confidence::None }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    match source {
        Source::Parts(parts) if !parts.parquet => stream::read_parts(parts, options),
        _ => read_table(source.text(FORMAT.name)?, options),
    }
}

/// Reads one table.
pub(super) fn read_table(text: &Text, options: &ReadOptions) -> Result<RawData> {
    let layout = layout(text, options)?;
    let mut raw = read_whole(text, &layout, FORMAT.name, options)?;
    raw.notes.extend(guessed_columns(text, &layout));
    Ok(raw)
}

/// The delimiter and the columns of a table, found in its first rows.
pub(super) fn layout(text: &Text, options: &ReadOptions) -> Result<Layout> {
    let sniffed = sniff::delimiter(text);
    let delimiter = options.delimiter.map(Delimiter::from).or(sniffed).unwrap_or(Delimiter::Char(','));
    let mut rows = Rows::new(text, delimiter, true);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let line = rows.next_into(&mut first)?.unwrap_or(1);
    // An error in the second row is reported when all rows are read.
    let _ = rows.next_into(&mut second);
    if first.len() < 2 {
        return Err(one_column(text, options.delimiter, sniffed).into());
    }
    let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
    let second: Vec<&str> = second.iter().map(AsRef::as_ref).collect();
    let header = options.header.unwrap_or_else(|| options.names_a_column() || sniff::header(&first, &second));
    let columns = Columns::find(header.then_some(&first), first.len(), options)
        .map_err(|error| error.file(&text.name).line(line))?;
    Ok(Layout { delimiter, quotes: true, header, width: first.len(), columns })
}

/// A note that the columns of a table without a header are guessed.
pub(super) fn guessed_columns(text: &Text, layout: &Layout) -> Option<String> {
    let names =
        || layout.columns.roles().map(|(_, column)| column.name.as_str()).collect::<Vec<_>>().join(", ");
    (!layout.header).then(|| format!("{}: no header; read as {}", text.name.display(), names()))
}

fn one_column(text: &Text, requested: Option<char>, sniffed: Option<Delimiter>) -> InputError {
    let tried = match requested {
        Some(delimiter) => format!("with the delimiter {}", Delimiter::from(delimiter)),
        None => "with the delimiters tab, ',', ';', '|' and space".to_owned(),
    };
    let help = match sniffed {
        Some(delimiter) => {
            format!("the delimiter seems to be {delimiter}: set `data.read.delimiter` to it, or omit it")
        }
        None => "set `data.read.delimiter` to the character between the user and the item".to_owned(),
    };
    let error = InputError::new(format!("only one column found {tried}"))
        .file(&text.name)
        .line(text.comments as u64 + 1);
    error.field("data.read.delimiter").help(help)
}
