//! What is to be tried: settings that all trials share, and grids of those they differ in.

use std::collections::BTreeSet;
use std::path::Path;

use super::Trial;
use super::values::{Values, keys};
use rivalry::config::{Config, no_source, read_layer, setting_layer, source_layer};
use rivalry::loss::LOSSES;
use rivalry::params::{Param, Value};
use rivalry::rng::seeded;
use rivalry::{Error, InputError, Result, unknown_name};

/// More trials than anyone has time for: a grid that multiplied out to this is a slip.
const MOST_TRIALS: usize = 100_000;

/// A search over settings.
///
/// ```
/// use rivalry_runs::experiment::Search;
/// let search = Search::parse(
///     "base = { data.source = 'synthetic', train.epochs = 10 }
///      grid = { loss.type = 'dsl', loss.tau = [0.1, 0.2], loss.alpha = [1, 2, 3] }",
/// )
/// .unwrap();
/// assert_eq!(search.trials().unwrap().len(), 6);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    base: Vec<toml::Table>,
    grids: Vec<Grid>,
    fixed: Vec<toml::Table>,
    draws: Option<usize>,
    seed: u64,
    seeds: usize,
}

impl Search {
    /// A search with nothing in it yet.
    pub fn new() -> Self {
        Self { seeds: 1, ..Self::default() }
    }

