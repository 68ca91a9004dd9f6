//! The values that a search space gives to one key.

use rand_core::Rng;

use crate::{InputError, Result};
use rivalry::params::{Draw, Param, Range, Value};
use rivalry::rng::below;

/// The values of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// One of these.
    List(Vec<toml::Value>),
    /// Any number in a range.
    Range {
        from: f64,
        to: f64,
        /// Log-uniform instead of uniform.
        log: bool,
        /// Whole numbers only.
        whole: bool,
        /// The values of the range that a grid has; empty if it can only be drawn from.
        grid: Vec<toml::Value>,
    },
}

impl Values {
    /// What a sweep tries for a declared parameter; `None` if it leaves the parameter alone.
    pub fn of_param(param: &Param) -> Option<Self> {
        if let (Draw::Names, Range::OneOf(names)) = (param.search.draw, param.range) {
            return Some(Self::List(names.iter().map(|&name| name.into()).collect()));
        }
        let grid = listed(param, param.search.grid);
        match param.search.interval() {
            _ if grid.is_empty() => None,
            None => Some(Self::List(grid)),
            Some((from, to)) => {
                let log = param.search.draw == Draw::LogUniform;
                let whole = matches!(param.default, Value::Count(_));
                Some(Self::Range { from, to, log, whole, grid })
            }
        }
    }

    /// What the published search tried for a declared parameter, if anything.
    pub fn of_paper(param: &Param) -> Option<Self> {
        Some(Self::List(listed(param, param.search.paper))).filter(|_| !param.search.paper.is_empty())
    }

    /// The values of a grid; none if they can only be drawn.
    pub fn listed(&self) -> &[toml::Value] {
        match self {
            Self::List(list) | Self::Range { grid: list, .. } => list,
        }
    }

    /// The single value, if there is only one.
    pub fn single(&self) -> Option<&toml::Value> {
        match self {
            Self::List(list) => list.first().filter(|first| list.iter().all(|value| value == *first)),
            Self::Range { .. } => None,
        }
    }

    /// Draws a value.
    pub fn draw(&self, rng: &mut impl Rng) -> toml::Value {
        match self {
            Self::List(list) => list[below(rng, list.len() as u32) as usize].clone(),
            Self::Range { from, to, log, whole, .. } => {
                let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                let at = |from: f64, to: f64| from + unit * (to - from);
                let value = if *log { at(from.ln(), to.ln()).exp() } else { at(*from, *to) };
                let value = four_digits(value).clamp(*from, *to);
                if *whole { toml::Value::Integer(value.round() as i64) } else { value.into() }
            }
        }
    }
}

/// Rounds to four significant digits: more are noise, and hard to read.
fn four_digits(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

fn listed(param: &Param, values: &[f64]) -> Vec<toml::Value> {
    let value = |&x: &f64| match param.default {
        Value::Count(_) => toml::Value::Integer(x as i64),
        _ => toml::Value::Float(x),
    };
    values.iter().map(value).collect()
}

/// The dotted keys of a table with their values, in order: an array is a list, `{ from = …, to = … }` a range, anything else
/// a single value.
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
                let error = InputError::new("the list is empty").field(key);
                return Err(error.help("give at least one value, or leave the key out").into());
            }
            toml::Value::Array(list) => found.push((key, Values::List(list.clone()))),
            toml::Value::Table(table) if table.contains_key("from") => {
                found.push((key.clone(), range(&key, table)?));
            }
            toml::Value::Table(table) => walk(&key, table, found)?,
            other => found.push((key, Values::List(vec![other.clone()]))),
        }
    }
    Ok(())
}

fn range(key: &str, table: &toml::Table) -> Result<Values> {
    let wrong = |what: String| {
        InputError::new(what)
            .field(key)
            .help("write { from = 0.001, to = 0.1, log = true }, or { from = 10, to = 500, whole = true }")
    };
    if let Some(unknown) = table.keys().find(|name| !["from", "to", "log", "whole"].contains(&&name[..])) {
        return Err(wrong(format!("unknown key '{unknown}' of a range")).into());
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
            wrong(format!("from {from} to {to} is not a range: 'from' must be smaller{above}")).into()
        );
    }
    Ok(Values::Range { from, to, log, whole, grid: Vec::new() })
}
