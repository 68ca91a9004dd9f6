//! Things that are chosen by name: losses, backbones, samplers.

use super::{Param, Params};
use crate::{Result, unknown_name};

/// An entry of a list of things that can be chosen by name. `B` is the function that builds it.
#[derive(Debug)]
pub struct Entry<B: 'static> {
    /// The name in configs and on the command line.
    pub name: &'static str,
    /// One line for the user.
    pub summary: &'static str,
    /// What can be set.
    pub params: &'static [Param],
    /// Builds it from checked parameters.
    pub build: B,
}

/// Finds the entry that a config section asks for by its `type`, and checks the section's other keys.
pub fn choose<B>(
    kind: &str,
    list: &'static [Entry<B>],
    section: &toml::Table,
) -> Result<(&'static Entry<B>, Params)> {
    let name = section.get("type").map(|name| name.as_str().map_or_else(|| name.to_string(), str::to_owned));
    let name = name.unwrap_or_default();
    let Some(entry) = list.iter().find(|entry| entry.name == name) else {
        return Err(unknown_name(kind, &name, list.iter().map(|entry| entry.name)).field(kind).into());
    };
    Ok((entry, Params::check(kind, entry.params, section)?))
}
