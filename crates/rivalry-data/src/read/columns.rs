//! Finds the columns of users, items, ratings and timestamps.

use super::ReadOptions;
use crate::{InputError, did_you_mean};

/// Common column names, most likely first, as [`normalise`] writes them.
#[rustfmt::skip]
const USER: &[&str] = &[
    "user", "userid", "uid", "userprocid", "userorgid", "reviewerid", "visitorid", "customerid", "memberid",
    "playerid", "accountid", "username", "sessionid", "users",
];
#[rustfmt::skip]
const ITEM: &[&str] = &[
    "item", "itemid", "iid", "itemprocid", "itemorgid", "movieid", "movie", "parentasin", "asin", "productid",
    "product", "businessid", "bookid", "isbn", "songid", "trackid", "artistid", "animeid", "gameid", "appid",
    "newsid", "articleid", "videoid", "recipeid", "locationid", "venueid", "poiid", "items", "sku",
];
#[rustfmt::skip]
const RATING: &[&str] =
    &["rating", "ratings", "score", "stars", "star", "overall", "weight", "preference", "value"];
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
    "when",
    "at",
];

/// The names by which the columns of users, items, ratings and times are recognised, most likely first: in lower case,
/// letters and digits alone.
pub const COLUMN_NAMES: [(&str, &[&str]); 4] =
    [("user", USER), ("item", ITEM), ("rating", RATING), ("time", TIME)];

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
    /// The names of the others, where there is a header.
    pub unused: Vec<String>,
}

impl Columns {
    /// The requested columns, otherwise those with common names. Without a header, the order is user, item, rating,
    /// time. A column that is requested for one role is not taken for another.
    pub fn find(names: Option<&[&str]>, width: usize, options: &ReadOptions) -> Result<Self, InputError> {
        let role = |role, common, requested: &'_ Option<String>, position| {
            // An empty name ignores a column, for example one that can't be parsed.
            let (requested, ignored) = match requested.as_deref() {
                Some("") => (None, true),
                requested => (requested.map(str::to_owned), false),
            };
            Role { role, common, requested, ignored, position }
        };
        let roles = [
            role("user", USER, &options.user, 0),
            role("item", ITEM, &options.item, 1),
            role("rating", RATING, &options.rating, 2),
            role("time", TIME, &options.time, 3),
        ];
        let mut found = [None, None, None, None];
        for (role, place) in roles.iter().zip(&mut found) {
            *place = role.requested(names, width)?;
        }
        for (n, first) in found.iter().enumerate() {
            let same = |second: &Option<usize>| first.is_some() && second == first;
            if let Some(second) = found[n + 1..].iter().position(same) {
                return Err(same_column(&roles[n], &roles[n + 1 + second]));
            }
        }
        for n in 0..roles.len() {
            if found[n].is_none() {
                found[n] = roles[n].common(names, width, &found);
            }
        }
        let header = names.unwrap_or(&[]);
        if let ([None, None, ..], Some(_)) = (&found, names) {
            return Err(neither(header));
        }
        let column = |n: usize| found[n].map(|index: usize| roles[n].column(names, index));
        let mandatory = |n: usize| {
            let role = roles[n].role;
            column(n).ok_or_else(|| missing(format!("no {role} column found"), role, role, header))
        };
        let is_unused = |(index, _): &(usize, &&str)| !found.contains(&Some(*index));
        let unused =
            header.iter().enumerate().filter(is_unused).map(|(_, name)| (*name).to_owned()).collect();
        Ok(Self { user: mandatory(0)?, item: mandatory(1)?, rating: column(2), time: column(3), unused })
    }

    /// The columns with their roles.
    pub fn roles(&self) -> impl Iterator<Item = (&'static str, &Column)> {
        let optional = [("rating", self.rating.as_ref()), ("time", self.time.as_ref())];
        let optional = optional.into_iter().filter_map(|(role, column)| Some((role, column?)));
        [("user", &self.user), ("item", &self.item)].into_iter().chain(optional)
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

struct Role {
    role: &'static str,
    /// Common names.
    common: &'static [&'static str],
    requested: Option<String>,
    /// There is to be no such column.
    ignored: bool,
    /// The index in tables without a header.
    position: usize,
}

impl Role {
    fn column(&self, names: Option<&[&str]>, index: usize) -> Column {
        let number = || format!("column {} ({})", index + 1, self.role);
        Column { index, name: names.map_or_else(number, |names| names[index].to_owned()) }
    }

    /// The index of the requested column, if one is requested.
    fn requested(&self, names: Option<&[&str]>, width: usize) -> Result<Option<usize>, InputError> {
        let Some(requested) = &self.requested else { return Ok(None) };
        let header = names.unwrap_or(&[]);
        let named = header.iter().position(|name| name == requested);
        let named = named.or_else(|| header.iter().position(|name| name.eq_ignore_ascii_case(requested)));
        let numbered = || requested.parse().ok().filter(|n| (1..=width).contains(n)).map(|n: usize| n - 1);
        match named.or_else(numbered) {
            Some(index) => Ok(Some(index)),
            None if names.is_none() => {
                let message = format!("no column '{requested}': there are {width} columns and no header");
                let help = format!("give the column's number, 1 to {width}");
                Err(InputError::new(message).field(key(self.role)).help(help))
            }
            None => Err(missing(format!("no column '{requested}'"), self.role, requested, header)),
        }
    }

