//! Splits text into rows and fields, keeping track of the line number.

use std::borrow::Cow;
use std::fmt;

use super::source::Text;
use crate::InputError;

/// The separator between two fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Delimiter {
    Char(char),
    /// `::`, as in MovieLens 1M.
    DoubleColon,
    /// Any run of spaces and tabs.
    Whitespace,
}

impl From<char> for Delimiter {
    fn from(delimiter: char) -> Self {
        if delimiter == ' ' { Self::Whitespace } else { Self::Char(delimiter) }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char('\t') => f.write_str("tab"),
            Self::Char(delimiter) => write!(f, "'{delimiter}'"),
            Self::DoubleColon => f.write_str("'::'"),
            Self::Whitespace => f.write_str("space"),
        }
    }
}

/// The non-empty rows of a text.
#[derive(Clone)]
pub(super) struct Rows<'t> {
    source: &'t Text,
    rest: &'t str,
    line: u64,
    delimiter: Delimiter,
    quotes: bool,
}

impl<'t> Rows<'t> {
    /// With `quotes`, a field in double quotes may contain delimiters and line breaks, and `""` stands for one quote.
    pub fn new(source: &'t Text, delimiter: Delimiter, quotes: bool) -> Self {
        Self { source, rest: &source.text, line: source.comments as u64, delimiter, quotes }
    }

    /// The rows of what is left of a text after `line` lines; see [`Rows::new`] for `quotes`.
    pub fn at(source: &'t Text, rest: &'t str, line: u64, (delimiter, quotes): (Delimiter, bool)) -> Self {
        Self { source, rest, line, delimiter, quotes }
    }

    /// How many bytes are left, and how many lines have been read.
    pub fn left(&self) -> (usize, u64) {
        (self.rest.len(), self.line)
    }

    /// Puts the trimmed fields of the next row into `fields` and returns its line number, from 1.
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
            // A pattern of a one-element array is faster here than a `char`, whose search is tuned for longer fields.
            Delimiter::Char(delimiter) => {
                fields.extend(line.split([delimiter]).map(|f| Cow::Borrowed(f.trim_ascii())));
            }
            Delimiter::DoubleColon => fields.extend(line.split("::").map(|f| Cow::Borrowed(f.trim_ascii()))),
            Delimiter::Whitespace => fields.extend(line.split_ascii_whitespace().map(Cow::Borrowed)),
        }
    }

    /// A row whose first line contains a quote; it may continue on the next lines.
    fn quoted_row(&mut self, fields: &mut Vec<Cow<'t, str>>) -> Result<(), InputError> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\r']);
            if self.delimiter == Delimiter::Whitespace {
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
            let mut remaining = after.chars();
            let separator = remaining.next();
            self.rest = remaining.as_str();
            if separator.is_none_or(|c| c == '\n') {
                return Ok(());
            }
        }
    }

    fn is_delimiter(&self, c: char) -> bool {
        match self.delimiter {
            Delimiter::Char(delimiter) => c == delimiter,
            Delimiter::DoubleColon => false, // such files have no quotes
            Delimiter::Whitespace => c == ' ' || c == '\t',
        }
    }

    /// The text up to the closing quote; continues after it.
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
        Err(InputError::new("unclosed quote")
            .file(&self.source.name)
            .line(self.line)
            .help("close the quote, or double it (\"\") if it is part of the text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, delimiter: Delimiter) -> Result<Vec<(u64, Vec<String>)>, InputError> {
        let text = Text::plain("t.csv", text);
        let (mut rows, mut fields, mut all) = (Rows::new(&text, delimiter, true), Vec::new(), Vec::new());
        while let Some(line) = rows.next_into(&mut fields)? {
            all.push((line, fields.iter().map(|f| f.to_string()).collect()));
        }
        Ok(all)
    }

    #[test]
    fn lines_are_counted_through_empty_lines_carriage_returns_and_a_missing_final_newline() {
        let found = rows("a, b\r\n\n  \r\n\r\nc,\"d\"\r\n,e", ','.into()).unwrap();
        let expected = [(1, vec!["a", "b"]), (5, vec!["c", "d"]), (6, vec!["", "e"])];
        assert_eq!(
            found,
            expected.map(|(n, row)| (n, row.into_iter().map(String::from).collect::<Vec<_>>()))
        );
    }

    #[test]
    fn quoted_fields_may_contain_delimiters_line_breaks_and_quotes() {
        let found = rows("1,\"a, \"\"b\"\"\nc\" ,2\n\"3\",\"\",\" x \"\n4,5,\n", ','.into()).unwrap();
        let fields: Vec<_> = found.iter().map(|(n, row)| (*n, row.join("|"))).collect();
        assert_eq!(fields, [(1, "1|a, \"b\"\nc|2".into()), (3, "3||x".into()), (4, "4|5|".into())]);
    }

    #[test]
    fn a_run_of_whitespace_is_one_delimiter() {
        let found = rows(" 1   2\t3 \n\"4 4\"\t\t5 \t\n", ' '.into()).unwrap();
        assert_eq!(found.iter().map(|(_, row)| row.join("|")).collect::<Vec<_>>(), ["1|2|3", "4 4|5"]);
    }

    #[test]
    fn an_unclosed_quote_is_reported_with_the_line_it_opens_on() {
        let error = rows("1,2\n3,\"4\n5,6\n", ','.into()).unwrap_err().to_string();
        assert!(error.starts_with("t.csv:2: unclosed quote"), "{error}");
    }
}
