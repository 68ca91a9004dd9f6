//! Sections of a config by their types, with errors in the words of a user.

use serde::de::DeserializeOwned;

use crate::{InputError, Result, did_you_mean};

/// A section without a `type`.
pub(super) fn parse<T: DeserializeOwned + Default>(section: &str, given: &toml::Table) -> Result<T> {
    let Some(value) = given.get(section) else { return Ok(T::default()) };
    let parsed = serde_path_to_error::deserialize(value.clone());
    parsed.map_err(|fault: serde_path_to_error::Error<toml::de::Error>| {
        let path = fault.path().to_string();
        let key = if path == "." { section.to_owned() } else { format!("{section}.{path}") };
        explain(fault.inner().message().trim(), key).into()
    })
}

/// What the parser says about a value or an unknown key, with the nearest known name.
fn explain(message: &str, key: String) -> InputError {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let kind = match message {
        _ if message.starts_with("unknown field") => "key",
        _ if message.starts_with("unknown variant") => "choice",
        _ => return InputError::new(plain(message)).field(key),
    };
    let given = quoted.next().unwrap_or_default().to_owned();
    let known: Vec<&str> = quoted.collect();
    let all = known.join(", ");
    let help = match did_you_mean(&given, known) {
        Some(name) => format!("did you mean '{name}'? Known: {all}"),
        None if all.is_empty() => "leave it out: there are no such settings here".to_owned(),
        None => format!("known: {all}"),
    };
    let key =
        if kind == "key" && !key.ends_with(&format!(".{given}")) { format!("{key}.{given}") } else { key };
    InputError::new(format!("unknown {kind} '{given}'")).field(key).help(help)
}

/// The choices that a setting of a section has, as its parser names them; none if it is not a choice.
pub(super) fn choices_of<T: DeserializeOwned>(setting: &str) -> Vec<String> {
    let no_choice = toml::Table::from_iter([(setting.to_owned(), "?".into())]);
    match no_choice.try_into::<T>() {
        Err(error) if error.message().contains("unknown variant") => {
            error.message().split('`').skip(1).step_by(2).skip(1).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// What to do about a number in quotes.
fn unquoted(value: &str) -> &'static str {
    let is_number = value.trim_end_matches('"').parse::<f64>().is_ok();
    if is_number { ": write it without quotes" } else { "" }
}

/// Rust's names of types, as people call them.
fn plain(message: &str) -> String {
    let names = [
        // Every setting of this type is a count of something that there must be.
        ("usize", "a whole number ≥ 1"),
        ("u32", "a whole number ≥ 0"),
        ("u64", "a whole number ≥ 0"),
        ("f32", "a number"),
        ("f64", "a number"),
        ("a boolean", "true or false"),
        ("a sequence", "a list"),
    ];
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = names.into_iter().find(|(name, _)| *name == expected).map_or(expected, |(_, plain)| plain);
    // The kind of a value, such as `floating point`, stands before the value in quotes.
    let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let value = match found.split_once(['`', '"']) {
        Some((_, value)) if found.starts_with("string ") => {
            return format!(
                "expected {expected}, found the text \"{}\"{}",
                value.trim_end_matches('"'),
                unquoted(value)
            );
        }
        Some((_, value)) => value.trim_end_matches(['`', '"']),
        None => match found {
            "sequence" => "a list",
            "map" => "a section",
            other => other,
        },
    };
    format!("expected {expected}, found {value}")
}
