//! Entries of lists, and the choice of one of them with its parameters.

use serde::{Serialize, Serializer};

use super::{Param, Params, Value};
use crate::{Result, unknown_name};

/// An entry of a static list: a model, a loss, a sampler, an optimiser. `B` is what builds it.
#[derive(Debug)]
pub struct Entry<B: 'static> {
    /// The name in configs and on the command line.
    pub name: &'static str,
    /// One line for `rivalry list`.
    pub summary: &'static str,
    /// The parameters it takes.
    pub params: &'static [Param],
    /// Builds it from checked parameters.
    pub build: B,
}

/// An entry chosen by its name, with checked parameters: a typed section of a config.
pub struct Choice<B: 'static> {
    entry: &'static Entry<B>,
    params: Params,
}

impl<B> Choice<B> {
    /// Finds the entry that a config section names by its `type`, checks the section's other keys and fills in defaults.
    ///
    /// # Errors
    /// If there is no such entry, or a parameter is unknown or out of range. `kind` is the section's name.
    pub fn from_table(kind: &str, list: &'static [Entry<B>], section: &toml::Table) -> Result<Self> {
        let name = section.get("type");
        let name = name.map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned));
        let name = name.unwrap_or_default();
        let Some(entry) = list.iter().find(|entry| entry.name == name) else {
            return Err(unknown_name(kind, &name, list.iter().map(|entry| entry.name)).field(kind).into());
        };
        Ok(Self { entry, params: Params::check(kind, entry.params, section)? })
    }

    /// The entry of that name with its default parameters.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn named(kind: &str, list: &'static [Entry<B>], name: &str) -> Self {
        let section = toml::Table::from_iter([("type".to_owned(), name.into())]);
        Self::from_table(kind, list, &section).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The name of the chosen entry.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The chosen entry.
    pub fn entry(&self) -> &'static Entry<B> {
        self.entry
    }

    /// Its parameters, all of them.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The same choice with another value for a parameter, if it has that parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.params.replace(name, value);
        self
    }

    /// The section of a config: `type` and every parameter.
    pub fn to_table(&self) -> toml::Table {
        let mut table = self.params.to_table();
        table.insert("type".to_owned(), self.name().into());
        table
    }
}

impl<B> Clone for Choice<B> {
    fn clone(&self) -> Self {
        Self { entry: self.entry, params: self.params.clone() }
    }
}

impl<B> PartialEq for Choice<B> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.params == other.params
    }
}

impl<B> std::fmt::Debug for Choice<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Choice").field("name", &self.name()).field("params", &self.params).finish()
    }
}

/// `name (parameter value, …)`, for people.
impl<B> std::fmt::Display for Choice<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        let shown: Vec<String> = self.params.iter().map(|(name, value)| format!("{name} {value}")).collect();
        if shown.is_empty() { Ok(()) } else { write!(f, " ({})", shown.join(", ")) }
    }
}

impl<B> Serialize for Choice<B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_table().serialize(serializer)
    }
}
