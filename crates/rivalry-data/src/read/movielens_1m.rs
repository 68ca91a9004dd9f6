//! MovieLens 1M and 10M: `ratings.dat`, `user::item::rating::time`.

use super::columns::Columns;
use super::rows::Delimiter;
use super::source::Source;
use super::table::{Layout, read_whole};
use super::{Confidence, Format, ReadOptions};
use crate::{RawData, Result};

pub(super) const FORMAT: Format = Format {
    name: "movielens-1m",
    summary: "MovieLens 1M or 10M, ratings.dat: user::item::rating::time",
    recognised_by: "the file name ratings.dat, or four fields separated by ::",
    options: &[],
    streams: true,
    recognise,
    read,
};

fn recognise(source: &Source) -> Confidence {
    let Source::Text(text) = source else { return Confidence::None };
    let first = text.text.lines().next().unwrap_or("");
    match () {
        _ if text.base_name() == "ratings.dat" => Confidence::Name,
        _ if first.split("::").count() == 4 => Confidence::Signature,
        _ => Confidence::None,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let columns = Columns::find(None, 4, options)?;
    let layout =
        Layout { delimiter: Delimiter::DoubleColon, quotes: false, header: false, width: 4, columns };
    read_whole(text, &layout, FORMAT.name, options)
}
