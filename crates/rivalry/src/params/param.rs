//! Declared parameters, and values checked against the declarations.

use std::collections::BTreeMap;

use super::Search;
use crate::{InputError, Result, unknown_name};

/// The declaration of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// The key in a config.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
    /// The default value; it also decides the type.
    pub default: Value,
    /// The legal values.
    pub range: Range,
    /// What a sweep tries.
    pub search: Search,
}

/// The value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A real number.
    Number(f64),
    /// A count.
    Count(u32),
    /// A boolean.
    Flag(bool),
    /// One of the names in the range.
    Choice(&'static str),
}

/// The legal values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Greater than zero.
    Positive,
    /// At least this.
    AtLeast(f64),
    /// Greater than the first, at most the second.
    Between(f64, f64),
    /// At least the first, at most the second.
    Within(f64, f64),
    /// At least zero, less than one.
    BelowOne,
    /// Every value of the type.
    Any,
    /// One of these names.
    OneOf(&'static [&'static str]),
}

impl Range {
    /// Whether a number is legal.
    pub fn holds(self, x: f64) -> bool {
        x.is_finite()
            && match self {
                Self::Positive => x > 0.0,
                Self::AtLeast(low) => x >= low,
                Self::Between(low, high) => low < x && x <= high,
                Self::Within(low, high) => low <= x && x <= high,
                Self::BelowOne => (0.0..1.0).contains(&x),
                Self::Any | Self::OneOf(_) => true,
            }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Positive => f.write_str("> 0"),
            Self::AtLeast(low) => write!(f, "≥ {low}"),
            Self::Between(low, high) => write!(f, "in ({low}, {high}]"),
            Self::Within(low, high) => write!(f, "in [{low}, {high}]"),
            Self::BelowOne => f.write_str("in [0, 1)"),
            Self::Any => f.write_str("any"),
            Self::OneOf(names) => write!(f, "one of {}", names.join(", ")),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Count(n) => write!(f, "{n}"),
            Self::Flag(yes) => write!(f, "{yes}"),
            Self::Choice(name) => f.write_str(name),
        }
    }
}

impl Value {
    /// The value as it stands in a config.
    pub fn to_toml(self) -> toml::Value {
        match self {
            Self::Number(x) => x.into(),
            Self::Count(n) => i64::from(n).into(),
            Self::Flag(yes) => yes.into(),
            Self::Choice(name) => name.into(),
        }
    }
}

/// A config value as text for people: strings without quotes, numbers as [`Value`] prints them.
pub fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(x) => x.to_string(),
        other => other.to_string(),
    }
}

/// Checked parameters, every one present.
///
/// [`Params::check`] is the only constructor, so the values are always legal.
#[derive(Clone, Debug, PartialEq)]
pub struct Params(BTreeMap<&'static str, Value>);

impl Params {
    /// Checks the `given` values against their declarations and fills in the defaults.
    /// `section` is the name of the config section, for error messages.
    pub fn check(section: &str, declared: &[Param], given: &toml::Table) -> Result<Self> {
        for key in given.keys().filter(|key| *key != "type") {
            if !declared.iter().any(|p| p.name == key) {
                if declared.is_empty() {
                    let name = given.get("type").map(shown).unwrap_or_default();
                    let what = format!("{name} takes no parameters, found '{key}'");
                    return Err(InputError::new(what).field(format!("{section}.{key}")).into());
                }
                let names = declared.iter().map(|p| p.name);
                return Err(unknown_name("parameter", key, names).field(section).into());
            }
        }
        let value = |p: &Param| match given.get(p.name) {
            Some(value) => read(p, value).map_err(|e| e.field(format!("{section}.{}", p.name))),
            None => Ok(p.default),
        };
        declared.iter().map(|p| Ok((p.name, value(p)?))).collect::<Result<_>>().map(Self)
    }

    /// The parameters as a config table.
    pub fn to_table(&self) -> toml::Table {
        self.0.iter().map(|(name, value)| (name.to_string(), value.to_toml())).collect()
    }

    /// All parameters by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> {
        self.0.iter().map(|(name, value)| (*name, *value))
    }

    /// The value of a parameter, if it is declared.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).copied()
    }

    /// Replaces the value of a parameter, if it is declared. The caller vouches for the value.
    pub(super) fn replace(&mut self, name: &str, value: Value) {
        if let Some(place) = self.0.get_mut(name) {
            *place = value;
        }
    }

    /// A real number.
    ///
    /// # Panics
    /// If no number of that name is declared: a mistake in the code, never in a config. The same holds for the other
    /// getters.
    pub fn number(&self, name: &str) -> f64 {
        let Value::Number(x) = self.0[name] else { panic!("{name} is declared as another type") };
        x
    }

    /// A count.
    pub fn count(&self, name: &str) -> usize {
        let Value::Count(n) = self.0[name] else { panic!("{name} is declared as another type") };
        n as usize
    }

    /// A boolean.
    pub fn flag(&self, name: &str) -> bool {
        let Value::Flag(yes) = self.0[name] else { panic!("{name} is declared as another type") };
        yes
    }

    /// One of several names.
    pub fn choice(&self, name: &str) -> &'static str {
        let Value::Choice(choice) = self.0[name] else { panic!("{name} is declared as another type") };
        choice
    }
}

