//! Which column is the user, the item, the rating and the time.

use super::ReadOptions;
use crate::{InputError, did_you_mean};

/// The names a column usually has, likeliest first, as [`plain`] writes them.
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

/// One column: its place from 0 and the name errors give it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub at: usize,
    pub name: String,
}

/// The columns that matter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    pub user: Column,
    pub item: Column,
    pub rating: Option<Column>,
    pub time: Option<Column>,
}

impl Columns {
    /// The columns asked for or, where nothing was, those with usual names. Without a header they stand in the
    /// order user, item, rating, time.
    pub fn find(names: Option<&[&str]>, width: usize, options: &ReadOptions) -> Result<Self, InputError> {
        let find = |role, usual, asked: &Option<String>, place| {
            let asked = asked.as_deref();
            Role { role, usual, asked, place }.find(names, width)
        };
        let needed = |role, found: Option<Column>| {
            found.ok_or_else(|| missing(format!("no {role} column found"), role, role, names.unwrap_or(&[])))
        };
        // An empty name leaves a column out: the way past one that is there but can't be read.
        let optional = |asked: &Option<String>, find: &dyn Fn() -> Result<Option<Column>, InputError>| {
            if asked.as_deref() == Some("") { Ok(None) } else { find() }
        };
        let mut columns = Self {
            user: needed("user", find("user", USER, &options.user, 0)?)?,
            item: needed("item", find("item", ITEM, &options.item, 1)?)?,
            rating: optional(&options.rating, &|| find("rating", RATING, &options.rating, 2))?,
            time: optional(&options.time, &|| find("time", TIME, &options.time, 3))?,
        };
        // A place that was asked for as the user's or the item's is not free for a guess.
        if names.is_none() {
            let taken = [columns.user.at, columns.item.at];
            columns.rating = columns.rating.filter(|c| options.rating.is_some() || !taken.contains(&c.at));
            columns.time = columns.time.filter(|c| options.time.is_some() || !taken.contains(&c.at));
        }
        if columns.user.at == columns.item.at {
            let message = format!("the user and the item are the same column, '{}'", columns.user.name);
            return Err(InputError::new(message).help("name another with the options `user` and `item`"));
        }
        Ok(columns)
    }

    /// Whether a row has a usual name for the user, and for the item.
    pub fn usual(row: &[&str]) -> [bool; 2] {
        [USER, ITEM].map(|usual| row.iter().any(|name| usual.contains(&plain(name).as_str())))
    }
}

struct Role<'a> {
    role: &'static str,
    usual: &'static [&'static str],
    asked: Option<&'a str>,
    place: usize,
}

impl Role<'_> {
    fn find(&self, names: Option<&[&str]>, width: usize) -> Result<Option<Column>, InputError> {
        let column = |at: usize| Column {
            at,
            name: names.map_or_else(|| format!("column {} ({})", at + 1, self.role), |n| n[at].to_owned()),
        };
        let header = names.unwrap_or(&[]);
        let Some(asked) = self.asked else {
            let at = match names {
                Some(_) => {
                    self.usual.iter().find_map(|usual| header.iter().position(|name| plain(name) == *usual))
                }
                None => (self.place < width).then_some(self.place),
            };
            return Ok(at.map(column));
        };
        let named = header.iter().position(|name| *name == asked);
        let named = named.or_else(|| header.iter().position(|name| name.eq_ignore_ascii_case(asked)));
        let numbered = || asked.parse().ok().filter(|n| (1..=width).contains(n)).map(|n: usize| n - 1);
        match named.or_else(numbered) {
            Some(at) => Ok(Some(column(at))),
            None if names.is_none() => {
                let message = format!("no column '{asked}': there is no header, and {width} columns");
                let help = format!("give the column's number, 1 to {width}");
                Err(InputError::new(message).field(self.role).help(help))
            }
            None => Err(missing(format!("no column '{asked}'"), self.role, asked, header)),
        }
    }
}

fn missing(message: String, role: &str, wanted: &str, header: &[&str]) -> InputError {
    let hint = did_you_mean(wanted, header.iter().copied());
    let hint = hint.map_or_else(String::new, |name| format!("did you mean '{name}'? "));
    let help = format!("{hint}The columns are: {}; say which with the option `{role}`", header.join(", "));
    InputError::new(message).field(role).help(help)
}

/// A name without case, blanks and marks: `user_id`, `userId` and `User-ID` are one.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(header: &[&str], options: &ReadOptions) -> Result<[Option<usize>; 4], String> {
        let columns = Columns::find(Some(header), header.len(), options).map_err(|e| e.to_string())?;
        let Columns { user, item, rating, time } = columns;
        Ok([Some(user.at), Some(item.at), rating.map(|c| c.at), time.map(|c| c.at)])
    }

    #[test]
    fn usual_names_are_known_in_any_spelling_and_order() {
        let usual = ReadOptions::default();
        for (header, expected) in [
            (&["userId", "movieId", "rating", "timestamp"][..], [Some(0), Some(1), Some(2), Some(3)]),
            (&["asin", "overall", "reviewerID", "unixReviewTime"], [Some(2), Some(0), Some(1), Some(3)]),
            (&["timestamp", "visitorid", "event", "itemid"], [Some(1), Some(3), None, Some(0)]),
            (&["user_procid", "item_procid"], [Some(0), Some(1), None, None]),
        ] {
            assert_eq!(places(header, &usual), Ok(expected), "{header:?}");
        }
    }

    #[test]
    fn columns_are_named_or_numbered() {
        let asked = |user: &str, item: &str, rating: &str| ReadOptions {
            user: Some(user.into()),
            item: Some(item.into()),
            rating: Some(rating.into()),
            ..ReadOptions::default()
        };
        let header = ["what", "who", "rating", "2"];
        assert_eq!(places(&header, &asked("who", "1", "")), Ok([Some(1), Some(0), None, None]));
        assert_eq!(places(&header, &asked("WHO", "2", "3")), Ok([Some(1), Some(3), Some(2), None]));
        assert!(places(&header, &asked("who", "2nd", "3")).unwrap_err().contains("no column '2nd'"));
        assert!(places(&header, &asked("who", "9", "3")).unwrap_err().contains("no column '9'"));
        assert!(places(&header, &asked("who", "who", "3")).unwrap_err().contains("same column"));
    }

    #[test]
    fn without_names_the_places_that_are_free_are_guessed() {
        let found = |user: Option<&str>, item: Option<&str>, rating: Option<&str>| {
            let [user, item, rating] = [user, item, rating].map(|asked| asked.map(str::to_owned));
            let options = ReadOptions { user, item, rating, ..ReadOptions::default() };
            let Columns { user, item, rating, time } = Columns::find(None, 4, &options).unwrap();
            [Some(user.at), Some(item.at), rating.map(|c| c.at), time.map(|c| c.at)]
        };
        assert_eq!(found(None, None, None), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!(found(Some("1"), Some("2"), Some("4")), [Some(0), Some(1), Some(3), Some(3)]);
        assert_eq!(found(Some("2"), Some("3"), None), [Some(1), Some(2), None, Some(3)]);
        assert_eq!(found(Some("3"), Some("4"), Some("1")), [Some(2), Some(3), Some(0), None]);
    }

    #[test]
    fn a_missing_column_lists_those_there_are() {
        let error = places(&["usr", "item"], &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error,
            "user: no user column found\n  help: did you mean 'usr'? The columns are: usr, item; say which with the \
             option `user`"
        );
    }
}
