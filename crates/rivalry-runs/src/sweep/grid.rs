//! Grids: the values that each key of a config may take, and their combinations.

use std::collections::BTreeSet;

use rand_core::Rng;
use rivalry::loss::{self, LOSSES};
use rivalry::models::{self, Kind, MODELS};
use rivalry::params::Param;

use super::values::{Values, keys};
use crate::selection::is_hyperparameter;
use crate::{InputError, Result};

/// The largest number of trials; a grid with more is taken for a mistake.
const MAX_TRIALS: usize = 100_000;

/// The values of each key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Grid(pub Vec<(String, Values)>);

/// Where the grid of a loss or a closed-form model comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossGrid {
    /// The ranges around what works, declared with the loss or the model.
    BuiltIn,
    /// The published search of a loss.
    Paper,
    /// Nothing but the loss or the model.
    Empty,
}

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

    /// The grid of a closed-form model: what a sweep tries for each of its parameters.
    pub fn of_model(entry: &models::Entry, grid: LossGrid) -> Self {
        let params = entry.params.iter().filter(|_| grid != LossGrid::Empty);
        let searched =
            params.filter_map(|param| Some((format!("model.{}", param.name), Values::of_param(param)?)));
        Self(std::iter::once(named("model", entry.name)).chain(searched).collect())
    }

    /// The grid of a loss: what a sweep tries for its parameters, and for those of the model and the optimiser with it.
    pub fn of_loss(entry: &loss::Entry, grid: LossGrid) -> Self {
        let values = |param: &Param| match grid {
            LossGrid::BuiltIn => Values::of_param(param),
            LossGrid::Paper => Values::of_paper(param),
            LossGrid::Empty => None,
        };
        let own = entry.params.iter().map(|param| ("loss", param));
        let optim = entry.build.defaults.optim().map(|param| ("optim", param));
        let model = [("model", &entry.build.defaults.popularity_weight)];
        let searched = own
            .chain(model)
            .chain(optim)
            .filter_map(|(section, param)| Some((format!("{section}.{}", param.name), values(param)?)));
        Self(std::iter::once(named("loss", entry.name)).chain(searched).collect())
    }

    /// Whether there is a choice of hyperparameters other than the type of a section.
    pub fn is_search(&self) -> bool {
        self.0.iter().any(|(key, values)| is_searched(key, values))
    }

    /// The grid without the hyperparameters that are searched: what is left decides what a trial competes in. Of several
    /// numbers of epochs the last is kept, so that all trials have the same budget.
    pub fn without_searched(&self) -> Self {
        let kept = self.0.iter().filter_map(|(key, values)| match values.listed().last() {
            _ if !is_searched(key, values) => Some((key.clone(), values.clone())),
            Some(last) if key == "train.epochs" => Some((key.clone(), Values::List(vec![last.clone()]))),
            _ => None,
        });
        Self(kept.collect())
    }

    /// Whether one of the types that the grid has for a section takes this parameter; `true` for keys of sections without
    /// a type.
    pub fn takes(&self, key: &str) -> bool {
        let (Some(name), Some(types)) = (key.strip_prefix("loss."), self.get("loss.type")) else {
            return true;
        };
        let has = |entry: &&loss::Entry| entry.params.iter().any(|param| param.name == name);
        types.listed().iter().any(|value| {
            LOSSES.iter().filter(|entry| value.as_str() == Some(entry.name)).any(|entry| has(&entry))
        })
    }

    /// The values of a key.
    pub fn get(&self, key: &str) -> Option<&Values> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, values)| values)
    }

    /// Sets the values of a key.
    pub fn set(&mut self, key: &str, values: Values) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, place)) => *place = values,
            None => self.0.push((key.to_owned(), values)),
        }
    }

    /// Whether all its trials are closed-form models.
    pub fn is_of_closed_forms(&self) -> bool {
        let closed = |value: &toml::Value| value.as_str().is_some_and(is_closed_form);
        matches!(self.get("model.type"), Some(Values::List(list)) if list.iter().all(closed))
    }

    /// The grid without the keys that are fixed, but with the keys that `stays` names.
    pub fn without(&self, fixed: &BTreeSet<String>, stays: impl Fn(&str) -> bool) -> Self {
        let is_open = |key: &str| !fixed.contains(key) || stays(key);
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
            let values = values.listed();
            if values.is_empty() {
                return Err(InputError::new("a range has no finite list of values")
                    .field(key)
                    .help("set the number of random trials (trials = 50), or give a list of values")
                    .into());
            }
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

fn named(section: &str, name: &str) -> (String, Values) {
    (format!("{section}.type"), Values::List(vec![name.into()]))
}

fn is_searched(key: &str, values: &Values) -> bool {
    is_hyperparameter(key) && !key.ends_with(".type") && values.single().is_none()
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
