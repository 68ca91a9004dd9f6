//! The search space of a sweep: settings that all trials share, and grids of those in which they differ.

use std::collections::BTreeSet;
use std::path::Path;

use super::draft::{Draft, named};
use super::edges::{self, Edge};
use super::grid::{Combination, Grid, LossGrid, check_size, is_closed_form, varied};
use super::values::{Values, keys};
use super::{Origin, Trial};
use crate::presets::{CellKey, hyperparameters};
use rivalry::config::{Config, no_source, read_layer, setting_layer, source_layer};
use rivalry::loss::LOSSES;
use rivalry::models::MODELS;
use rivalry::rng::seeded;
use rivalry::{Error, InputError, Result, unknown_name};

/// A search space.
///
/// ```
/// use rivalry_runs::sweep::SearchSpace;
/// let space = SearchSpace::parse(
///     "base = { data.source = 'synthetic', train.epochs = 10 }
///      grid = { loss.type = 'dsl', loss.tau = [0.1, 0.2], loss.alpha = [1, 2, 3] }",
/// )
/// .unwrap();
/// assert_eq!(space.trials().unwrap().len(), 6);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchSpace {
    base: Vec<toml::Table>,
    grids: Vec<Grid>,
    fixed: Vec<toml::Table>,
    draws: Option<usize>,
    seed: u64,
    seeds: usize,
}

impl SearchSpace {
    /// An empty search space.
    pub fn new() -> Self {
        Self { seeds: 1, ..Self::default() }
    }

