//! Grids: the values that each key of a config may take, and their combinations.

use std::collections::BTreeSet;

use rand_core::Rng;
use rivalry::models::{Kind, MODELS};
use rivalry::params::{Param, Value};

use super::values::{Values, keys};
use crate::{InputError, Result};

/// The largest number of trials; a grid with more is taken for a mistake.
const MAX_TRIALS: usize = 100_000;

/// The values of each key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Grid(pub Vec<(String, Values)>);

/// One value for each key.
pub(super) type Combination = Vec<(String, toml::Value)>;

impl Grid {
    /// The grid of a table. In TOML everything after `[[grid]]` belongs to it, so the keys of the search space itself
    /// easily end up there.
    pub fn from_table(table: &toml::Table) -> Result<Self> {
        match ["trials", "seed", "seeds"].iter().find(|key| table.contains_key(**key)) {
            Some(key) => Err(InputError::new("is in a grid, but is not a setting of a trial")
                .field(*key)
                .help("move it to the top of the file, before [base] and [[grid]]")
                .into()),
            None => Ok(Self(keys(table)?)),
        }
    }

    /// The grid of a type with the recommended values of its parameters.
    pub fn of_type(section: &str, name: &str, params: &[Param]) -> Self {
        let value = |param: &Param, x: f64| match param.default {
            Value::Count(_) => toml::Value::Integer(x as i64),
            _ => toml::Value::Float(x),
        };
        let mut grid = vec![(format!("{section}.type"), Values::List(vec![name.into()]))];
        grid.extend(params.iter().filter(|param| !param.grid.is_empty()).map(|param| {
            let values = param.grid.iter().map(|&x| value(param, x)).collect();
            (format!("{section}.{}", param.name), Values::List(values))
        }));
        Self(grid)
    }

    /// The grid without the keys that are fixed. The keys of a closed-form model stay: what is fixed of the model is meant
    /// for the models of the losses.
    pub fn without(&self, fixed: &BTreeSet<String>) -> Self {
        let closed_form = self.0.iter().any(|(key, values)| {
            let closed = |value: &toml::Value| value.as_str().is_some_and(is_closed_form);
            key == "model.type" && matches!(values, Values::List(list) if list.iter().all(closed))
        });
        let is_open = |key: &String| !fixed.contains(key) || (closed_form && key.starts_with("model."));
        Self(self.0.iter().filter(|(key, _)| is_open(key)).cloned().collect())
    }

    /// A random combination.
    pub fn draw(&self, rng: &mut impl Rng) -> Combination {
        self.0.iter().map(|(key, values)| (key.clone(), values.draw(rng))).collect()
    }

    /// Every combination.
    pub fn combinations(&self) -> Result<Vec<Combination>> {
        let mut combinations = vec![Combination::new()];
        for (key, values) in &self.0 {
            let Values::List(values) = values else {
                return Err(InputError::new("a range has no finite list of values")
                    .field(key)
                    .help("set the number of random trials (trials = 50), or give a list of values")
                    .into());
            };
            let extended = |so_far: &Combination| {
                let so_far = so_far.clone();
                values.iter().map(move |v| so_far.iter().cloned().chain([(key.clone(), v.clone())]).collect())
            };
            check_size(combinations.len().saturating_mul(values.len()), "grid")?;
            combinations = combinations.iter().flat_map(extended).collect();
        }
        Ok(combinations)
    }
}

/// Refuses more trials than anyone would run on purpose.
pub(super) fn check_size(trials: usize, field: &str) -> Result<()> {
    if trials <= MAX_TRIALS {
        return Ok(());
    }
    Err(InputError::new(format!("more than {MAX_TRIALS} trials"))
        .field(field)
        .help("give fewer values, or draw some of the combinations (trials = 50)")
        .into())
}

/// Whether a model of that name exists and is a closed form.
pub fn is_closed_form(name: &str) -> bool {
    MODELS.iter().any(|entry| entry.name == name && matches!(entry.build, Kind::ClosedForm(_)))
}

/// The keys that don't have the same value in all combinations.
pub(super) fn varied(combinations: &[Combination]) -> BTreeSet<String> {
    let keys: BTreeSet<&String> = combinations.iter().flatten().map(|(key, _)| key).collect();
    let value = |combination: &Combination, key: &str| {
        combination.iter().find(|(name, _)| name == key).map(|(_, value)| value.to_string())
    };
    let differs = |key: &str| {
        let first = combinations.first().and_then(|combination| value(combination, key));
        combinations.iter().any(|combination| value(combination, key) != first)
    };
    keys.into_iter().filter(|key| differs(key)).cloned().collect()
}
