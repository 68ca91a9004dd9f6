//! RecBole's atomic `.inter` files: tab-separated, with a header of `name:type`.

use super::columns::Columns;
use super::rows::{Delimiter, Rows};
use super::source::Source;
use super::table::{Layout, read_whole};
use super::{Confidence, Format, ReadOptions};
use crate::{RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "recbole",
    summary: "RecBole atomic file: tab-separated, header user_id:token, item_id:token, …",
    recognised_by: "the extension .inter, or a header of name:type",
    options: &["user", "item", "rating", "time"],
    streams: true,
    recognise,
    read,
};

const TYPES: [&str; 4] = ["token", "token_seq", "float", "float_seq"];

fn recognise(source: &Source) -> Confidence {
    let Source::Text(text) = source else { return Confidence::None };
    let typed = |name: &str| name.rsplit_once(':').is_some_and(|(_, kind)| TYPES.contains(&kind));
    let header = text.text.lines().next().unwrap_or("");
    match () {
        _ if text.base_name().ends_with(".inter") => Confidence::Name,
        _ if header.split('\t').all(typed) => Confidence::Signature,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let delimiter = Delimiter::Char('\t');
    let mut header = Vec::new();
    Rows::new(text, delimiter, false).next_into(&mut header)?;
    let names: Vec<&str> = header.iter().map(|name| name.split(':').next().unwrap_or(name)).collect();
    let columns = Columns::find(Some(&names), names.len(), options)
        .map_err(|e| e.file(&text.name).line(text.comments as u64 + 1))?;
    let layout = Layout { delimiter, quotes: false, header: true, width: names.len(), columns };
    read_whole(text, &layout, FORMAT.name, options)
}