    /// Reads a search space from a TOML file.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and if the file can't be read.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_table(read_layer(path)?).map_err(|error| match error {
            Error::Input(error) => error.file(path).into(),
            other => other,
        })
    }

    /// Parses a search space in TOML: `base`, the settings of all trials; `grid`, one table or several, in which a list
    /// holds the values to try; `trials`, the number of combinations to draw at random from each grid instead of trying all; `seed` of
    /// these draws; `seeds`, the number of seeds with which the best trial of each group is trained in the end.
    ///
    /// # Errors
    /// If the text is not TOML, or a key is unknown or has a value of the wrong type.
    pub fn parse(text: &str) -> Result<Self> {
        let table = text.parse().map_err(|e: toml::de::Error| InputError::new(e.message().trim()))?;
        Self::from_table(table)
    }

    fn from_table(table: toml::Table) -> Result<Self> {
        const KEYS: [&str; 5] = ["base", "grid", "trials", "seed", "seeds"];
        let mut space = Self::new();
        for (key, value) in table {
            let expected = |what: &str| InputError::new(format!("expected {what}")).field(&key);
            let count = |value: &toml::Value| value.as_integer().and_then(|n| usize::try_from(n).ok());
            match (&key[..], value) {
                ("base", toml::Value::Table(base)) => space.base.push(base),
                ("grid", toml::Value::Table(grid)) => space.grids.push(Grid::from_table(&grid)?),
                ("grid", toml::Value::Array(grids)) => {
                    for grid in grids {
                        let grid = grid.as_table().ok_or_else(|| expected("tables of settings"))?;
                        space.grids.push(Grid::from_table(grid)?);
                    }
                }
                ("trials", n) => space.draws = Some(positive(count(&n), &key)?),
                ("seed", n) => space.seed = count(&n).ok_or_else(|| expected("a whole number"))? as u64,
                ("seeds", n) => space.seeds = positive(count(&n), &key)?,
                ("base" | "grid", _) => return Err(expected("a table of settings").into()),
                _ => return Err(unknown_name("key", &key, KEYS).field("search space").into()),
            }
        }
        Ok(space)
    }

    /// Fixes settings for all trials. They override the base and the grids: a fixed key is not searched over.
    #[must_use]
    pub fn with(mut self, layer: toml::Table) -> Self {
        self.fixed.push(layer);
        self
    }

    /// Replaces the data source, wherever it is set.
    ///
    /// # Errors
    /// Those of `replace`.
    pub fn with_sources(mut self, replace: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        for layer in self.base.iter_mut().chain(&mut self.fixed) {
            let source = layer.get_mut("data").and_then(|data| data.get_mut("source"));
            source.map_or(Ok(()), |source| replace_text(source, replace))?;
        }
        let keys = self.grids.iter_mut().flat_map(|grid| &mut grid.0);
        for (_, values) in keys.filter(|(key, _)| key == "data.source") {
            if let Values::List(sources) = values {
                sources.iter_mut().try_for_each(|source| replace_text(source, replace))?;
            }
        }
        Ok(self)
    }

    /// Adds a loss with its grid.
    ///
    /// # Errors
    /// If there is no such loss.
    pub fn with_loss(mut self, name: &str, grid: LossGrid) -> Result<Self> {
        let Some(entry) = LOSSES.iter().find(|entry| entry.name == name) else {
            let known = LOSSES.iter().map(|entry| entry.name);
            return Err(unknown_name("loss", name, known).field("loss").into());
        };
        self.grids.push(Grid::of_loss(entry, grid));
        Ok(self)
    }

    /// Sets the values of a key in the grids there are so far. A parameter of a loss is set for the losses that take it.
    #[must_use]
    pub fn with_values(mut self, key: &str, values: Vec<toml::Value>) -> Self {
        // If no loss takes it, it is set for all of them, so that the error names it.
        let somewhere = self.grids.iter().any(|grid| grid.takes(key));
        for grid in self.grids.iter_mut().filter(|grid| grid.takes(key) || !somewhere) {
            grid.set(key, Values::List(values.clone()));
        }
        self
    }

    /// Adds a closed-form model with its grid: the recommended values of each of its parameters, unless it is to be empty.
    /// Shared settings of the gradient trainer don't apply to it; those of the model do, unless losses are searched, too: then they
    /// are for the model of the losses.
    ///
    /// # Errors
    /// If there is no such model, or it is trained by gradients: such a model is searched over with a loss.
    pub fn with_model(mut self, name: &str, grid: LossGrid) -> Result<Self> {
        let Some(entry) = MODELS.iter().find(|entry| entry.name == name) else {
            let known = MODELS.iter().map(|entry| entry.name);
            return Err(unknown_name("model", name, known).field("model").into());
        };
        if !is_closed_form(name) {
            return Err(InputError::new(format!("{name} is trained with a loss"))
                .field("model")
                .help("add the grid of a loss, and fix model.type")
                .into());
        }
        self.grids.push(Grid::of_model(entry, grid));
        Ok(self)
    }

    /// Draws this many combinations of each grid at random instead of trying all.
    #[must_use]
    pub fn with_draws(mut self, trials: usize) -> Self {
        self.draws = Some(trials);
        self
    }

    /// Sets the number of seeds with which the best trial of each group is trained in the end.
    #[must_use]
    pub fn with_seeds(mut self, seeds: usize) -> Self {
        self.seeds = seeds;
        self
    }

    /// The number of seeds with which the best trial of each group is trained in the end.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// A trial with each of these seeds, or once if its model does not depend on the seed.
    pub(super) fn seeds_of(&self, trial: &Trial) -> Vec<Trial> {
        let seeds = if trial.config.model.uses_seed() { self.seeds } else { 1 };
        (0..seeds as u64).map(|offset| trial.with_seed(trial.config.seed + offset)).collect()
    }

    /// Whether there is a grid.
    pub fn has_grid(&self) -> bool {
        !self.grids.is_empty()
    }

    /// The trials, each once, in the order of the grids. Wherever there is something to search, the defaults of the loss
    /// are a trial, and so are the settings of a preset for these data, so that the search can't end below them. Random
    /// trials are drawn besides them, as many from each grid, so that every loss is searched.
    ///
    /// # Errors
    /// If a combination is not a valid config, no data are given, or there are too many combinations.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        let grids = self.open_grids()?;
        let mut drafts = Vec::new();
        for grid in grids.iter().filter(|grid| grid.is_search()) {
            for combination in grid.without_searched().combinations()? {
                drafts.extend(self.baselines(combination)?);
            }
        }
        let combinations = match self.draws {
            Some(draws) => self.drawn(&grids, draws)?,
            None => grids.iter().map(Grid::combinations).collect::<Result<Vec<_>>>()?.concat(),
        };
        let varied = varied(&combinations);
        for combination in combinations {
            drafts.push(self.draft(combination, None)?);
        }
        Ok(named(drafts, &varied))
    }

    /// The default of a combination that leaves out what is searched, and the preset for it if there is one.
    fn baselines(&self, combination: Combination) -> Result<Vec<Draft>> {
        let default = Draft { origin: Origin::Default, ..self.draft(combination.clone(), None)? };
        let config = &default.config;
        let key =
            CellKey::new(&config.data.source, config.model.name(), config.loss_name().unwrap_or_default());
        let mut baselines = vec![];
        if let Some((name, layer)) = hyperparameters(&key) {
            let preset = self.draft(combination, Some(layer))?;
            baselines.push(Draft { origin: Origin::Preset(name), ..preset });
        }
        baselines.insert(0, default);
        Ok(baselines)
    }

    /// The config of a combination, over a preset if there is one.
    fn draft(&self, mut combination: Combination, preset: Option<toml::Table>) -> Result<Draft> {
        let (mut base, mut fixed) = (self.base.clone(), self.fixed.clone());
        let is_model = |(key, value): &(String, toml::Value)| {
            key == "model.type" && value.as_str().is_some_and(is_closed_form)
        };
        if combination.iter().any(is_model) {
            let alone = self.has_closed_forms_alone();
            base.iter_mut().chain(&mut fixed).for_each(|layer| keep_task(layer, alone));
            combination.retain(|(key, _)| !is_gradient_setting(key));
        }
        let mut layers: Vec<toml::Table> = preset.into_iter().chain(base).collect();
        // Types first, because another type discards the parameters of the previous one.
        let (types, others): (Vec<_>, Vec<_>) =
            combination.iter().partition(|(key, _)| key.ends_with(".type"));
        for (key, value) in types.into_iter().chain(others) {
            layers.push(setting_layer(&format!("{key}={value}"))?);
        }
        layers.extend(fixed);
        let source = layers.iter().rev().find_map(|layer| layer.get("data")?.get("source")?.as_str());
        let Some(source) = source.filter(|source| !source.is_empty()).map(str::to_owned) else {
            return Err(no_source().field("data.source").into());
        };
        layers.insert(0, source_layer(&source));
        Ok(Draft { config: Config::from_layers(&layers)?, combination, origin: Origin::Searched })
    }

    /// The hyperparameters of a trial that lie at an end of the range that was searched.
    pub fn edges(&self, trial: &Trial) -> Result<Vec<Edge>> {
        let grids = self.open_grids()?;
        Ok(edges::of(trial, &grids, self.draws.is_some()))
    }

    /// The grids without the fixed keys.
    fn open_grids(&self) -> Result<Vec<Grid>> {
        let mut fixed = BTreeSet::new();
        for layer in &self.fixed {
            fixed.extend(keys(layer)?.into_iter().map(|(key, _)| key));
        }
        let alone = self.has_closed_forms_alone();
        // What is fixed of the model is for the models of losses, where there are any.
        let of_model = |key: &str| key == "model.type" || (!alone && key.starts_with("model."));
        let open = |grid: &Grid| grid.without(&fixed, |key| grid.is_of_closed_forms() && of_model(key));
        Ok(self.grids.iter().map(open).collect())
    }

    fn has_closed_forms_alone(&self) -> bool {
        self.grids.iter().all(Grid::is_of_closed_forms)
    }

    /// So many different random combinations of each grid; fewer if a grid has no more.
    fn drawn(&self, grids: &[Grid], draws: usize) -> Result<Vec<Combination>> {
        check_size(draws.saturating_mul(grids.len()), "trials")?;
        let mut drawn = Vec::new();
        for grid in grids {
            let (mut rng, mut seen) = (seeded(self.seed), BTreeSet::new());
            for _ in 0..draws * 20 {
                if seen.len() == draws {
                    break;
                }
                let one = grid.draw(&mut rng);
                if seen.insert(one.iter().map(|(key, value)| format!("{key}={value}\n")).collect::<String>())
                {
                    drawn.push(one);
                }
            }
        }
        Ok(drawn)
    }
}

/// Whether a key belongs to the gradient trainer alone.
fn is_gradient_setting(key: &str) -> bool {
    let section = ["loss.", "sampler.", "optim.", "train."].iter().any(|section| key.starts_with(section));
    section && key != "train.seed"
}

/// Removes the settings of the gradient trainer, the type of the model, and its settings unless they are to stay.
fn keep_task(layer: &mut toml::Table, settings_of_model_stay: bool) {
    let is_removed = |key: &str| {
        let of_model = key == "model.type" || (!settings_of_model_stay && key.starts_with("model."));
        of_model || is_gradient_setting(key)
    };
    layer.retain(|section, value| match value {
        toml::Value::Table(table) => {
            table.retain(|key, _| !is_removed(&format!("{section}.{key}")));
            !table.is_empty()
        }
        _ => true,
    });
}

fn replace_text(value: &mut toml::Value, replace: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    if let toml::Value::String(text) = value {
        *text = replace(text)?;
    }
    Ok(())
}

fn positive(count: Option<usize>, key: &str) -> Result<usize> {
    count.filter(|&n| n > 0).ok_or_else(|| InputError::new("expected a whole number ≥ 1").field(key).into())
}

#[cfg(test)]
mod tests;