    /// The index of a column with a common name, or at the usual position, that is not taken.
    fn common(&self, names: Option<&[&str]>, width: usize, taken: &[Option<usize>]) -> Option<usize> {
        let is_free = |index: &usize| !taken.contains(&Some(*index)) && !self.ignored;
        match names {
            Some(header) => self.common.iter().find_map(|common| {
                (0..header.len()).filter(is_free).find(|&index| normalise(header[index]) == *common)
            }),
            None => Some(self.position).filter(|&position| position < width).filter(is_free),
        }
    }
}

/// The config key of the column of a role.
fn key(role: &str) -> String {
    format!("data.read.{role}")
}

fn same_column(first: &Role, second: &Role) -> InputError {
    let column = first.requested.as_deref().unwrap_or_default();
    let message = format!("'{column}' is given both as the {} and as the {} column", first.role, second.role);
    let help = format!("name different columns with `{}` and `{}`", key(first.role), key(second.role));
    InputError::new(message).field(key(second.role)).help(help)
}

fn missing(message: String, role: &str, wanted: &str, header: &[&str]) -> InputError {
    let hint = did_you_mean(wanted, header.iter().copied());
    let hint = hint.map_or_else(String::new, |name| format!("did you mean '{name}'? "));
    let help = format!("{hint}Columns: {}; choose one with `{}`", header.join(", "), key(role));
    InputError::new(message).field(key(role)).help(help)
}

/// The error for a header in which neither column has a usual name.
fn neither(header: &[&str]) -> InputError {
    let [user, item] = ["user", "item"].map(key);
    let help = format!("Columns: {}; choose them with `{user}` and `{item}`", header.join(", "));
    InputError::new("no user column and no item column found").field(user).help(help)
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
        let Columns { user, item, rating, time, .. } = columns;
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
        assert!(
            indices(&header, &request("who", "who", "3"))
                .unwrap_err()
                .contains("both as the user and as the item column")
        );
    }

    #[test]
    fn without_a_header_free_positions_are_guessed() {
        let found = |user: Option<&str>, item: Option<&str>, rating: Option<&str>| {
            let [user, item, rating] = [user, item, rating].map(|name| name.map(str::to_owned));
            let options = ReadOptions { user, item, rating, ..ReadOptions::default() };
            let Columns { user, item, rating, time, .. } = Columns::find(None, 4, &options).unwrap();
            [Some(user.index), Some(item.index), rating.map(|c| c.index), time.map(|c| c.index)]
        };
        assert_eq!(found(None, None, None), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(found(Some("1"), Some("2"), Some("4")), [Some(0), Some(1), Some(3), None]);
        assert_eq!(found(Some("2"), Some("3"), None), [Some(1), Some(2), None, Some(3)]);
        assert_eq!(found(Some("3"), Some("4"), Some("1")), [Some(2), Some(3), Some(0), None]);
    }

    #[test]
    fn one_column_has_one_role() {
        let options = |rating: &str, time: Option<&str>| ReadOptions {
            rating: Some(rating.to_owned()),
            time: time.map(str::to_owned),
            ..ReadOptions::default()
        };
        let header = ["user", "item", "ts"];
        let error = indices(&header, &options("ts", Some("3"))).unwrap_err();
        assert!(
            error.starts_with("data.read.time: 'ts' is given both as the rating and as the time"),
            "{error}"
        );
        assert_eq!(indices(&header, &options("ts", None)), Ok([Some(0), Some(1), Some(2), None]));
    }

    #[test]
    fn the_error_for_a_missing_column_lists_the_columns() {
        let error = indices(&["usr", "item"], &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error,
            "data.read.user: no user column found\n  help: did you mean 'usr'? Columns: usr, item; choose one with \
             `data.read.user`"
        );
        let error = indices(&["customer", "article"], &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error,
            "data.read.user: no user column and no item column found\n  help: Columns: customer, article; choose them \
             with `data.read.user` and `data.read.item`"
        );
    }

    #[test]
    fn columns_that_are_not_read_are_known() {
        let header = ["order", "user", "bought_at", "item"];
        let unused = |options: &ReadOptions| Columns::find(Some(&header), 4, options).unwrap().unused;
        assert_eq!(unused(&ReadOptions::default()), ["order", "bought_at"]);
        assert_eq!(unused(&ReadOptions { time: Some("bought_at".into()), ..Default::default() }), ["order"]);
        assert!(Columns::find(None, 4, &ReadOptions::default()).unwrap().unused.is_empty());
    }
}