fn read(param: &Param, value: &toml::Value) -> Result<Value, InputError> {
    let wrong = |kind: &str| {
        let help = format!("{}; default {}", param.doc, param.default);
        InputError::new(format!("expected {kind} {}, found {value}", param.range)).help(help)
    };
    let number = value.as_float().or(value.as_integer().map(|n| n as f64));
    match param.default {
        Value::Number(_) => match number {
            Some(x) if param.range.holds(x) => Ok(Value::Number(x)),
            _ => Err(wrong("a number")),
        },
        Value::Count(_) => match value.as_integer().and_then(|n| u32::try_from(n).ok()) {
            Some(n) if param.range.holds(f64::from(n)) => Ok(Value::Count(n)),
            _ => Err(wrong("a whole number")),
        },
        Value::Choice(_) => {
            let Range::OneOf(names) = param.range else { panic!("{} is a choice without names", param.name) };
            let given = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let chosen = names.iter().find(|name| **name == given);
            chosen
                .map(|name| Value::Choice(name))
                .ok_or_else(|| unknown_name("choice", &given, names.iter().copied()))
        }
        Value::Flag(_) => value.as_bool().map(Value::Flag).ok_or_else(|| {
            InputError::new(format!("expected true or false, found {value}")).help(param.doc.to_owned())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[Param] = &[
        Param {
            name: "tau",
            doc: "temperature",
            default: Value::Number(0.2),
            range: Range::Positive,
            search: Search::NONE,
        },
        Param {
            name: "slate",
            doc: "size",
            default: Value::Count(20),
            range: Range::AtLeast(1.0),
            search: Search::NONE,
        },
    ];

    fn check(text: &str) -> Result<Params> {
        Params::check("loss", DECLARED, &text.parse().unwrap())
    }

    #[test]
    fn given_values_and_defaults_make_a_whole_set() {
        let params = check("type = 'dsl'\ntau = 1").unwrap();
        assert_eq!((params.number("tau"), params.count("slate")), (1.0, 20));
        assert_eq!(params.to_table(), "slate = 20\ntau = 1.0".parse().unwrap());
    }

    #[test]
    fn what_is_not_legal_is_named() {
        let error = |text: &str| check(text).unwrap_err().to_string();
        assert!(error("tau = 0").starts_with("loss.tau: expected a number > 0, found 0\n"));
        assert!(error("tau = nan").contains("found nan"));
        assert!(error("slate = -3").starts_with("loss.slate: expected a whole number ≥ 1, found -3"));
        assert!(error("slate = 2.5").contains("a whole number"));
        assert!(error("taus = 1").contains("did you mean 'tau'?"));
    }
}
