//! The settings of a config by their dotted keys.

use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Config;
use rivalry::params::shown;
use toml::Value;

/// Every setting of a config by its dotted key, such as `loss.tau`.
///
/// ```
/// use rivalry_runs::settings::Settings;
/// let config = rivalry::config::Config::from_layers(&["loss.type = 'sl'".parse().unwrap()]).unwrap();
/// assert_eq!(Settings::of(&config).text("loss.type").as_deref(), Some("sl"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// The settings of a config.
    pub fn of(config: &Config) -> Self {
        Self::from_table(&config.to_table())
    }

    /// The settings of a table, each under its dotted key.
    pub fn from_table(table: &toml::Table) -> Self {
        let mut all = BTreeMap::new();
        flatten("", table, &mut all);
        Self(all)
    }

    /// Only the settings whose key satisfies the condition.
    #[must_use]
    pub fn filter(mut self, wanted: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|key, _| wanted(key));
        self
    }

    /// The value at a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value at a key, formatted for people: `0.2`, `sl`.
    pub fn text(&self, key: &str) -> Option<String> {
        self.0.get(key).map(shown)
    }

    /// The number at a key.
    pub fn number(&self, key: &str) -> Option<f64> {
        let value = self.0.get(key)?;
        value.as_float().or(value.as_integer().map(|n| n as f64))
    }

    /// The keys, in alphabetical order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    /// Replaces or adds a setting.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// The keys, in alphabetical order, whose values differ; absent settings count as a value.
    pub fn differences<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a String> {
        let keys: BTreeSet<&String> = self.keys().chain(other.keys()).collect();
        keys.into_iter().filter(|key| self.get(key) != other.get(key))
    }

    /// The first key, in alphabetical order, whose values differ; absent settings count as a value.
    pub fn first_difference<'a>(&'a self, other: &'a Self) -> Option<&'a String> {
        self.differences(other).next()
    }
}

/// Settings in few words, without sections and types: `tau 0.2, alpha 3, dim 128`.
pub fn in_few_words<'a>(settings: impl IntoIterator<Item = (&'a String, &'a Value)>) -> String {
    let named = settings.into_iter().filter(|(key, _)| !key.ends_with(".type"));
    let short = |key: &'a str| key.rsplit('.').next().unwrap_or(key);
    named.map(|(key, value)| format!("{} {}", short(key), shown(value))).collect::<Vec<_>>().join(", ")
}

/// The settings that name a model and a loss.
pub(crate) const TYPES: [&str; 2] = ["model.type", "loss.type"];

/// Sections whose parameters depend on their type.
const TYPED: [&str; 4] = ["model.", "loss.", "sampler.", "optim."];

/// The keys, in alphabetical order, of the settings that distinguish configs beyond their model and loss. An absent
/// parameter of a typed section does not count, because the type accounts for it; neither does a section that a config
/// does not have.
///
/// ```
/// use rivalry_runs::settings::{Settings, distinctive};
/// let settings = |text: &str| Settings::from_table(&text.parse().unwrap());
/// let sl = settings("loss = { type = 'sl', tau = 0.1 }");
/// let dsl = settings("loss = { type = 'dsl', tau = 0.2, alpha = 1.0 }");
/// assert_eq!(distinctive([&sl, &dsl]), ["loss.tau"]);
/// ```
pub fn distinctive<'a>(all: impl IntoIterator<Item = &'a Settings>) -> Vec<String> {
    let all: Vec<&Settings> = all.into_iter().collect();
    let keys: BTreeSet<&String> = all.iter().flat_map(|settings| settings.keys()).collect();
    keys.into_iter().filter(|key| is_distinctive(key, &all)).cloned().collect()
}

fn is_distinctive(key: &str, all: &[&Settings]) -> bool {
    if TYPES.contains(&key) {
        return false;
    }
    let is_typed = TYPED.iter().any(|section| key.starts_with(section));
    let section = key.split_inclusive('.').next().unwrap_or(key);
    let has_section = |settings: &&&Settings| settings.keys().any(|key| key.starts_with(section));
    let values = all.iter().filter(has_section).map(|settings| settings.text(key));
    values.filter(|value| value.is_some() || !is_typed).collect::<BTreeSet<_>>().len() > 1
}

/// One `key = value` line per setting.
impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|(key, value)| writeln!(f, "{key} = {value}"))
    }
}

fn flatten(prefix: &str, table: &toml::Table, all: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, all),
            value => {
                all.insert(key, value.clone());
            }
        }
    }
}
