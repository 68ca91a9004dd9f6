//! The first stage: models that are fitted in one go, each with its defaults and then a small search.

use rivalry::config::Config;
use rivalry::models::Kind;
use rivalry::train::gradient::footprint;
use rivalry::train::trainer;

use super::search::Search;
use super::{Skipped, Stage};
use crate::sweep::{LossGrid, SearchSpace, SweepOptions, Trial, TrialState};
use crate::{Error, Result};

/// The models, cheap ones first. Popularity is fitted whatever the budget is.
const MODELS: [&str; 7] = ["popularity", "item-knn", "rp3beta", "turbo-cf", "fs-slim", "ials", "ease"];

/// The share of the budget that they may use at first; they go on with what the gradient models leave.
pub(super) const FIRST_SHARE: f64 = 0.4;

/// The most trials of a model, its defaults included.
const MOST_TRIALS: usize = 20;

/// Rounds of the search: how many trials a model has after each, and which part of the models it is for, the best by the
/// validation set. Where time is short, it goes to the models that lead; where it is not, all are searched.
const ROUNDS: [Round; 5] = [
    Round { trials: 3, best: 1.0 },
    Round { trials: 8, best: 0.5 },
    Round { trials: MOST_TRIALS, best: 0.25 },
    Round { trials: 8, best: 1.0 },
    Round { trials: MOST_TRIALS, best: 0.5 },
];

struct Round {
    trials: usize,
    best: f64,
}

/// The trials of one model.
struct Candidate {
    trials: Vec<Trial>,
    /// The number of trials in parallel that fit into memory.
    jobs: usize,
    done: usize,
}

impl Candidate {
    fn has_more(&self, trials: usize) -> bool {
        self.done < trials.min(self.trials.len())
    }
}

