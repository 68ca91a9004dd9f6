//! Finds the columns of users, items, ratings and timestamps.

use super::ReadOptions;
use crate::{InputError, did_you_mean};

/// Common column names, most likely first, as [`normalise`] writes them.
#[rustfmt::skip]
const USER: &[&str] = &[
    "user", "userid", "uid", "userprocid", "userorgid", "reviewerid", "visitorid", "customerid", "memberid",
    "playerid", "accountid", "username", "sessionid",
];
#[rustfmt::skip]
const ITEM: &[&str] = &[
    "item", "itemid", "iid", "itemprocid", "itemorgid", "movieid", "movie", "parentasin", "asin", "productid",
    "product", "businessid", "bookid", "isbn", "songid", "trackid", "artistid", "animeid", "gameid", "appid",
    "newsid", "articleid", "videoid", "recipeid", "locationid", "venueid", "poiid",
];
const RATING: &[&str] = &["rating", "ratings", "score", "stars", "star", "overall", "weight", "preference"];
const TIME: &[&str] = &[
    "timestamp",
    "time",
    "ts",
    "unixreviewtime",
    "unixtime",
    "unixtimestamp",
    "datetime",
    "createdat",
    "date",
];

/// One column: its index from 0 and its name in error messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub index: usize,
    pub name: String,
}

/// The columns to read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    pub user: Column,
    pub item: Column,
    pub rating: Option<Column>,
    pub time: Option<Column>,
}

impl Columns {
    /// The requested columns, otherwise those with common names. Without a header, the order is user, item, rating,
    /// time.
    pub fn find(names: Option<&[&str]>, width: usize, options: &ReadOptions) -> Result<Self, InputError> {
        let find = |role, common, requested: &Option<String>, position| {
            let requested = requested.as_deref();
            Role { role, common, requested, position }.find(names, width)
        };
        let mandatory = |role, found: Option<Column>| {
            found.ok_or_else(|| missing(format!("no {role} column found"), role, role, names.unwrap_or(&[])))
        };
        // An empty name ignores a column, for example one that can't be parsed.
        let optional = |requested: &Option<String>, find: &dyn Fn() -> Result<Option<Column>, InputError>| {
            if requested.as_deref() == Some("") { Ok(None) } else { find() }
        };
        let mut columns = Self {
            user: mandatory("user", find("user", USER, &options.user, 0)?)?,
            item: mandatory("item", find("item", ITEM, &options.item, 1)?)?,
            rating: optional(&options.rating, &|| find("rating", RATING, &options.rating, 2))?,
            time: optional(&options.time, &|| find("time", TIME, &options.time, 3))?,
        };
        // Without a header, a column requested for users or items is not guessed to hold anything else.
        if names.is_none() {
            let taken = [columns.user.index, columns.item.index];
            columns.rating = columns.rating.filter(|c| options.rating.is_some() || !taken.contains(&c.index));
            columns.time = columns.time.filter(|c| options.time.is_some() || !taken.contains(&c.index));
        }
        if columns.user.index == columns.item.index {
            let message = format!("the user and the item are the same column, '{}'", columns.user.name);
            return Err(
                InputError::new(message).help("name different columns with the options `user` and `item`")
            );
        }
        Ok(columns)
    }
}

/// Whether a row contains a common name of a user column.
pub(super) fn names_user(row: &[&str]) -> bool {
    row.iter().any(|name| USER.contains(&normalise(name).as_str()))
}

/// Whether a row contains a common name of an item column.
pub(super) fn names_item(row: &[&str]) -> bool {
    row.iter().any(|name| ITEM.contains(&normalise(name).as_str()))
}

struct Role<'a> {
    role: &'static str,
    /// Common names.
    common: &'static [&'static str],
    requested: Option<&'a str>,
    /// The index in tables without a header.
    position: usize,
}