    /// Reads a search file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_table(read_layer(path)?).map_err(|error| match error {
            Error::Input(error) => error.file(path).into(),
            other => other,
        })
    }

    /// A search from TOML: `base`, the settings of all trials; `grid`, one table or several, in which a list is what to
    /// try; `trials`, to draw so many at random instead of trying all; `seed` of these draws; `seeds`, from how many
    /// seeds the best of each loss is trained in the end.
    pub fn parse(text: &str) -> Result<Self> {
        let table = text.parse().map_err(|e: toml::de::Error| InputError::new(e.message().trim()))?;
        Self::from_table(table)
    }

    fn from_table(table: toml::Table) -> Result<Self> {
        const KEYS: [&str; 5] = ["base", "grid", "trials", "seed", "seeds"];
        let mut search = Self::new();
        for (key, value) in table {
            let expected = |what: &str| InputError::new(format!("expected {what}")).field(&key);
            let count = |value: &toml::Value| value.as_integer().and_then(|n| usize::try_from(n).ok());
            match (&key[..], value) {
                ("base", toml::Value::Table(base)) => search.base.push(base),
                ("grid", toml::Value::Table(grid)) => search.grids.push(grid_keys(&grid)?),
                ("grid", toml::Value::Array(grids)) => {
                    for grid in grids {
                        let grid = grid.as_table().ok_or_else(|| expected("tables of settings"))?;
                        search.grids.push(grid_keys(grid)?);
                    }
                }
                ("trials", n) => search.draws = Some(positive(count(&n), &key)?),
                ("seed", n) => search.seed = count(&n).ok_or_else(|| expected("a whole number"))? as u64,
                ("seeds", n) => search.seeds = positive(count(&n), &key)?,
                ("base" | "grid", _) => return Err(expected("a table of settings").into()),
                _ => return Err(unknown_name("key", &key, KEYS).field("search").into()),
            }
        }
        Ok(search)
    }

    /// Adds settings for all trials, over those there are and over those of the grids: a key that is fixed is no longer
    /// searched over.
    #[must_use]
    pub fn with(mut self, layer: toml::Table) -> Self {
        self.fixed.push(layer);
        self
    }

    /// Replaces what is said of the data, wherever it is said.
    pub fn with_sources(mut self, replace: &dyn Fn(&str) -> Result<String>) -> Result<Self> {
        for layer in self.base.iter_mut().chain(&mut self.fixed) {
            let source = layer.get_mut("data").and_then(|data| data.get_mut("source"));
            source.map_or(Ok(()), |source| replace_text(source, replace))?;
        }
        for (_, values) in self.grids.iter_mut().flatten().filter(|(key, _)| key == "data.source") {
            if let Values::List(sources) = values {
                sources.iter_mut().try_for_each(|source| replace_text(source, replace))?;
            }
        }
        Ok(self)
    }

    /// Adds the grid a loss is usually searched over: that of the paper, for each of its parameters.
    pub fn with_loss(mut self, name: &str) -> Result<Self> {
        let Some(entry) = LOSSES.iter().find(|entry| entry.name == name) else {
            return Err(unknown_name("loss", name, LOSSES.iter().map(|entry| entry.name))
                .field("loss")
                .into());
        };
        let value = |param: &Param, x: f64| match param.default {
            Value::Count(_) => toml::Value::Integer(x as i64),
            _ => toml::Value::Float(x),
        };
        let mut grid = vec![("loss.type".to_owned(), Values::List(vec![name.into()]))];
        grid.extend(entry.params.iter().filter(|param| !param.grid.is_empty()).map(|param| {
            let values = param.grid.iter().map(|&x| value(param, x)).collect();
            (format!("loss.{}", param.name), Values::List(values))
        }));
        self.grids.push(grid);
        Ok(self)
    }

    /// Draws so many trials at random from the grids instead of trying all.
    #[must_use]
    pub fn with_draws(mut self, trials: usize) -> Self {
        self.draws = Some(trials);
        self
    }

    /// In the end the best of each loss is trained from so many seeds.
    #[must_use]
    pub fn with_seeds(mut self, seeds: usize) -> Self {
        self.seeds = seeds;
        self
    }

    /// From how many seeds the best of each loss is trained in the end.
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// Whether a grid is there.
    pub fn has_grid(&self) -> bool {
        !self.grids.is_empty()
    }

    /// The trials, each once, in the order of the grids.
    pub fn trials(&self) -> Result<Vec<Trial>> {
        let grids = self.open_grids()?;
        let combinations = match self.draws {
            Some(draws) => self.drawn(&grids, draws)?,
            None => all(&grids)?,
        };
        let varied = varied(&combinations);
        let (mut trials, mut names) = (Vec::new(), BTreeSet::new());
        for combination in combinations {
            let mut layers = self.base.clone();
            // Types first: naming another one leaves the old one's settings behind.
            let (types, others): (Vec<_>, Vec<_>) =
                combination.iter().partition(|(key, _)| key.ends_with(".type"));
            for (key, value) in types.into_iter().chain(others) {
                layers.push(setting_layer(&format!("{key}={value}"))?);
            }
            layers.extend(self.fixed.iter().cloned());
            let source = layers.iter().rev().find_map(|layer| layer.get("data")?.get("source")?.as_str());
            let Some(source) = source.filter(|source| !source.is_empty()).map(str::to_owned) else {
                return Err(no_source().field("data.source").into());
            };
            layers.insert(0, source_layer(&source));
            let config = Config::from_layers(&layers)?;
            let settings = combination.into_iter().filter(|(key, _)| varied.contains(key)).collect();
            let trial = Trial::new(config, settings);
            if names.insert(trial.name.clone()) {
                trials.push(trial);
            }
        }
        Ok(trials)
    }

    /// The grids without the keys that are fixed.
    fn open_grids(&self) -> Result<Vec<Grid>> {
        let mut fixed = BTreeSet::new();
        for layer in &self.fixed {
            fixed.extend(keys(layer)?.into_iter().map(|(key, _)| key));
        }
        let open = |grid: &Grid| grid.iter().filter(|(key, _)| !fixed.contains(key)).cloned().collect();
        Ok(self.grids.iter().map(open).collect())
    }

    /// Draws in turn from each grid. What was drawn before is drawn again, so a grid may have too few points.
    fn drawn(&self, grids: &[Grid], draws: usize) -> Result<Vec<Combination>> {
        if draws > MOST_TRIALS {
            return Err(too_many("the search draws").field("trials").into());
        }
        let (mut drawn, mut seen) = (Vec::new(), BTreeSet::new());
        let mut rng = seeded(self.seed);
        for attempt in 0..draws * 20 {
            if drawn.len() == draws || grids.is_empty() {
                break;
            }
            let grid = &grids[attempt % grids.len()];
            let one: Combination =
                grid.iter().map(|(key, values)| (key.clone(), values.draw(&mut rng))).collect();
            if seen.insert(one.iter().map(|(key, value)| format!("{key}={value}\n")).collect::<String>()) {
                drawn.push(one);
            }
        }
        Ok(drawn)
    }
}

