//! What `sweep` and `reproduce` share: how much runs side by side, and one display for all of it.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rivalry_runs::sweep::{SweepObserver, SweepOptions, Trial, TrialEvent, TrialState, TrialStatus};

use crate::args::Machine;
use crate::output::say;
use crate::signals::stop_requested;

/// All threads, on as many trials as there are threads: small trainings gain more from having a core each than from
/// sharing two.
pub fn order(jobs: Option<usize>, machine: &Machine) -> SweepOptions {
    let threads = rayon::current_num_threads();
    let jobs = jobs.unwrap_or(threads).clamp(1, threads);
    // What may be taken is shared out, too.
    if let Some(bytes) = machine.max_memory {
        rivalry::memory::set_limit(bytes / jobs as u64);
    }
    SweepOptions { jobs, threads, halving: None, keep_models: false }
}

/// One display for many trainings: a bar on a terminal, a line a trial elsewhere, nothing when quiet.
pub struct Display {
    state: Mutex<Shown>,
}

struct Shown {
    bar: Option<ProgressBar>,
    lines: bool,
    metric: String,
    trials: usize,
    /// How much of each trial is done, of 1.
    parts: HashMap<String, f64>,
    left: HashMap<String, TrialState>,
    best: Option<(f64, String)>,
}

/// The bar's steps for one trial.
const STEPS: f64 = 1000.0;

impl Display {
    pub fn new(quiet: bool, trials: usize, metric: String) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {eta} left\n{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
            let bar = ProgressBar::new((trials as f64 * STEPS) as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        let (parts, left) = (HashMap::new(), HashMap::new());
        let lines = !quiet && !terminal;
        Self { state: Mutex::new(Shown { bar, lines, metric, trials, parts, left, best: None }) }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SweepObserver for Display {
    fn note(&self, trial: &Trial, moment: &TrialEvent<'_>) -> ControlFlow<()> {
        let mut shown = self.shown();
        match moment {
            TrialEvent::Step(done, all) => {
                shown.parts.insert(trial.name.clone(), *done as f64 / (*all).max(1) as f64);
            }
            TrialEvent::Evaluated(record) => {
                let value = record.valid.as_ref().and_then(|valid| valid.get(&shown.metric)).copied();
                shown.note_best(trial, value);
            }
            TrialEvent::Left(standing) => shown.leave(trial, standing),
            _ => {}
        }
        shown.draw();
        if stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Shown {
    fn note_best(&mut self, trial: &Trial, value: Option<f64>) {
        let best = self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.0);
        if let Some(value) = value.filter(|value| *value > best) {
            self.best = Some((value, describe(trial)));
        }
    }

    fn leave(&mut self, trial: &Trial, standing: &TrialStatus) {
        self.note_best(trial, standing.valid);
        if standing.is_over() {
            self.parts.insert(trial.name.clone(), 1.0);
        }
        // Trials of a second round are said again; those found as they were left are not.
        let news =
            self.left.insert(trial.name.clone(), standing.state.clone()).as_ref() != Some(&standing.state);
        if self.lines && news {
            let (metric, done) = (&self.metric, self.done());
            let figure = match (&standing.state, standing.valid) {
                (TrialState::Failed(reason), _) => format!("failed: {reason}"),
                (TrialState::Running(epoch), Some(value)) => {
                    format!("validation {metric} {value:.4} until epoch {epoch}")
                }
                (_, Some(value)) => format!("validation {metric} {value:.4}"),
                _ => "finished".to_owned(),
            };
            say(format_args!("{done}/{}   {}   {figure}", self.trials.max(done), describe(trial)));
        }
    }

    fn done(&self) -> usize {
        self.left
            .values()
            .filter(|state| matches!(state, TrialState::Finished | TrialState::Failed(_)))
            .count()
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        let done = self.done();
        bar.set_length((self.trials.max(self.parts.len()) as f64 * STEPS) as u64);
        bar.set_position((self.parts.values().sum::<f64>() * STEPS) as u64);
        bar.set_prefix(format!("{done}/{} trials", self.trials.max(done)));
        if let Some((value, who)) = &self.best {
            bar.set_message(format!("best on validation: {} {value:.4} with {who}", self.metric));
        }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown().bar {
            bar.finish_and_clear();
        }
    }
}

/// A trial in short: its model, and what it differs in.
fn describe(trial: &Trial) -> String {
    let [_, backbone, loss] = trial.contest();
    let settings = trial.settings.iter().filter(|(key, _)| !["loss.type", "model.type"].contains(&&key[..]));
    let settings: Vec<String> =
        settings.map(|(key, value)| format!("{} {value}", key.trim_start_matches("loss."))).collect();
    format!("{backbone} {loss} {}", settings.join(", ")).trim_end().to_owned()
}
