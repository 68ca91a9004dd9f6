//! MovieLens 100K: `u.data`, tab-separated, without a header.

use super::columns::Columns;
use super::rows::Delimiter;
use super::source::Source;
use super::table::{Layout, read_whole};
use super::{Confidence, Format, ReadOptions};
use crate::{RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "movielens-100k",
    summary: "MovieLens 100K, u.data: user, item, rating and time separated by tabs",
    recognised_by: "the file name u.data",
    options: &[],
    streams: true,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    match source {
        Source::Text(text) if text.base_name() == "u.data" => Confidence::Name,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let columns = Columns::find(None, 4, options)?;
    let layout = Layout { delimiter: Delimiter::Char('\t'), quotes: false, header: false, width: 4, columns };
    read_whole(text, &layout, FORMAT.name, options)
}