impl Search<'_> {
    /// Fits the models, within this share of the budget. What is fitted already is not fitted again. `false` if the user
    /// asked to stop.
    pub(super) fn closed_forms(&mut self, share: f64) -> Result<bool> {
        self.skipped.retain(|skipped| !MODELS.contains(&&skipped.model[..]));
        self.observer.auto(&super::AutoEvent::Stage(Stage::ClosedForms));
        let mut candidates = Vec::new();
        for model in MODELS {
            let Some(mut candidate) = self.candidate(model)? else { continue };
            // The defaults of every model, with all threads; popularity takes no time.
            self.clock.stage((model != MODELS[0]).then_some(share), None);
            self.fit(&mut candidate, 1)?;
            if self.clock.interrupted() {
                return Ok(false);
            }
            let name = self.folder.status(&candidate.trials[0])?;
            match (name.state, self.clock.left_out(&candidate.trials[0])) {
                (TrialState::Finished, _) => candidates.push(candidate),
                (TrialState::Failed(reason), _) => self.skip(model, reason),
                (_, seconds) => self.skip(model, no_time(seconds)),
            }
        }
        for Round { trials, best } in ROUNDS {
            candidates = self.best_first(candidates)?;
            let part = (candidates.len() as f64 * best).ceil() as usize;
            if !self.fit_in_turns(&mut candidates[..part], trials)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The models in the order of their best values on the validation set.
    fn best_first(&self, candidates: Vec<Candidate>) -> Result<Vec<Candidate>> {
        let mut ranked: Vec<(f64, Candidate)> = Vec::new();
        for candidate in candidates {
            let values: Result<Vec<f64>> = candidate.trials.iter().map(|trial| self.valid(trial)).collect();
            ranked.push((values?.into_iter().fold(f64::NEG_INFINITY, f64::max), candidate));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(ranked.into_iter().map(|(_, candidate)| candidate).collect())
    }

    /// Fits each model up to so many trials. The model that has had the least time is next, so that one whose fits take long
    /// does not keep the others waiting. `false` if the user asked to stop.
    fn fit_in_turns(&mut self, candidates: &mut [Candidate], trials: usize) -> Result<bool> {
        let mut open: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| candidate.has_more(trials)).collect();
        while !open.is_empty() {
            let seconds: Vec<f64> =
                open.iter().map(|candidate| self.seconds(candidate)).collect::<Result<_>>()?;
            let next = (0..open.len()).min_by(|&a, &b| seconds[a].total_cmp(&seconds[b])).unwrap_or_default();
            let candidate = &mut *open[next];
            let before = candidate.done;
            let more = candidate.jobs.min(trials - before);
            self.fit(candidate, more)?;
            if self.clock.interrupted() {
                return Ok(false);
            }
            // There was no time for another one.
            if candidate.done == before || !candidate.has_more(trials) {
                open.remove(next);
            }
        }
        Ok(true)
    }

    /// The time that the trials of a model have taken, on the clock.
    fn seconds(&self, candidate: &Candidate) -> Result<f64> {
        Ok(self.trial_seconds(candidate)?.iter().sum::<f64>() / candidate.jobs as f64)
    }

    /// The seconds of each finished trial of a model.
    fn trial_seconds(&self, candidate: &Candidate) -> Result<Vec<f64>> {
        let mut seconds = Vec::new();
        for trial in &candidate.trials[..candidate.done] {
            let outcome = self.folder.status(trial)?.outcome;
            seconds.extend(outcome.map(|outcome| outcome.seconds.train + outcome.seconds.eval));
        }
        Ok(seconds)
    }

    /// The trials of a model; `None` if it does not fit into memory.
    fn candidate(&mut self, model: &str) -> Result<Option<Candidate>> {
        let space = SearchSpace::new()
            .with(self.task.clone())
            .with_model(model, LossGrid::BuiltIn)?
            .with_draws(MOST_TRIALS);
        let mut trials = space.trials()?;
        trials.truncate(MOST_TRIALS);
        let Some(first) = trials.first() else { return Ok(None) };
        if let Err(refused) = trainer(&first.config, self.memory).check(&self.dataset) {
            self.skip(model, refused.to_string().lines().next().unwrap_or_default().to_owned());
            return Ok(None);
        }
        // Small models first, which take less time: more settings are tried in what there is. The defaults stay in front.
        trials[1..].sort_by_key(|trial| self.needed(&trial.config));
        let jobs = trials.iter().map(|trial| self.jobs_for(&trial.config)).min().unwrap_or(1);
        Ok(Some(Candidate { trials, jobs, done: 0 }))
    }

    /// The memory that a training takes.
    fn needed(&self, config: &Config) -> u64 {
        match (config.model.entry().build, &config.gradient) {
            (Kind::ClosedForm(build), _) => build(config.model.params()).memory(&self.dataset.train),
            (Kind::Gradient(_), Some(gradient)) => footprint(&self.dataset, config, gradient),
            (Kind::Gradient(_), None) => 0,
        }
    }

    /// How many trainings of a model fit into memory at once.
    pub(super) fn jobs_for(&self, config: &Config) -> usize {
        let limit = self.memory.get().unwrap_or(u64::MAX);
        usize::try_from(limit / self.needed(config).max(1)).unwrap_or(usize::MAX).clamp(1, self.options.jobs)
    }

    /// Fits the next trials of a model, as many as there is time for.
    fn fit(&mut self, candidate: &mut Candidate, trials: usize) -> Result<()> {
        let seconds = self.trial_seconds(candidate)?;
        let mean = crate::stats::mean(&seconds);
        let mut affordable = match seconds.is_empty() || mean <= 0.0 {
            true => trials,
            false => (self.clock.remaining().max(0.0) * candidate.jobs as f64 / mean) as usize,
        };
        let mut next = Vec::new();
        for trial in candidate.trials.iter().skip(candidate.done).take(trials) {
            // What an earlier process has done costs nothing.
            let is_over = self.folder.status(trial)?.is_over();
            if !is_over && affordable == 0 {
                break;
            }
            affordable -= usize::from(!is_over);
            next.push(trial.clone());
        }
        candidate.done += next.len();
        let options = SweepOptions { jobs: candidate.jobs, ..self.options };
        self.advance(&next, None, &options)?;
        self.keep_best_models()
    }

    /// Notes that something was not tried.
    pub(super) fn skip(&mut self, model: &str, reason: String) {
        let skipped = Skipped { model: model.to_owned(), reason };
        self.observer.auto(&super::AutoEvent::Skipped(&skipped));
        self.skipped.push(skipped);
    }
}

/// The reason why a trial was left out.
pub(super) fn no_time(seconds: Option<f64>) -> String {
    match seconds.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => format!("no time: it would take about {:.0} seconds", seconds.ceil()),
        None => "no time".to_owned(),
    }
}

/// The error if not even popularity could be fitted.
pub(super) fn nothing_fitted(reason: Option<&Skipped>) -> Error {
    let reason = reason.map_or("the search was stopped", |skipped| &skipped.reason[..]);
    crate::InputError::new(format!("no model could be fitted: {reason}")).into()
}

#[cfg(test)]
mod tests {
    use rivalry::config::source_layer;
    use rivalry::data::LoadOptions;

    use crate::auto::clock::Clock;
    use crate::auto::record::SpentFile;
    use crate::auto::tests::Silent;
    use crate::auto::{Auto, AutoOptions};
    use crate::sweep::Trial;

    #[test]
    fn small_models_come_first_after_the_defaults() {
        let options = AutoOptions {
            settings: source_layer("synthetic"),
            metric: None,
            minutes: 1.0,
            threads: 2,
            load: LoadOptions::default(),
        };
        let auto = Auto::new(options).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let spent = SpentFile::in_folder(folder.path());
        let clock = Clock::new(&Silent, 60.0, &spent).unwrap();
        let mut search = auto.search(folder.path(), clock, &Silent).unwrap();
        let candidate = search.candidate("ials").unwrap().unwrap();
        let dim = |trial: &Trial| trial.config.model.params().count("dim");
        let dims: Vec<usize> = candidate.trials.iter().map(dim).collect();
        assert!(candidate.trials[0].is_baseline());
        assert!(dims[1..].is_sorted() && dims[1] < dims[dims.len() - 1], "{dims:?}");
    }
}
