//! The second stage: models that are trained by gradients, in waves of successive halving.
//!
//! A wave starts nine trials, or as many as run in parallel, with a ninth of the epochs. The best third of them goes on to
//! a third of the epochs, and the best third of those to the end. The first trials are what `train` does by default and the
//! defaults of each loss; the others are drawn from its search space. Nothing is started that could not end within the
//! budget.

use rivalry::config::{Config, setting_layer};
use rivalry::train::trainer;

use super::closed_forms::no_time;
use super::search::{Search, changed_settings};
use super::{AutoEvent, Stage};
use crate::Result;
use crate::run::RunFolder;
use crate::sweep::{Halving, LossGrid, SearchSpace, SweepOptions, Trial, TrialState};

/// Losses of the softmax family, in the order in which their defaults are tried.
const SOFTMAX: [&str; 4] = ["dsl-ca", "cap", "sl", "sl@k"];
/// Every so many trials are of this loss, which scores by dot products and is fast.
const BPR: (&str, usize) = ("bpr", 5);

/// The trials that are drawn: more than any budget that makes sense.
const DRAWS: usize = 240;
/// The smallest wave: two halvings leave one.
const WAVE: usize = 9;

/// Evaluations in the smallest wave: nine trials come to the second, three of them to the sixth, one to the last.
const WAVE_EVALUATIONS: usize = 9 * 2 + 3 * 4 + 12;
/// Training pairs that a small machine trains in a second of the whole budget, of which the cheap models have their part.
const PAIRS_PER_SECOND: f64 = 60_000.0;
/// Epochs between two evaluations, at most.
const MOST_EPOCHS_BETWEEN: usize = 5;

/// Evaluations until the end of a training, and those without an improvement after which it stops.
const EVALUATIONS: usize = 18;
const PATIENCE: usize = 3;

/// Catalogues of at least this size are trained with shared negatives, which are faster then.
const LARGE_CATALOGUE: usize = 2000;
/// One pool for the whole batch: in the same time it learns more than several.
const SHARED: &str = "sampler={ type = 'shared', pairs = 1024 }";
/// Users who have a larger share of the catalogue leave too few negatives to share.
const MOST_SHARED: f64 = 0.9;

