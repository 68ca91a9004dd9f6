//! Formats with dense ids: integers from 0, with or without a list of the original ids.

use super::bundle::Bundle;
use super::records::DenseIds;
use super::rows::{Delimiter, Rows};
use super::source::Text;
use crate::{IdMap, InputError, Result};

/// Ids that are dense already; with a list, only those on it are valid.
pub(super) struct NumericIds<'a>(pub Option<&'a IdList>);

/// The original ids, as listed in a file.
pub(super) struct IdList {
    file: String,
    ids: IdMap,
}

impl DenseIds for NumericIds<'_> {
    fn dense(&mut self, field: &str) -> Result<u32, InputError> {
        let id = parse_id(field)?;
        match self.0 {
            Some(list) if id as usize >= list.ids.len() => {
                let message =
                    format!("id {id} is not in {}, which ends at {}", list.file, list.ids.len() - 1);
                Err(InputError::new(message).help("take all files from the same version of the data set"))
            }
            _ => Ok(id),
        }
    }
}

fn parse_id(field: &str) -> Result<u32, InputError> {
    field.parse().map_err(|_| {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let message = match field.strip_prefix('-') {
            Some(rest) if digits(rest) => format!("the id {field} is negative"),
            None if digits(field) => format!("the id {field} exceeds {}", u32::MAX),
            _ => format!("'{field}' is not an integer"),
        };
        InputError::new(message)
            .help("ids in this format are integers from 0; to read any text as an id, set `data.read.format` to \"csv\", or to \
                   \"train-test\" for a folder with train.tsv and test.tsv")
    })
}

impl IdList {
    /// The list in the bundle, if there is one: `original dense` on each line, dense ids in any order.
    pub fn read(bundle: &Bundle, file: &str) -> Result<Option<Self>> {
        if !bundle.has(file) {
            return Ok(None);
        }
        let text = bundle.text(file)?;
        let delimiter = delimiter(&text);
        let (mut rows, mut fields) = (Rows::new(&text, delimiter, false), Vec::new());
        let mut listed: Vec<(u32, u64, &str)> = Vec::new();
        let mut first = true;
        while let Some(line) = rows.next_into(&mut fields)? {
            let at_line = |e: InputError| e.file(&text.name).line(line);
            let &[std::borrow::Cow::Borrowed(original), ref dense, ..] = fields.as_slice() else {
                let message = "expected an original id and its number, found one field";
                return Err(at_line(InputError::new(message).help("write both, separated by a tab")).into());
            };
            if !std::mem::take(&mut first) || is_number(dense) {
                listed.push((parse_id(dense).map_err(|e| at_line(e.field("number")))?, line, original));
            }
        }
        listed.sort_unstable();
        for (expected, &(dense, line, _)) in listed.iter().enumerate() {
            if dense as usize != expected {
                let message = format!("expected number {expected}, found {dense}");
                let error = InputError::new(message).file(&text.name).line(line);
                return Err(error.help("number the ids 0, 1, 2, … without gaps or duplicates").into());
            }
        }
        if listed.is_empty() {
            let error = InputError::new("there is a header but no id").file(&text.name);
            return Err(error.help("remove the file to use the numbers as ids").into());
        }
        let ids = IdMap::try_from_unique(listed.iter().map(|(_, _, original)| original)).map_err(|id| {
            let error = InputError::new(format!("the original id '{id}' is listed twice")).file(&text.name);
            error.help("list every id once")
        })?;
        Ok(Some(Self { file: file.to_owned(), ids }))
    }
}

/// Tab if the first line has one, otherwise whitespace: with tabs, an original id may contain spaces.
pub(super) fn delimiter(text: &Text) -> Delimiter {
    let first = text.text.trim_ascii_start().lines().next().unwrap_or("");
    if first.contains('\t') { Delimiter::Char('\t') } else { Delimiter::Whitespace }
}

/// Whether a field is data rather than a column name.
/// Whether the ids of a table, in its first two columns, are no integers. The second row tells: the first may be a header.
pub(super) fn has_text_ids(text: &Text) -> bool {
    let mut rows = Rows::new(text, delimiter(text), false);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let _ = rows.next_into(&mut first);
    let _ = rows.next_into(&mut second);
    let row = if second.is_empty() { first } else { second };
    row.len() > 1 && row.iter().take(2).any(|field| field.parse::<i64>().is_err())
}

pub(super) fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}

/// The id map of these columns. Without a list, the numbers themselves are the original ids, and gaps between them are
/// closed, so that one huge id can't exhaust the memory. If there are no gaps, every id is kept.
pub(super) fn id_map(list: Option<IdList>, columns: &mut [&mut Vec<u32>]) -> IdMap {
    if let Some(list) = list {
        return list.ids;
    }
    let mut present: Vec<u32> = columns.iter().flat_map(|column| column.iter().copied()).collect();
    present.sort_unstable();
    present.dedup();
    if present.last().is_some_and(|&last| last as usize + 1 != present.len()) {
        for id in columns.iter_mut().flat_map(|column| column.iter_mut()) {
            *id = present.partition_point(|other| other < id) as u32;
        }
    }
    present.iter().map(u32::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_ids_are_closed() {
        let (mut train, mut test) = (vec![4_000_000_000, 7, 7], vec![0]);
        let map = id_map(None, &mut [&mut train, &mut test]);
        assert_eq!((train, test), (vec![2, 1, 1], vec![0]));
        assert_eq!(map.iter().collect::<Vec<_>>(), ["0", "7", "4000000000"]);
    }

    #[test]
    fn an_invalid_dense_id_says_why() {
        let message = |field| parse_id(field).unwrap_err().to_string();
        assert_eq!(parse_id("4294967295").unwrap(), u32::MAX);
        assert!(message("4294967296").starts_with("the id 4294967296 exceeds 4294967295"));
        assert!(message("-3").starts_with("the id -3 is negative"));
        assert!(message("3.0").starts_with("'3.0' is not an integer"));
        assert!(message("").starts_with("'' is not an integer"));
    }
}
