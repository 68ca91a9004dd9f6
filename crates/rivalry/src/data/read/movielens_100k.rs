//! MovieLens 100K: `u.data`, tabs, no header.

use super::columns::Columns;
use super::rows::Delimiter;
use super::source::Source;
use super::table::{Layout, read_whole};
use super::{Claim, Format, ReadOptions};
use crate::Result;
use crate::data::RawData;

pub(super) const FORMAT: Format = Format {
    name: "movielens-100k",
    summary: "MovieLens 100K, u.data: user, item, rating and time separated by tabs",
    recognised_by: "the name u.data",
    options: &[],
    claim,
    read,
};

fn claim(source: &Source) -> Claim {
    match source {
        Source::Text(text) if text.base_name() == "u.data" => Claim::Named,
        _ => Claim::No,
    }
}

fn read(source: &Source, options: &ReadOptions) -> Result<RawData> {
    let text = source.text(FORMAT.name)?;
    let columns = Columns::find(None, 4, options)?;
    let layout = Layout { delimiter: Delimiter::Mark('\t'), quotes: false, header: false, width: 4, columns };
    read_whole(text, &layout, Vec::new())
}