impl Search<'_> {
    /// Trains the models until the budget is spent. `false` if the user asked to stop.
    pub(super) fn gradient_models(&mut self) -> Result<bool> {
        let trials = self.gradient_trials()?;
        let Some(first) = trials.first() else { return Ok(true) };
        let halving = Halving::default();
        let size = WAVE.max(self.options.jobs);
        for (wave, trials) in trials.chunks(size).enumerate() {
            self.observer.auto(&AutoEvent::Stage(Stage::Gradient { wave: wave + 1 }));
            let Some(mut trained) = self.wave(trials.to_vec(), halving)? else { return Ok(false) };
            if !trained && wave == 0 {
                // Its first steps have shown what an epoch costs: there may be time for fewer of them.
                let Some(again) = self.wave(trials.to_vec(), halving)? else { return Ok(false) };
                trained = again;
            }
            if !trained {
                break;
            }
        }
        if self.folder.status(first)?.valid.is_none() {
            let seconds = self.clock.left_out(first);
            self.skip("mf", no_time(seconds));
        }
        Ok(true)
    }

    /// One wave: whether there was time for a trial of it; `None` if the user asked to stop.
    fn wave(&mut self, mut trials: Vec<Trial>, halving: Halving) -> Result<Option<bool>> {
        let mut reached = 0;
        for rung in 0..=halving.rungs {
            let Some(first) = trials.first() else { break };
            let Some(train) = first.config.gradient.as_ref().map(|gradient| &gradient.train) else { break };
            self.reserve()?;
            self.clock.stage(Some(1.0), None);
            let mut last_epoch = halving.last_epoch(rung, first);
            let next = reached + train.eval_every;
            if !self.clock.affords(first, last_epoch.unwrap_or(train.epochs) - reached) && next < train.epochs
            {
                last_epoch = Some(next);
            }
            let goal = last_epoch.unwrap_or(train.epochs);
            self.clock.stage(Some(1.0), Some((goal, reached)));
            let jobs = trials.iter().map(|trial| self.jobs_for(&trial.config)).min().unwrap_or(1);
            let options = SweepOptions { jobs, ..self.options };
            self.advance(&trials, last_epoch, &options)?;
            let mut values = Vec::new();
            for trial in trials {
                values.push((self.folder.best_value(&trial, last_epoch)?, trial));
            }
            values.sort_by(|a, b| b.0.total_cmp(&a.0));
            if self.clock.interrupted() {
                return Ok(None);
            }
            if values.first().is_none_or(|(value, _)| *value == f64::NEG_INFINITY) {
                return Ok(Some(false));
            }
            let promoted = if rung < halving.rungs { values.len().div_ceil(halving.eta) } else { 0 };
            let (promoted, dropped): (Vec<_>, Vec<_>) =
                values.into_iter().enumerate().partition(|(place, _)| *place < promoted);
            for (_, (_, trial)) in dropped {
                self.drop_checkpoint(&trial)?;
            }
            self.keep_best_models()?;
            trials = promoted.into_iter().map(|(_, (_, trial))| trial).collect();
            reached = goal;
        }
        Ok(Some(true))
    }

    /// All trials, in the order in which they are tried.
    fn gradient_trials(&mut self) -> Result<Vec<Trial>> {
        let default = self.default_trial()?;
        let sampler = match &default.config.gradient {
            Some(gradient) if gradient.sampler.name() == "shared" => setting_layer(SHARED)?,
            _ => toml::Table::new(),
        };
        let mut softmax = SearchSpace::new().with(self.task.clone()).with(self.schedule()?).with(sampler);
        for loss in SOFTMAX {
            softmax = softmax.with_loss(loss, LossGrid::BuiltIn)?;
        }
        let softmax = with_dimensions(softmax).with_draws(DRAWS).trials()?;
        let bpr = SearchSpace::new().with(self.task.clone()).with(self.schedule()?);
        let bpr = with_dimensions(bpr.with_loss(BPR.0, LossGrid::BuiltIn)?);
        let bpr = bpr.with_draws(DRAWS / BPR.1).trials()?;
        let mut trials = Vec::new();
        let mut bpr = bpr.into_iter();
        for block in softmax.chunks(BPR.1 - 1) {
            trials.extend_from_slice(block);
            trials.extend(bpr.next());
        }
        // Stable: the defaults first, then the draws in their order.
        trials.sort_by_key(|trial| !trial.is_baseline());
        trials.insert(0, default);
        let Some(first) = trials.first() else { return Ok(trials) };
        if let Err(refused) = trainer(&first.config, self.memory).check(&self.dataset) {
            self.skip("mf", refused.to_string().lines().next().unwrap_or_default().to_owned());
            return Ok(Vec::new());
        }
        Ok(trials)
    }

    /// What `train` would do without any settings, for as long as a trial is trained; with shared negatives in a large
    /// catalogue, unless some user has too many items for them.
    fn default_trial(&self) -> Result<Trial> {
        let layers = [self.task.clone(), self.schedule()?, setting_layer(SHARED)?];
        let config = |layers: &[toml::Table]| Config::from_layers_for(layers, self.dataset.train.len());
        let shared = config(&layers)?;
        let is_shared = self.dataset.items.len() >= LARGE_CATALOGUE
            && self.largest_share() <= MOST_SHARED
            && trainer(&shared, self.memory).check(&self.dataset).is_ok();
        let config = if is_shared { shared } else { config(&layers[..2])? };
        let settings = changed_settings(&config)?;
        Ok(Trial::new(config, settings))
    }

    /// The largest share of the catalogue that a user has in all sets together, with which the winner is trained in the end.
    fn largest_share(&self) -> f64 {
        let items_of = |user: u32| -> usize {
            self.dataset.parts().into_iter().map(|part| part.items_of(user).len()).sum()
        };
        let most = (0..self.dataset.users.len() as u32).map(items_of).max().unwrap_or_default();
        most as f64 / self.dataset.items.len().max(1) as f64
    }

    /// How long a trial is trained: for longer where a wave of such trials fits into the budget. It depends on the budget and
    /// the size of the data alone, so that the same command goes on with the same trials.
    fn schedule(&self) -> Result<toml::Table> {
        let wave = (WAVE_EVALUATIONS * self.dataset.train.len()) as f64;
        let eval_every = (self.clock.budget() * PAIRS_PER_SECOND / wave) as usize;
        let eval_every = eval_every.clamp(1, MOST_EPOCHS_BETWEEN);
        let epochs = EVALUATIONS * eval_every;
        let train =
            format!("train={{ epochs = {epochs}, eval_every = {eval_every}, patience = {PATIENCE} }}");
        setting_layer(&train)
    }

    /// Removes what a trial that is not promoted would need to go on.
    fn drop_checkpoint(&self, trial: &Trial) -> Result<()> {
        match RunFolder::open(&self.folder.path().join(&trial.name)) {
            Ok(folder) if self.folder.status(trial)?.state != TrialState::Pending => folder.drop_checkpoint(),
            _ => Ok(()),
        }
    }
}

fn with_dimensions(space: SearchSpace) -> SearchSpace {
    space.with_values("model.dim", [64, 128].map(toml::Value::Integer).to_vec())
}
