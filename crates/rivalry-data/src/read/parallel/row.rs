//! Rows in the ordinary form: unquoted fields, separated by one byte, numbers in their usual form.

use super::ids::{Kind, Kinds};
use crate::read::rows::Delimiter;
use crate::read::table::Layout;

/// An id as it stands in a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Field {
    Number(u32),
    /// Where its text begins and ends.
    Text(usize, usize),
}

/// The fields of a row.
pub(super) struct Fields {
    pub user: Field,
    pub item: Field,
    pub rating: f32,
    pub time: i64,
    /// Where the row ends, its line break included.
    pub end: usize,
}

/// What a column holds.
#[derive(Clone, Copy)]
enum Role {
    /// An id that is a number.
    UserNumber,
    /// An id that is text.
    UserText,
    ItemNumber,
    ItemText,
    Rating,
    Time,
    Other,
}

/// Parses rows in the ordinary form.
pub(super) struct PlainRow {
    roles: Vec<Role>,
    delimiter: u8,
    /// The bytes that end a field, or that it can't contain.
    ends: [bool; 256],
}

impl PlainRow {
    /// `None` if rows of this layout have another form.
    pub fn new(layout: &Layout, (users, items): &Kinds) -> Option<Self> {
        let Delimiter::Char(delimiter) = layout.delimiter else { return None };
        let delimiter = u8::try_from(delimiter).ok().filter(|byte| b"\t,;|:/^~&".contains(byte))?;
        let mut roles = vec![Role::Other; layout.width];
        let columns = &layout.columns;
        let role = |kind: &Kind, number, text| if let Kind::Numbers = kind { number } else { text };
        *roles.get_mut(columns.user.index)? = role(users, Role::UserNumber, Role::UserText);
        *roles.get_mut(columns.item.index)? = role(items, Role::ItemNumber, Role::ItemText);
        for (column, role) in [(&columns.rating, Role::Rating), (&columns.time, Role::Time)] {
            if let Some(column) = column {
                *roles.get_mut(column.index)? = role;
            }
        }
        let mut ends = [false; 256];
        [delimiter, b'\n', b'\r', b'"'].into_iter().for_each(|byte| ends[usize::from(byte)] = true);
        Some(Self { roles, delimiter, ends })
    }

    /// The row that begins at `start`; `None` if it is not in the ordinary form.
    pub fn parse(&self, bytes: &[u8], start: usize) -> Option<Fields> {
        if bytes[start] == b'#' {
            return None;
        }
        let unknown = Field::Number(0);
        let mut row = Fields { user: unknown, item: unknown, rating: f32::NAN, time: 0, end: start };
        let at = &mut row.end;
        for (n, role) in self.roles.iter().enumerate() {
            match role {
                Role::UserNumber => row.user = Field::Number(number(bytes, at)?),
                Role::ItemNumber => row.item = Field::Number(number(bytes, at)?),
                Role::UserText => row.user = self.text(bytes, at)?,
                Role::ItemText => row.item = self.text(bytes, at)?,
                Role::Rating => row.rating = rating(bytes, at)?,
                Role::Time => row.time = time(bytes, at)?,
                Role::Other => {
                    self.field(bytes, at)?;
                }
            }
            let mut end = *bytes.get(*at)?;
            *at += 1;
            if n + 1 < self.roles.len() {
                (end == self.delimiter).then_some(())?;
                continue;
            }
            if end == b'\r' {
                end = *bytes.get(*at)?;
                *at += 1;
            }
            (end == b'\n').then_some(())?;
        }
        Some(row)
    }

    fn text(&self, bytes: &[u8], at: &mut usize) -> Option<Field> {
        let start = *at;
        let end = self.field(bytes, at)?;
        let (first, last) = (bytes[start..end].first()?, bytes[start..end].last()?);
        let trimmed = !first.is_ascii_whitespace() && !last.is_ascii_whitespace();
        trimmed.then_some(Field::Text(start, end))
    }

    /// Goes to the end of a field, and returns it.
    fn field(&self, bytes: &[u8], at: &mut usize) -> Option<usize> {
        let length = bytes[*at..].iter().position(|&byte| self.ends[usize::from(byte)])?;
        *at += length;
        Some(*at)
    }
}

/// Digits, at most `most`, and their number.
fn digits(bytes: &[u8], at: &mut usize, most: usize) -> Option<(u64, usize)> {
    let (start, mut number) = (*at, 0u64);
    while let Some(digit) = bytes.get(*at).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(digit.into());
        *at += 1;
    }
    let length = *at - start;
    (length > 0 && length <= most).then_some((number, length))
}

/// The number whose usual form is a field: no other text means the same number.
fn number(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let start = *at;
    let (number, length) = digits(bytes, at, 10)?;
    u32::try_from(number).ok().filter(|_| bytes[start] != b'0' || length == 1)
}

/// The number whose usual form is a text.
pub(super) fn number_of(text: &str) -> Option<u32> {
    let mut at = 0;
    number(text.as_bytes(), &mut at).filter(|_| at == text.len())
}

/// A rating with a few digits. Digits below 2²⁴ and powers of ten up to 10¹⁰ are exact in f32, so their quotient is the
/// nearest number to the decimal, which is what parsing it as a whole gives.
fn rating(bytes: &[u8], at: &mut usize) -> Option<f32> {
    const POWERS: [f32; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
    let (whole, length) = digits(bytes, at, 7)?;
    if bytes.get(*at) != Some(&b'.') {
        return Some(whole as f32);
    }
    *at += 1;
    let (fraction, places) = digits(bytes, at, 7 - length)?;
    Some((whole * 10u64.pow(places as u32) + fraction) as f32 / POWERS[places])
}

/// A whole number of seconds.
fn time(bytes: &[u8], at: &mut usize) -> Option<i64> {
    digits(bytes, at, 18).map(|(seconds, _)| seconds as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_in_their_usual_form_only() {
        for (text, number) in [("0", Some(0)), ("10", Some(10)), ("4294967295", Some(u32::MAX))] {
            assert_eq!(number_of(text), number, "{text}");
        }
        for text in
            ["", "00", "01", "4294967296", "99999999999999999999999", "+1", "-1", "1 ", "1.0", "x", "١"]
        {
            assert_eq!(number_of(text), None, "{text}");
        }
    }

    #[test]
    fn ratings_have_the_bits_that_parsing_gives() {
        for whole in 0..10_000u32 {
            for text in [
                format!("{whole}"),
                format!("{whole}.{:03}", whole % 1000),
                format!("0.{whole:06}"),
                format!("{}.{whole:04}", whole % 1000),
            ] {
                let parsed = rating(text.as_bytes(), &mut 0).unwrap();
                assert_eq!(parsed.to_bits(), text.parse::<f32>().unwrap().to_bits(), "{text}");
            }
        }
    }
}
