//! Cuts a text into rows and fields, and knows at each moment which line it is in.

use std::borrow::Cow;
use std::fmt;

use super::source::Text;
use crate::InputError;

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delimiter {
    Mark(char),
    /// `::`, as in MovieLens 1M.
    DoubleColon,
    /// Any number of blanks or tabs.
    Blanks,
}

impl From<char> for Delimiter {
    fn from(mark: char) -> Self {
        if mark == ' ' { Self::Blanks } else { Self::Mark(mark) }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mark('\t') => f.write_str("tab"),
            Self::Mark(mark) => write!(f, "'{mark}'"),
            Self::DoubleColon => f.write_str("'::'"),
            Self::Blanks => f.write_str("blank"),
        }
    }
}

/// The rows of a text that are not empty.
#[derive(Clone)]
pub(super) struct Rows<'t> {
    source: &'t Text,
    rest: &'t str,
    line: u64,
    delimiter: Delimiter,
    quotes: bool,
}

impl<'t> Rows<'t> {
    /// With `quotes`, a field in double quotes may hold delimiters and line ends, and `""` is one quote in it.
    pub fn new(source: &'t Text, delimiter: Delimiter, quotes: bool) -> Self {
        Self { source, rest: &source.text, line: 0, delimiter, quotes }
    }

    /// Puts the next row's fields, without blanks around them, into `fields` and returns its line, from 1.
    pub fn next_into(&mut self, fields: &mut Vec<Cow<'t, str>>) -> Result<Option<u64>, InputError> {
        fields.clear();
        while !self.rest.is_empty() {
            self.line += 1;
            let (line, after) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            if self.quotes && line.contains('"') {
                let first = self.line;
                self.quoted_row(fields)?;
                return Ok(Some(first));
            }
            self.rest = after;
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.bytes().any(|b| b != b' ') {
                self.plain_row(line, fields);
                return Ok(Some(self.line));
            }
        }
        Ok(None)
    }

    fn plain_row(&self, line: &'t str, fields: &mut Vec<Cow<'t, str>>) {
        match self.delimiter {
            // By a list of one, not by the character: fields are too short for the faster search to pay off.
            Delimiter::Mark(mark) => {
                fields.extend(line.split([mark]).map(|f| Cow::Borrowed(f.trim_ascii())));
            }
            Delimiter::DoubleColon => fields.extend(line.split("::").map(|f| Cow::Borrowed(f.trim_ascii()))),
            Delimiter::Blanks => fields.extend(line.split_ascii_whitespace().map(Cow::Borrowed)),
        }
    }

    /// A row with a quote in its first line; it may go on over the next lines.
    fn quoted_row(&mut self, fields: &mut Vec<Cow<'t, str>>) -> Result<(), InputError> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\r']);
            if self.delimiter == Delimiter::Blanks {
                self.rest = self.rest.trim_start_matches([' ', '\r', '\t']);
                if self.rest.is_empty() || self.rest.starts_with('\n') {
                    self.rest = self.rest.get(1..).unwrap_or("");
                    return Ok(());
                }
            }
            let field = match self.rest.strip_prefix('"') {
                Some(inside) => self.quoted_field(inside)?,
                None => Cow::Borrowed(""),
            };
            let end = self.rest.find(|c| c == '\n' || self.is_delimiter(c)).unwrap_or(self.rest.len());
            let (plain, after) = self.rest.split_at(end);
            let plain = plain.trim_ascii();
            fields.push(match (field.is_empty(), plain.is_empty()) {
                (true, _) => Cow::Borrowed(plain),
                (false, true) => field,
                (false, false) => Cow::Owned(field.into_owned() + plain),
            });
            let mut left = after.chars();
            let mark = left.next();
            self.rest = left.as_str();
            if mark.is_none_or(|c| c == '\n') {
                return Ok(());
            }
        }
    }

    fn is_delimiter(&self, c: char) -> bool {
        match self.delimiter {
            Delimiter::Mark(mark) => c == mark,
            Delimiter::DoubleColon => false, // such files have no quotes
            Delimiter::Blanks => c == ' ' || c == '\t',
        }
    }

    /// What stands between the quote just read and the closing one; goes on behind that.
    fn quoted_field(&mut self, inside: &'t str) -> Result<Cow<'t, str>, InputError> {
        let mut from = 0;
        while let Some(at) = inside[from..].find('"').map(|at| from + at) {
            if inside[at + 1..].starts_with('"') {
                from = at + 2;
                continue;
            }
            self.rest = &inside[at + 1..];
            let field = &inside[..at];
            self.line += field.matches('\n').count() as u64;
            let field = field.trim_ascii();
            return Ok(if from == 0 { field.into() } else { field.replace("\"\"", "\"").into() });
        }
        Err(InputError::new("a quote is opened here and never closed")
            .file(&self.source.name)
            .line(self.line)
            .help("close the quote, or double it (\"\") if it belongs to the text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, delimiter: Delimiter) -> Result<Vec<(u64, Vec<String>)>, InputError> {
        let text = Text { name: "t.csv".into(), text: text.to_owned() };
        let (mut rows, mut fields, mut all) = (Rows::new(&text, delimiter, true), Vec::new(), Vec::new());
        while let Some(line) = rows.next_into(&mut fields)? {
            all.push((line, fields.iter().map(|f| f.to_string()).collect()));
        }
        Ok(all)
    }

    #[test]
    fn lines_are_counted_through_blank_ones_carriage_returns_and_a_missing_end() {
        let found = rows("a, b\r\n\n  \r\n\r\nc,\"d\"\r\n,e", ','.into()).unwrap();
        let expected = [(1, vec!["a", "b"]), (5, vec!["c", "d"]), (6, vec!["", "e"])];
        assert_eq!(
            found,
            expected.map(|(n, row)| (n, row.into_iter().map(String::from).collect::<Vec<_>>()))
        );
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_quotes() {
        let found = rows("1,\"a, \"\"b\"\"\nc\" ,2\n\"3\",\"\",\" x \"\n4,5,\n", ','.into()).unwrap();
        let fields: Vec<_> = found.iter().map(|(n, row)| (*n, row.join("|"))).collect();
        assert_eq!(fields, [(1, "1|a, \"b\"\nc|2".into()), (3, "3||x".into()), (4, "4|5|".into())]);
    }

    #[test]
    fn blanks_are_one_delimiter_however_many() {
        let found = rows(" 1   2\t3 \n\"4 4\"\t\t5 \t\n", ' '.into()).unwrap();
        assert_eq!(found.iter().map(|(_, row)| row.join("|")).collect::<Vec<_>>(), ["1|2|3", "4 4|5"]);
    }

    #[test]
    fn an_open_quote_is_named_by_the_line_it_opens_in() {
        let error = rows("1,2\n3,\"4\n5,6\n", ','.into()).unwrap_err().to_string();
        assert!(error.starts_with("t.csv:2: a quote is opened here"), "{error}");
    }
}