impl Role<'_> {
    fn find(&self, names: Option<&[&str]>, width: usize) -> Result<Option<Column>, InputError> {
        let column = |index: usize| Column {
            index,
            name: names
                .map_or_else(|| format!("column {} ({})", index + 1, self.role), |n| n[index].to_owned()),
        };
        let header = names.unwrap_or(&[]);
        let Some(requested) = self.requested else {
            let index = match names {
                Some(_) => self
                    .common
                    .iter()
                    .find_map(|common| header.iter().position(|name| normalise(name) == *common)),
                None => (self.position < width).then_some(self.position),
            };
            return Ok(index.map(column));
        };
        let named = header.iter().position(|name| *name == requested);
        let named = named.or_else(|| header.iter().position(|name| name.eq_ignore_ascii_case(requested)));
        let numbered = || requested.parse().ok().filter(|n| (1..=width).contains(n)).map(|n: usize| n - 1);
        match named.or_else(numbered) {
            Some(index) => Ok(Some(column(index))),
            None if names.is_none() => {
                let message = format!("no column '{requested}': there are {width} columns and no header");
                let help = format!("give the column's number, 1 to {width}");
                Err(InputError::new(message).field(self.role).help(help))
            }
            None => Err(missing(format!("no column '{requested}'"), self.role, requested, header)),
        }
    }
}

fn missing(message: String, role: &str, wanted: &str, header: &[&str]) -> InputError {
    let hint = did_you_mean(wanted, header.iter().copied());
    let hint = hint.map_or_else(String::new, |name| format!("did you mean '{name}'? "));
    let help = format!("{hint}Columns: {}; choose one with the option `{role}`", header.join(", "));
    InputError::new(message).field(role).help(help)
}

/// Lower case without spaces and punctuation: `user_id`, `userId` and `User-ID` are the same.
fn normalise(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(header: &[&str], options: &ReadOptions) -> Result<[Option<usize>; 4], String> {
        let columns = Columns::find(Some(header), header.len(), options).map_err(|e| e.to_string())?;
        let Columns { user, item, rating, time } = columns;
        Ok([Some(user.index), Some(item.index), rating.map(|c| c.index), time.map(|c| c.index)])
    }

    #[test]
    fn common_names_are_found_in_any_spelling_and_order() {
        let defaults = ReadOptions::default();
        for (header, expected) in [
            (&["userId", "movieId", "rating", "timestamp"][..], [Some(0), Some(1), Some(2), Some(3)]),
            (&["asin", "overall", "reviewerID", "unixReviewTime"], [Some(2), Some(0), Some(1), Some(3)]),
            (&["timestamp", "visitorid", "event", "itemid"], [Some(1), Some(3), None, Some(0)]),
            (&["user_procid", "item_procid"], [Some(0), Some(1), None, None]),
        ] {
            assert_eq!(indices(header, &defaults), Ok(expected), "{header:?}");
        }
    }

    #[test]
    fn columns_are_requested_by_name_or_number() {
        let request = |user: &str, item: &str, rating: &str| ReadOptions {
            user: Some(user.into()),
            item: Some(item.into()),
            rating: Some(rating.into()),
            ..ReadOptions::default()
        };
        let header = ["what", "who", "rating", "2"];
        assert_eq!(indices(&header, &request("who", "1", "")), Ok([Some(1), Some(0), None, None]));
        assert_eq!(indices(&header, &request("WHO", "2", "3")), Ok([Some(1), Some(3), Some(2), None]));
        assert!(indices(&header, &request("who", "2nd", "3")).unwrap_err().contains("no column '2nd'"));
        assert!(indices(&header, &request("who", "9", "3")).unwrap_err().contains("no column '9'"));
        assert!(indices(&header, &request("who", "who", "3")).unwrap_err().contains("same column"));
    }

    #[test]
    fn without_a_header_free_positions_are_guessed() {
        let found = |user: Option<&str>, item: Option<&str>, rating: Option<&str>| {
            let [user, item, rating] = [user, item, rating].map(|name| name.map(str::to_owned));
            let options = ReadOptions { user, item, rating, ..ReadOptions::default() };
            let Columns { user, item, rating, time } = Columns::find(None, 4, &options).unwrap();
            [Some(user.index), Some(item.index), rating.map(|c| c.index), time.map(|c| c.index)]
        };
        assert_eq!(found(None, None, None), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(found(Some("1"), Some("2"), Some("4")), [Some(0), Some(1), Some(3), Some(3)]);
        assert_eq!(found(Some("2"), Some("3"), None), [Some(1), Some(2), None, Some(3)]);
        assert_eq!(found(Some("3"), Some("4"), Some("1")), [Some(2), Some(3), Some(0), None]);
    }

    #[test]
    fn the_error_for_a_missing_column_lists_the_columns() {
        let error = indices(&["usr", "item"], &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error,
            "user: no user column found\n  help: did you mean 'usr'? Columns: usr, item; choose one with the option \
             `user`"
        );
    }
}