/// What may stand at each key.
type Grid = Vec<(String, Values)>;

/// A value for each key.
type Combination = Vec<(String, toml::Value)>;

/// Every point of every grid.
fn all(grids: &[Grid]) -> Result<Vec<Combination>> {
    let mut all = Vec::new();
    for grid in grids {
        let mut combinations = vec![Combination::new()];
        for (key, values) in grid {
            let Values::List(values) = values else {
                return Err(InputError::new("a stretch has no end of values to try")
                    .field(key)
                    .help("say how many trials to draw (trials = 50), or give a list of values")
                    .into());
            };
            let one_more = |so_far: &Combination| {
                let so_far = so_far.clone();
                values.iter().map(move |v| so_far.iter().cloned().chain([(key.clone(), v.clone())]).collect())
            };
            if combinations.len().saturating_mul(values.len()) > MOST_TRIALS {
                return Err(too_many("the grid has").field("grid").into());
            }
            combinations = combinations.iter().flat_map(one_more).collect();
        }
        all.extend(combinations);
    }
    Ok(all)
}

/// The keys of a grid. In TOML what follows `[[grid]]` belongs to it, so the search's own keys get lost there easily.
fn grid_keys(grid: &toml::Table) -> Result<Grid> {
    match ["trials", "seed", "seeds"].iter().find(|key| grid.contains_key(**key)) {
        Some(key) => Err(InputError::new("stands in a grid, and is no setting of a trial")
            .field(*key)
            .help("move it to the top of the file, before [base] and [[grid]]")
            .into()),
        None => keys(grid),
    }
}

fn too_many(which: &str) -> InputError {
    InputError::new(format!("{which} more than {MOST_TRIALS} trials"))
        .help("try fewer values, or draw some of them (trials = 50)")
}

fn replace_text(value: &mut toml::Value, replace: &dyn Fn(&str) -> Result<String>) -> Result<()> {
    if let toml::Value::String(text) = value {
        *text = replace(text)?;
    }
    Ok(())
}

