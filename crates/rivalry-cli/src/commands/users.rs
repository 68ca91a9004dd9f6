//! The users that are recommended to.

use std::collections::HashSet;
use std::path::Path;

use rivalry::data::IdMap;
use rivalry::{Error, InputError, Result};

use super::unknown_id;
use crate::args::UsersArgs;

/// The users asked for.
pub struct Users {
    /// The dense ids of those that the model knows.
    pub known: Vec<u32>,
    /// The ids of the others, where these are left out.
    pub unknown: Vec<String>,
}

/// Finds the users asked for. One that the model doesn't know is an error, unless such users are to be skipped; that none
/// is left is one in any case.
pub fn choose_users(args: &UsersArgs, ids: &IdMap, skip_unknown: bool) -> Result<Users> {
    if args.all {
        return Ok(Users { known: (0..ids.len() as u32).collect(), unknown: Vec::new() });
    }
    let file = args.users_file.as_deref();
    let text = file.map(read_ids).transpose()?.unwrap_or_default();
    // With the line of each id, to name it in an error.
    let listed = (1..).zip(text.lines()).filter(|(_, id)| !id.is_empty());
    let asked = listed.chain((1..).zip(args.user.iter().map(String::as_str)));
    let mut found = HashSet::new();
    let mut users = Users { known: Vec::new(), unknown: Vec::new() };
    for (line, id) in asked {
        match (ids.dense(id), skip_unknown) {
            (Some(user), _) if found.insert(user) => users.known.push(user),
            (Some(_), _) => {} // asked for twice
            (None, true) => users.unknown.push(id.to_owned()),
            (None, false) => {
                let several = file.is_some() || args.user.len() > 1;
                let skip = if several { "\n  help: add --skip-unknown to leave such users out" } else { "" };
                let error = unknown_id("user", ids, id, skip);
                return Err(at(error, file, Some(line)));
            }
        }
    }
    if users.known.is_empty() {
        let what = match users.unknown.len() {
            0 => "no users are given".to_owned(),
            n => format!("none of the {n} users is in the training data"),
        };
        let example = ids.iter().next().unwrap_or_default();
        let error = InputError::new(what).help(format!("ids are those of the data, such as '{example}'"));
        return Err(at(error, file, None));
    }
    Ok(users)
}

/// The error with the place of the id, if it is in a file.
fn at(error: InputError, file: Option<&Path>, line: Option<u64>) -> Error {
    match (file, line) {
        (Some(file), Some(line)) => error.file(file).line(line).into(),
        (Some(file), None) => error.file(file).into(),
        (None, _) => error.into(),
    }
}

fn read_ids(file: &Path) -> Result<String> {
    let text = match file == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(file),
    };
    text.map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => InputError::new("not UTF-8 text").file(file).into(),
        _ => Error::io("read", file, e),
    })
}
