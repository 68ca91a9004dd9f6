//! Tables with any delimiter, with or without a header: CSV, TSV, MovieLens `ratings.csv`, Amazon reviews…

use super::columns::Columns;
use super::rows::{Delimiter, Rows};
use super::source::{Source, Text};
use super::table::{Layout, read_whole};
use super::{Claim, Format, ReadOptions, sniff};
use crate::data::RawData;
use crate::{InputError, Result};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "CSV, TSV or any delimiter, with or without a header, columns by name or number",
    recognised_by: "the ending .csv or .tsv, or rows with the same number of fields",
    options: &["delimiter", "header", "user", "item", "rating", "time"],
    claim,
    read,
};

fn claim(source: &Source) -> Claim {
    let Source::Text(text) = source else { return Claim::No };
    let name = text.base_name();
    if name.ends_with(".csv") || name.ends_with(".tsv") {
        return Claim::Named;
    }
    let table = sniff::delimiter(text).is_some() && sniff::adjacency(text) != sniff::Adjacency::Yes;
    if table { Claim::Fits } else { Claim::No }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let sniffed = sniff::delimiter(text);
    let delimiter = options.delimiter.map(Delimiter::from).or(sniffed).unwrap_or(Delimiter::Mark(','));
    let mut rows = Rows::new(text, delimiter, true);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let line = rows.next_into(&mut first)?.unwrap_or(1);
    // A fault in the second row is reported when the row is read in earnest.
    let _ = rows.next_into(&mut second);
    if first.len() < 2 {
        return Err(one_column(text, options.delimiter, sniffed).into());
    }
    let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
    let second: Vec<&str> = second.iter().map(AsRef::as_ref).collect();
    let header = options.header.unwrap_or_else(|| options.names_a_column() || sniff::header(&first, &second));
    let columns = Columns::find(header.then_some(&first), first.len(), options)
        .map_err(|fault| fault.file(&text.name).line(line))?;
    let mut notes = Vec::new();
    if !header {
        let all = [Some(&columns.user), Some(&columns.item), columns.rating.as_ref(), columns.time.as_ref()];
        let all: Vec<&str> = all.into_iter().flatten().map(|column| column.name.as_str()).collect();
        notes.push(format!("{}: no header; read as {}", text.name.display(), all.join(", ")));
    }
    read_whole(text, &Layout { delimiter, quotes: true, header, width: first.len(), columns }, notes)
}

fn one_column(text: &Text, asked: Option<char>, sniffed: Option<Delimiter>) -> InputError {
    let tried = match asked {
        Some(mark) => format!("with the delimiter {}", Delimiter::from(mark)),
        None => "with the delimiters tab, ',', ';', '|' and blank".to_owned(),
    };
    let help = match sniffed {
        Some(delimiter) => format!("{delimiter} seems right: set `delimiter` to it, or leave the option out"),
        None => "set `delimiter` to what stands between a user and an item".to_owned(),
    };
    let fault = InputError::new(format!("only one column found {tried}")).file(&text.name).line(1);
    fault.field("delimiter").help(help)
}