/// The keys that don't have the same value everywhere.
fn varied(combinations: &[Combination]) -> BTreeSet<String> {
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

fn positive(count: Option<usize>, key: &str) -> Result<usize> {
    count.filter(|&n| n > 0).ok_or_else(|| InputError::new("expected a whole number ≥ 1").field(key).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(text: &str) -> Result<Vec<Trial>> {
        Search::parse(&format!("base = {{ data.source = 'synthetic' }}\n{text}"))?.trials()
    }

    fn tau(trial: &Trial) -> f64 {
        trial.config.gradient.as_ref().unwrap().loss.params().number("tau")
    }

    #[test]
    fn a_grid_is_every_combination_once_and_says_what_varies() {
        let found =
            trials("grid = { loss.type = 'dsl', loss.tau = [0.1, 0.2, 0.1], optim.lr = [0.1, 0.01] }")
                .unwrap();
        assert_eq!(found.len(), 4);
        let keys: Vec<&str> = found[0].settings.iter().map(|(key, _)| &key[..]).collect();
        assert_eq!(keys, ["loss.tau", "optim.lr"]);
        assert!(found.iter().all(|trial| trial.name.starts_with("dsl-")));
        let two = trials("[[grid]]\nloss = { type = 'sl', tau = [0.1, 0.2] }\n[[grid]]\nloss.type = 'bpr'")
            .unwrap();
        assert_eq!(two.iter().map(|trial| trial.contest()[2]).collect::<Vec<_>>(), ["sl", "sl", "bpr"]);
    }

    #[test]
    fn draws_are_different_repeatable_and_within_their_stretch() {
        let text =
            "trials = 7\ngrid = { loss.type = 'sl', loss.tau = { from = 0.01, to = 1.0, log = true } }";
        let (first, again) = (trials(text).unwrap(), trials(text).unwrap());
        assert_eq!((first.len(), &first), (7, &again));
        assert!(first.iter().all(|t| (0.01..=1.0).contains(&tau(t))));
        assert_ne!(trials(&format!("seed = 1\n{text}")).unwrap(), first);
        let whole =
            "trials = 5\ngrid = { loss.type = 'sl', train.negatives = { from = 10, to = 90, whole = true } }";
        let negatives: Vec<_> = trials(whole)
            .unwrap()
            .iter()
            .map(|t| t.config.gradient.as_ref().unwrap().train.negatives)
            .collect();
        assert!(negatives.len() == 5 && negatives.iter().all(|n| (10..=90).contains(n)), "{negatives:?}");
        // There are only two points, however many are wanted.
        assert_eq!(trials("trials = 9\ngrid = { loss.type = ['sl', 'bpr'] }").unwrap().len(), 2);
    }

    #[test]
    fn what_is_fixed_is_not_searched_over() {
        let search = Search::new().with_loss("dsl-ca").unwrap().with_loss("sl").unwrap();
        let fix = |setting: &str| setting_layer(setting).unwrap();
        let search = search.with(fix("data.source=synthetic")).with(fix("loss.tau=0.33"));
        let found = search.trials().unwrap();
        assert_eq!(found.len(), 6, "five α of dsl-ca, and sl with nothing left to try");
        assert!(found.iter().all(|trial| tau(trial) == 0.33));
        assert!(found.iter().all(|trial| trial.settings.iter().all(|(key, _)| key != "loss.tau")));
        // As many are drawn as there would be without the key.
        assert_eq!(search.with_draws(4).trials().unwrap().len(), 4);
    }

    #[test]
    fn data_can_be_searched_over_and_are_replaced_wherever_they_are_named() {
        let search = Search::parse("grid = { loss.type = 'sl', data.source = ['a.csv', 'b.csv'] }").unwrap();
        let search = search.with_sources(&|source| Ok(format!("/there/{source}"))).unwrap();
        let found = search.trials().unwrap();
        let sources: Vec<&str> = found.iter().map(|trial| &trial.config.data.source[..]).collect();
        assert_eq!(sources, ["/there/a.csv", "/there/b.csv"]);
        let error = Search::parse("grid = { loss.type = 'sl' }").unwrap().trials().unwrap_err();
        assert!(error.to_string().starts_with("data.source: no data to train on"), "{error}");
    }

    #[test]
    fn every_loss_has_a_grid_of_its_own() {
        let of = |loss: &str| {
            let source = setting_layer("data.source=synthetic").unwrap();
            Search::new().with(source).with_loss(loss).unwrap().trials().unwrap().len()
        };
        assert_eq!([of("sl"), of("dsl"), of("dsl-ca"), of("bpr")], [6, 150, 30, 1]);
        assert!(LOSSES.iter().all(|entry| of(entry.name) >= 1));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |text: &str| trials(text).unwrap_err().to_string();
        assert!(error("grids = 3").contains("did you mean 'grid'?"));
        assert!(error("[[grid]]\nloss.type = 'sl'\nseeds = 5").contains("move it to the top of the file"));
        assert!(error("grid = { train.epochs = 'ten' }").starts_with("train.epochs: invalid type"));
        assert!(error("grid = { loss.tau = [] }").starts_with("loss.tau: there is nothing to try"));
        assert!(error("grid = { loss.taus = [1] }").contains("did you mean 'tau'?"));
        assert!(error("grid = { optim.lr = { from = 0.1, to = 1 } }").contains("no end of values"));
        assert!(error("trials = 3\ngrid = { optim.lr = { from = 1, to = 0.1 } }").contains("is no stretch"));
        assert!(
            error("trials = 300000\ngrid = { optim.lr = { from = 0.1, to = 1 } }")
                .contains("more than 100000")
        );
        assert!(error("trials = 0").contains("expected a whole number ≥ 1"));
    }
}
