//! The values a search may give to one key.

use rand_core::Rng;

use crate::{InputError, Result};
use rivalry::rng::below;

/// What may stand at a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// One of these.
    List(Vec<toml::Value>),
    /// Any number between these.
    Between {
        from: f64,
        to: f64,
        /// Evenly by the logarithm.
        log: bool,
        /// Only whole numbers.
        whole: bool,
    },
}

impl Values {
    /// Draws one.
    pub fn draw(&self, rng: &mut impl Rng) -> toml::Value {
        match self {
            Self::List(list) => list[below(rng, list.len() as u32) as usize].clone(),
            Self::Between { from, to, log, whole } => {
                let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                let at = |from: f64, to: f64| from + unit * (to - from);
                let value = if *log { at(from.ln(), to.ln()).exp() } else { at(*from, *to) };
                let value = value.clamp(*from, *to);
                if *whole { toml::Value::Integer(value.round() as i64) } else { value.into() }
            }
        }
    }
}

/// The keys of a table of values, in the order they stand, each with what may stand there: an array is a list to choose
/// from, `{ from = …, to = … }` a stretch, anything else stands as it is.
pub(super) fn keys(table: &toml::Table) -> Result<Vec<(String, Values)>> {
    let mut found = Vec::new();
    walk("", table, &mut found)?;
    Ok(found)
}

fn walk(prefix: &str, table: &toml::Table, found: &mut Vec<(String, Values)>) -> Result<()> {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Array(list) if list.is_empty() => {
                let error = InputError::new("there is nothing to try: the list is empty").field(key);
                return Err(error.help("give at least one value, or leave the key out").into());
            }
            toml::Value::Array(list) => found.push((key, Values::List(list.clone()))),
            toml::Value::Table(table) if table.contains_key("from") => {
                found.push((key.clone(), stretch(&key, table)?));
            }
            toml::Value::Table(table) => walk(&key, table, found)?,
            other => found.push((key, Values::List(vec![other.clone()]))),
        }
    }
    Ok(())
}

fn stretch(key: &str, table: &toml::Table) -> Result<Values> {
    let wrong = |what: String| {
        InputError::new(what)
            .field(key)
            .help("write { from = 0.001, to = 0.1, log = true }, or { from = 10, to = 500, whole = true }")
    };
    if let Some(unknown) = table.keys().find(|name| !["from", "to", "log", "whole"].contains(&&name[..])) {
        return Err(wrong(format!("unknown key '{unknown}' of a stretch")).into());
    }
    let number = |name: &str| {
        let value = table.get(name);
        let number = value.and_then(|v| v.as_float().or(v.as_integer().map(|n| n as f64)));
        number.filter(|x| x.is_finite()).ok_or_else(|| wrong(format!("'{name}' is not a number")))
    };
    let (from, to) = (number("from")?, number("to")?);
    let flag = |name: &str| match table.get(name) {
        None => Ok(false),
        Some(flag) => flag.as_bool().ok_or_else(|| wrong(format!("'{name}' is neither true nor false"))),
    };
    let (log, whole) = (flag("log")?, flag("whole")?);
    if from >= to || (log && from <= 0.0) {
        let above = if log { ", both above zero" } else { "" };
        return Err(
            wrong(format!("from {from} to {to} is no stretch: 'from' must be the smaller{above}")).into()
        );
    }
    Ok(Values::Between { from, to, log, whole })
}
