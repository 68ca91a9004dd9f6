//! Detects from the first rows of a text its delimiter and whether it has a header.

use super::columns::{names_item, names_user};
use super::rows::{Delimiter, Rows};
use super::source::Text;
use super::time::parse_time;

/// How many rows are looked at.
const SAMPLE: usize = 200;
const CANDIDATES: [char; 4] = ['\t', ',', ';', '|'];

/// Whether a text has more rows than are looked at, so that what follows makes no difference.
pub(super) fn enough(text: &Text) -> bool {
    text.text.lines().filter(|line| !line.trim_ascii().is_empty()).nth(SAMPLE).is_some()
}

/// The delimiter with which most rows have as many fields as the first; whitespace if no other splits the first row.
pub(super) fn delimiter(text: &Text) -> Option<Delimiter> {
    let (agreeing, delimiter) = CANDIDATES
        .into_iter()
        .rev() // `max` returns the last of equals
        .map(|delimiter| (agreement(&widths(text, delimiter.into())), delimiter))
        .max()?;
    if agreeing > (0, 0) {
        return Some(delimiter.into());
    }
    (agreement(&widths(text, Delimiter::Whitespace)) > (0, 0)).then_some(Delimiter::Whitespace)
}

/// How many rows have as many fields as the first, and that number of fields; zeros if it is one.
fn agreement(widths: &[usize]) -> (usize, usize) {
    match widths {
        [first, ..] if *first > 1 => (widths.iter().filter(|width| *width == first).count(), *first),
        _ => (0, 0),
    }
}

fn widths(text: &Text, delimiter: Delimiter) -> Vec<usize> {
    let (mut rows, mut fields) = (Rows::new(text, delimiter, true), Vec::new());
    let mut widths = Vec::new();
    while widths.len() < SAMPLE && matches!(rows.next_into(&mut fields), Ok(Some(_))) {
        widths.push(fields.len());
    }
    widths
}

/// Whether the first row holds column names: common names for both user and item, or no numbers and either one common
/// name or numbers in the second row.
pub(super) fn header(first: &[&str], second: &[&str]) -> bool {
    let number = |field: &&str| parse_time(field).is_some();
    match (names_user(first), names_item(first)) {
        (true, true) => true,
        _ if first.iter().any(number) => false,
        (user, item) => user || item || second.iter().any(number),
    }
}

/// Whether a text is JSON: its first character begins an object or an array of objects.
pub(super) fn json(text: &Text) -> bool {
    let start = text.text.trim_ascii_start();
    let object =
        |text: &str| text.strip_prefix('{').is_some_and(|rest| rest.trim_ascii_start().starts_with('"'));
    object(start) || start.strip_prefix('[').is_some_and(|rest| object(rest.trim_ascii_start()))
}

/// Whether a text is an adjacency list rather than a table.
#[derive(Debug, PartialEq)]
pub(super) enum Adjacency {
    /// It has something other than integers separated by spaces.
    No,
    /// It could also be a table.
    Perhaps,
    /// Its rows differ in length.
    Yes,
}

/// Checks whether a text could be an adjacency list, `user item item …` on each line.
pub(super) fn adjacency(text: &Text) -> Adjacency {
    let integer = |field: &str| {
        let digits = field.strip_prefix('-').unwrap_or(field);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let lines: Vec<&str> = text.text.lines().filter(|l| !l.trim_ascii().is_empty()).take(SAMPLE).collect();
    let plain = |line: &&str| !line.contains('\t') && line.split_ascii_whitespace().all(integer);
    if !lines.iter().all(plain) {
        return Adjacency::No;
    }
    let widths: Vec<usize> = lines.iter().map(|line| line.split_ascii_whitespace().count()).collect();
    match widths.as_slice() {
        [width] if *width > 2 => Adjacency::Perhaps,
        [first, rest @ ..] if rest.iter().any(|width| width != first) => Adjacency::Yes,
        // A table without a header has at most a user, an item, a rating and a time.
        [first, ..] if *first > 4 => Adjacency::Perhaps,
        _ => Adjacency::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text::plain("t", text)
    }

    #[test]
    fn the_delimiter_is_detected() {
        for (sample, expected) in [
            ("a,b\n1,2\n", Some(Delimiter::Char(','))),
            ("1\t2\n3\t4\n", Some(Delimiter::Char('\t'))),
            ("1;2;3,5\n3;4;4,5\n", Some(Delimiter::Char(';'))),
            ("1|2\n", Some(Delimiter::Char('|'))),
            ("1 2 3\n3  4 5\n", Some(Delimiter::Whitespace)),
            ("1,2024-05-01 12:30\n2,2024-05-01 12:31\n", Some(Delimiter::Char(','))),
            ("1\tone, two, three\n2\tfour\n", Some(Delimiter::Char('\t'))),
            ("\"a,b\";c\n\"d,e\";f\n", Some(Delimiter::Char(';'))),
            ("one\ntwo\n", None),
        ] {
            assert_eq!(delimiter(&text(sample)), expected, "{sample}");
        }
    }

    #[test]
    fn a_header_is_distinguished_from_ids() {
        assert!(header(&["user", "thing"], &["alice", "tea"]));
        assert!(header(&["who", "what", "much"], &["alice", "tea", "4.5"]));
        assert!(!header(&["alice", "tea"], &["bob", "milk"]));
        assert!(!header(&["alice", "tea", "3"], &["bob", "milk", "4"]));
        assert!(!header(&["1", "2"], &["3", "4"]));
        assert!(!header(&["user", "7"], &["guest", "8"]));
        assert!(header(&["user", "item", "0"], &["1", "2", "3"]));
    }

    #[test]
    fn an_adjacency_list_has_rows_of_any_length() {
        for (sample, expected) in [
            ("0 1 2\n1 5\n2\n", Adjacency::Yes),
            ("0 -1 2\n1 5\n", Adjacency::Yes),
            ("0 1\n1 5\n", Adjacency::No),
            ("0 1 5\n1 5 3\n", Adjacency::No),
            ("0 1 2 3 4\n1 5 6 7 8\n", Adjacency::Perhaps),
            ("0 1 2\n", Adjacency::Perhaps),
            ("user item\n0 1 2\n", Adjacency::No),
            ("0,1\n1,2,3\n", Adjacency::No),
        ] {
            assert_eq!(adjacency(&text(sample)), expected, "{sample}");
        }
    }
}
