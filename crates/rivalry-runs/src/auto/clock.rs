//! The time budget: what may still be started, and what is stopped.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::leaders::Leaders;
use super::record::SpentFile;
use super::{AutoEvent, AutoObserver};
use crate::Result;
use crate::sweep::{Stop, SweepObserver, Trial, TrialEvent};

/// Watches over the budget on behalf of an observer, and keeps the table of leaders.
pub(super) struct Clock<'a> {
    observer: &'a dyn AutoObserver,
    /// When the budget was last full.
    began: Instant,
    budget: f64,
    spent: &'a SpentFile,
    spent_before: f64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The share of the budget that the current stage may use; `None` if it may take as long as it likes.
    share: Option<f64>,
    /// Seconds that what follows the search takes.
    reserve: f64,
    /// Epochs that trials are trained to now, and from where; `None` for models without epochs.
    goal: Option<(usize, usize)>,
    paces: HashMap<String, Pace>,
    /// Seconds of an epoch, evaluations included, by model and dimension.
    epochs: HashMap<String, f64>,
    /// Trials that were not started or not finished, and their estimated seconds.
    left_out: HashMap<String, f64>,
    interrupted: bool,
    leaders: Leaders,
}

/// How fast a trial goes.
struct Pace {
    began: Instant,
    /// The first count of steps that was seen.
    first: Option<usize>,
}

/// A pace is measured over this share of the time that is left, so that a moment in which the machine is busy decides
/// nothing; but over a second at least, and no longer than this.
const SHARE_OF_A_PACE: f64 = 0.05;
const LONGEST_PACE: f64 = 10.0;
/// Estimates are too low as often as too high; this much is added.
const MARGIN: f64 = 1.2;

