//! Files that promise dense ids: whole numbers from 0, with or without a list of the original ids.

use super::bundle::Bundle;
use super::rows::{Delimiter, Rows};
use super::source::Text;
use super::table::Ids;
use crate::data::IdMap;
use crate::{InputError, Result};

/// Ids that are numbers already; with a list, only those that are on it.
pub(super) struct Numbers<'a>(pub Option<&'a IdList>);

/// The original ids, as a file lists them.
pub(super) struct IdList {
    file: String,
    ids: IdMap,
}

impl Ids for Numbers<'_> {
    fn dense(&mut self, field: &str) -> Result<u32, InputError> {
        let id = parse_id(field)?;
        match self.0 {
            Some(list) if id as usize >= list.ids.len() => {
                let message =
                    format!("id {id} is not in {}, which ends at {}", list.file, list.ids.len() - 1);
                Err(InputError::new(message).help("the files must come from the same run of the same script"))
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
            None if digits(field) => format!("the id {field} is beyond {}", u32::MAX),
            _ => format!("'{field}' is not a whole number"),
        };
        InputError::new(message).help(
            "ids in this format are whole numbers from 0; to read any text as an id, set `format` to csv",
        )
    })
}

impl IdList {
    /// The list in the bundle, if there is one: `original dense` in each line, dense ids in any order.
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
            let fault = |e: InputError| e.file(&text.name).line(line);
            let &[std::borrow::Cow::Borrowed(original), ref dense, ..] = fields.as_slice() else {
                let message = "an original id and its number expected, one field found";
                return Err(fault(InputError::new(message).help("write both, separated by a tab")).into());
            };
            if !std::mem::take(&mut first) || is_number(dense) {
                listed.push((parse_id(dense).map_err(|e| fault(e.field("number")))?, line, original));
            }
        }
        listed.sort_unstable();
        for (expected, &(dense, line, _)) in listed.iter().enumerate() {
            if dense as usize != expected {
                let message = format!("number {dense} found where {expected} is due");
                let fault = InputError::new(message).file(&text.name).line(line);
                return Err(fault.help("a list numbers its ids 0, 1, 2, … without gap or repeat").into());
            }
        }
        if listed.is_empty() {
            let fault = InputError::new("there is a header but no id").file(&text.name);
            return Err(fault.help("leave the file out to keep the numbers as ids").into());
        }
        let ids = IdMap::try_from_unique(listed.iter().map(|(_, _, original)| original)).map_err(|id| {
            let fault = InputError::new(format!("the original id '{id}' is listed twice")).file(&text.name);
            fault.help("list every id once")
        })?;
        Ok(Some(Self { file: file.to_owned(), ids }))
    }
}

/// Such files are separated by tabs or by blanks; an original id may hold a blank if it is tabs.
pub(super) fn delimiter(text: &Text) -> Delimiter {
    let first = text.text.trim_ascii_start().lines().next().unwrap_or("");
    if first.contains('\t') { Delimiter::Mark('\t') } else { Delimiter::Blanks }
}

/// Whether a field is data rather than a column's name.
pub(super) fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}

/// The map for dense ids. Without a list the numbers themselves are the original ids, and those that never occur
/// are closed up, so that one large number can't fill the memory. If none is missing every id stays what it is.
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
    fn numbers_that_never_occur_are_closed_up() {
        let (mut train, mut test) = (vec![4_000_000_000, 7, 7], vec![0]);
        let map = id_map(None, &mut [&mut train, &mut test]);
        assert_eq!((train, test), (vec![2, 1, 1], vec![0]));
        assert_eq!(map.iter().collect::<Vec<_>>(), ["0", "7", "4000000000"]);
    }

    #[test]
    fn an_id_that_is_no_dense_number_says_why() {
        let message = |field| parse_id(field).unwrap_err().to_string();
        assert_eq!(parse_id("4294967295").unwrap(), u32::MAX);
        assert!(message("4294967296").starts_with("the id 4294967296 is beyond 4294967295"));
        assert!(message("-3").starts_with("the id -3 is negative"));
        assert!(message("3.0").starts_with("'3.0' is not a whole number"));
        assert!(message("").starts_with("'' is not a whole number"));
    }
}
