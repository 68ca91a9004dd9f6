//! MovieLens 1M and 10M: `ratings.dat`, `user::item::rating::time`.

use super::columns::Columns;
use super::rows::Delimiter;
use super::source::Source;
use super::table::{Layout, read_whole};
use super::{Claim, Format, ReadOptions};
use crate::Result;
use crate::data::RawData;

pub(super) const FORMAT: Format = Format {
    name: "movielens-1m",
    summary: "MovieLens 1M or 10M, ratings.dat: user::item::rating::time",
    recognised_by: "the name ratings.dat, or :: between four fields",
    options: &[],
    claim,
    read,
};

fn claim(source: &Source) -> Claim {
    let Source::Text(text) = source else { return Claim::No };
    let first = text.text.lines().next().unwrap_or("");
    match () {
        _ if text.base_name() == "ratings.dat" => Claim::Named,
        _ if first.split("::").count() == 4 => Claim::Signed,
        _ => Claim::No,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let columns = Columns::find(None, 4, options)?;
    let layout =
        Layout { delimiter: Delimiter::DoubleColon, quotes: false, header: false, width: 4, columns };
    read_whole(text, &layout, Vec::new())
}