impl<'a> Clock<'a> {
    /// A budget in seconds, of which some are spent already.
    ///
    /// # Errors
    /// If the file of what is spent can't be read.
    pub fn new(observer: &'a dyn AutoObserver, budget: f64, spent: &'a SpentFile) -> Result<Self> {
        let spent_before = spent.read()?;
        Ok(Self { observer, began: Instant::now(), budget, spent, spent_before, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a stage that may use this share of the budget, or as much as it likes, and trains models to an epoch, from
    /// another.
    pub fn stage(&self, share: Option<f64>, goal: Option<(usize, usize)>) {
        let mut state = self.state();
        (state.share, state.goal) = (share, goal);
    }

    /// Keeps this many seconds for what follows the search.
    pub fn reserve(&self, seconds: f64) {
        self.state().reserve = seconds;
    }

    /// Seconds spent on the search, by earlier processes, too.
    pub fn spent(&self) -> f64 {
        self.spent_before + self.began.elapsed().as_secs_f64()
    }

    /// The whole budget, in seconds.
    pub fn budget(&self) -> f64 {
        self.budget
    }

    /// Seconds that the current stage has left.
    pub fn remaining(&self) -> f64 {
        self.remaining_in(&self.state())
    }

    fn remaining_in(&self, state: &State) -> f64 {
        let until = |share: f64| (self.budget * share).min(self.budget - state.reserve);
        state.share.map_or(f64::INFINITY, |share| until(share) - self.spent())
    }

    /// Whether the user asked to stop.
    pub fn interrupted(&self) -> bool {
        self.state().interrupted
    }

    /// Takes what is known of a trial from its folder.
    pub fn note(&self, trial: &Trial, value: Option<f64>, epoch: Option<usize>) {
        self.state().leaders.note(trial, value, epoch);
    }

    /// Seconds that a trial needs, if it was left out for lack of time.
    pub fn left_out(&self, trial: &Trial) -> Option<f64> {
        self.state().left_out.get(&trial.name).copied()
    }

    /// Seconds of an epoch of this trial, if one like it was trained; otherwise of the slowest.
    pub fn epoch_seconds(&self, trial: &Trial) -> Option<f64> {
        let state = self.state();
        let known = state.epochs.get(&kind(trial)).copied();
        known.or_else(|| state.epochs.values().copied().max_by(f64::total_cmp))
    }

    pub fn learn_epoch_seconds(&self, trial: &Trial, seconds: f64) {
        self.state().epochs.insert(kind(trial), seconds);
    }

    /// Whether there is time for this many epochs of a trial, as far as is known.
    pub fn affords(&self, trial: &Trial, epochs: usize) -> bool {
        self.epoch_seconds(trial).is_none_or(|seconds| MARGIN * seconds * epochs as f64 <= self.remaining())
    }

    /// Compares the pace of a trial with the time that is left for it.
    fn pace(&self, trial: &Trial, done: usize, total: usize) -> ControlFlow<Stop> {
        let mut state = self.state();
        let remaining = self.remaining_in(&state);
        let epochs = trial.config.gradient.as_ref().map_or(1, |gradient| gradient.train.epochs);
        let goal = state.goal.map_or(total, |(goal, _)| total * goal.min(epochs) / epochs);
        let Some(pace) = state.paces.get_mut(&trial.name) else { return ControlFlow::Continue(()) };
        let first = *pace.first.get_or_insert(done);
        let seconds = pace.began.elapsed().as_secs_f64();
        if seconds < (SHARE_OF_A_PACE * remaining).clamp(1.0, LONGEST_PACE) || done <= first {
            return ControlFlow::Continue(());
        }
        let left = seconds / (done - first) as f64 * goal.saturating_sub(done) as f64;
        if left <= remaining {
            return ControlFlow::Continue(());
        }
        if trial.config.gradient.is_some() {
            // So that no other of its kind is started.
            let epoch = seconds / (done - first) as f64 * total as f64 / epochs as f64;
            state.epochs.insert(kind(trial), epoch);
        }
        state.left_out.insert(trial.name.clone(), seconds + left);
        ControlFlow::Break(Stop::Trial)
    }
}

impl SweepObserver for Clock<'_> {
    fn observe(&self, trial: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop> {
        if self.observer.observe(trial, event).is_break() {
            self.state().interrupted = true;
            return ControlFlow::Break(Stop::Sweep);
        }
        let metric = trial.config.eval.selection_metric();
        match event {
            TrialEvent::Started(_) => {
                let pace = Pace { began: Instant::now(), first: None };
                self.state().paces.insert(trial.name.clone(), pace);
            }
            TrialEvent::Step { done, total } => {
                if let stop @ ControlFlow::Break(_) = self.pace(trial, *done, *total) {
                    return stop;
                }
            }
            TrialEvent::Evaluated(record) => {
                let seconds = (record.seconds.train + record.seconds.eval) / record.epoch as f64;
                self.learn_epoch_seconds(trial, seconds);
                let value = record.valid.as_ref().and_then(|valid| valid.get(&metric)).copied();
                self.lead(trial, value, Some(record.epoch));
            }
            TrialEvent::Left(status) => {
                // Best effort: if it can't be written, the trial could not be, either.
                let _ = self.spent.write(self.spent());
                self.lead(trial, status.valid, None);
            }
            _ => {}
        }
        if self.remaining() <= 0.0 { ControlFlow::Break(Stop::Sweep) } else { ControlFlow::Continue(()) }
    }

    fn admits(&self, trial: &Trial) -> bool {
        let estimate = self.epoch_seconds(trial);
        let mut state = self.state();
        let remaining = self.remaining_in(&state);
        let needed = match (state.goal, estimate) {
            (Some((goal, from)), Some(seconds)) => MARGIN * seconds * (goal - from) as f64,
            _ => 0.0,
        };
        if state.interrupted || needed > remaining {
            state.left_out.insert(trial.name.clone(), needed);
            return false;
        }
        true
    }
}

impl Clock<'_> {
    /// Reports a new leader of a model, or a new value of it.
    fn lead(&self, trial: &Trial, value: Option<f64>, epoch: Option<usize>) {
        let mut state = self.state();
        if state.leaders.note(trial, value, epoch) {
            let leaders = state.leaders.clone();
            drop(state);
            self.observer.auto(&AutoEvent::Led(&leaders));
        }
    }
}

/// Trials of one kind take the same time.
fn kind(trial: &Trial) -> String {
    format!("{} {:?}", trial.group(), trial.config.model.dim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auto::tests::Silent;
    use crate::sweep::SearchSpace;

    fn trials() -> Vec<Trial> {
        let space =
            "base = { data.source = 'synthetic', train.epochs = 90 }\ngrid = { loss.type = ['sl', 'bpr'] }";
        SearchSpace::parse(space).unwrap().trials().unwrap()
    }

    #[test]
    fn what_can_not_end_is_not_started() {
        let trials = trials();
        let folder = tempfile::tempdir().unwrap();
        let spent = SpentFile::in_folder(folder.path());
        spent.write(40.0).unwrap();
        let clock = Clock::new(&Silent, 100.0, &spent).unwrap();
        clock.stage(Some(1.0), Some((30, 10)));
        assert!(clock.admits(&trials[0]), "nothing is known of its cost");
        clock.learn_epoch_seconds(&trials[0], 2.0);
        assert!(clock.admits(&trials[0]), "48 seconds of 60");
        clock.reserve(20.0);
        assert!(!clock.admits(&trials[0]), "48 seconds of 40");
        assert!(!clock.admits(&trials[1]), "as slow as the slowest that is known");
        clock.learn_epoch_seconds(&trials[1], 0.5);
        assert!(clock.admits(&trials[1]));
        clock.stage(Some(0.4), Some((30, 10)));
        assert!(!clock.admits(&trials[1]), "the share of the stage is spent");
        assert!((clock.left_out(&trials[0]).unwrap() - 48.0).abs() < 1e-9);
    }

    #[test]
    fn a_budget_that_is_spent_stops_everything() {
        let trials = trials();
        let folder = tempfile::tempdir().unwrap();
        let spent = SpentFile::in_folder(folder.path());
        spent.write(2.0).unwrap();
        let clock = Clock::new(&Silent, 1.0, &spent).unwrap();
        clock.stage(Some(1.0), None);
        let step = TrialEvent::Step { done: 1, total: 9 };
        assert_eq!(clock.observe(&trials[0], &step), ControlFlow::Break(Stop::Sweep));
    }
}
