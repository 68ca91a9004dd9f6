//! Finds out from a text's first rows what stands between its fields and whether it has a header.

use super::columns::Columns;
use super::rows::{Delimiter, Rows};
use super::source::Text;
use super::time::parse_time;

const SAMPLE: usize = 200;
const MARKS: [char; 4] = ['\t', ',', ';', '|'];

/// The mark that cuts most rows into as many fields as the first, or blanks if no mark cuts the first row.
pub(super) fn delimiter(text: &Text) -> Option<Delimiter> {
    let (agreeing, mark) = MARKS
        .into_iter()
        .rev() // of equals, the last wins
        .map(|mark| (agreement(&widths(text, mark.into())), mark))
        .max()?;
    if agreeing > (0, 0) {
        return Some(mark.into());
    }
    (agreement(&widths(text, Delimiter::Blanks)) > (0, 0)).then_some(Delimiter::Blanks)
}

/// How many rows have as many fields as the first, and how many that is; nothing if it is but one.
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

/// Whether the first row names the columns: by usual names for the user and the item, or by being all words
/// with one usual name or with numbers below.
pub(super) fn header(first: &[&str], second: &[&str]) -> bool {
    let number = |field: &&str| parse_time(field).is_some();
    match Columns::usual(first) {
        [true, true] => true,
        _ if first.iter().any(number) => false,
        [user, item] => user || item || second.iter().any(number),
    }
}

/// What the rows of an adjacency list have in common, and tables have not.
#[derive(Debug, PartialEq)]
pub(super) enum Adjacency {
    /// Something other than whole numbers between blanks.
    No,
    /// It could be a table as well.
    Perhaps,
    /// No two rows need be of one length.
    Yes,
}

/// Looks whether a text could be an adjacency list, `user item item …` in each line.
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
        // Tables of bare numbers have a user, an item, a rating and a time; more columns than these have names.
        [first, ..] if *first > 4 => Adjacency::Perhaps,
        _ => Adjacency::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Text {
        Text { name: "t".into(), text: text.to_owned() }
    }

    #[test]
    fn the_delimiter_is_found() {
        for (sample, expected) in [
            ("a,b\n1,2\n", Some(Delimiter::Mark(','))),
            ("1\t2\n3\t4\n", Some(Delimiter::Mark('\t'))),
            ("1;2;3,5\n3;4;4,5\n", Some(Delimiter::Mark(';'))),
            ("1|2\n", Some(Delimiter::Mark('|'))),
            ("1 2 3\n3  4 5\n", Some(Delimiter::Blanks)),
            ("1,2024-05-01 12:30\n2,2024-05-01 12:31\n", Some(Delimiter::Mark(','))),
            ("1\tone, two, three\n2\tfour\n", Some(Delimiter::Mark('\t'))),
            ("\"a,b\";c\n\"d,e\";f\n", Some(Delimiter::Mark(';'))),
            ("one\ntwo\n", None),
        ] {
            assert_eq!(delimiter(&text(sample)), expected, "{sample}");
        }
    }

    #[test]
    fn a_header_is_told_from_ids() {
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
