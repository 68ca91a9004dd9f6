//! What a sweep has to train next, for schedulers that train the trials elsewhere.

use super::select::best_of_each_group;
use super::{Halving, SearchSpace, SweepFolder, Trial};
use crate::Result;

/// A trial that is to be trained.
#[derive(Clone, Debug, PartialEq)]
pub struct NextTrial {
    /// The trial.
    pub trial: Trial,
    /// The epoch after whose evaluation it pauses; `None` if it is trained to its end.
    pub last_epoch: Option<usize>,
}

impl SweepFolder {
    /// The trials that can be trained now, by what is in the folder; none if the sweep is complete, and [`sweep`](Self::sweep)
    /// then only selects. All of a rung of successive halving are there before the next rung begins.
    ///
    /// # Errors
    /// If the search space is wrong, or a file of a trial can't be read.
    pub fn next_trials(&self, space: &SearchSpace, halving: Option<Halving>) -> Result<Vec<NextTrial>> {
        let trials = space.trials()?;
        halving.map_or(Ok(()), |_| Halving::check(&trials))?;
        let mut remaining = trials.clone();
        for rung in 0..=halving.map_or(0, |halving| halving.rungs) {
            let last_epoch = |trial: &Trial| halving.and_then(|halving| halving.last_epoch(rung, trial));
            let open = self.unfinished(&remaining, &last_epoch)?;
            if !open.is_empty() {
                return Ok(open);
            }
            if let Some(halving) = halving.filter(|halving| rung < halving.rungs) {
                let value = |trial: &Trial| self.best_value(trial, last_epoch(trial));
                let values: Vec<f64> = remaining.iter().map(value).collect::<Result<_>>()?;
                remaining = halving.promoted(remaining, &values);
            }
        }
        let statuses = self.statuses(&trials)?;
        let best = best_of_each_group(&trials, &statuses);
        let repeated: Vec<Trial> = best.into_iter().flat_map(|trial| space.seeds_of(trial)).collect();
        self.unfinished(&repeated, &|_| None)
    }

    fn unfinished(
        &self,
        trials: &[Trial],
        last_epoch: &dyn Fn(&Trial) -> Option<usize>,
    ) -> Result<Vec<NextTrial>> {
        let mut open = Vec::new();
        for trial in trials {
            let last_epoch = last_epoch(trial);
            if !self.status(trial)?.has_reached(last_epoch) {
                open.push(NextTrial { trial: trial.clone(), last_epoch });
            }
        }
        Ok(open)
    }
}
