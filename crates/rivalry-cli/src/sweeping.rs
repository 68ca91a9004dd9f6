//! What `sweep` and `reproduce` share: parallelism and the progress display.

use std::collections::{HashMap, HashSet};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rivalry::Error;
use rivalry::data::LoadOptions;
use rivalry::eval::MetricAt;
use rivalry::memory::MemoryLimit;
use rivalry_runs::sweep::{
    Rung, Stop, SweepObserver, SweepOptions, Trial, TrialEvent, TrialState, TrialStatus,
};

use crate::args::Machine;
use crate::output::say;
use crate::signals::stop_requested;
use crate::training::damage_note;

/// All threads, with one trial per thread: small trainings are faster with one core each than one after another with all
/// cores.
pub fn sweep_options(jobs: Option<u16>) -> SweepOptions {
    let threads = rayon::current_num_threads();
    let jobs = jobs.map_or(threads, usize::from).clamp(1, threads);
    SweepOptions { jobs, threads, halving: None, keep_models: false, shard: None }
}

/// How each of the parallel trials loads its data; they share the memory limit.
pub fn load_options_per_job(machine: &Machine, data_dir: Option<&Path>, jobs: usize) -> LoadOptions {
    let memory = machine.max_memory.map(|bytes| MemoryLimit::bytes(bytes / jobs as u64));
    LoadOptions { memory: memory.unwrap_or_default(), ..machine.load_options(data_dir) }
}

/// Progress of many trainings: a bar on a terminal, one line per trial elsewhere, nothing if quiet.
pub struct SweepDisplay {
    state: Mutex<DisplayState>,
}

struct DisplayState {
    bar: Option<ProgressBar>,
    lines: bool,
    metric: MetricAt,
    trials: usize,
    /// The fraction of each trial that is done.
    parts: HashMap<String, f64>,
    left: HashMap<String, TrialState>,
    rung: Option<Rung>,
    /// The trials that have come to the end of the rung.
    through: HashSet<String>,
    best: Option<(f64, String)>,
}

/// The steps of the bar per trial.
const STEPS: f64 = 1000.0;

impl SweepDisplay {
    pub fn new(quiet: bool, trials: usize, metric: MetricAt) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {eta} left\n{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
            let bar = ProgressBar::new((trials as f64 * STEPS) as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        let state = DisplayState {
            bar,
            lines: !quiet && !terminal,
            metric,
            trials,
            parts: HashMap::new(),
            left: HashMap::new(),
            rung: None,
            through: HashSet::new(),
            best: None,
        };
        Self { state: Mutex::new(state) }
    }

    fn shown(&self) -> MutexGuard<'_, DisplayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SweepObserver for SweepDisplay {
    fn observe(&self, trial: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop> {
        let mut shown = self.shown();
        match event {
            TrialEvent::Damaged(damage) => shown.say_damaged(damage),
            TrialEvent::Step { done, total } => {
                shown.parts.insert(trial.name.clone(), *done as f64 / (*total).max(1) as f64);
            }
            TrialEvent::Evaluated(record) => {
                let value = record.valid.as_ref().and_then(|valid| valid.get(&shown.metric)).copied();
                shown.note_best(trial, value);
            }
            TrialEvent::Left(status) => shown.leave(trial, status),
            _ => {}
        }
        shown.draw();
        if stop_requested() { ControlFlow::Break(Stop::Sweep) } else { ControlFlow::Continue(()) }
    }

    fn begin(&self, rung: Rung) {
        let mut shown = self.shown();
        shown.rung = (rung.of > 1).then_some(rung);
        shown.through.clear();
        if let (true, Some(Rung { number, of, trials })) = (shown.lines, shown.rung) {
            say(format_args!("rung {number}/{of}: {trials} trials"));
        }
        shown.draw();
    }
}

impl DisplayState {
    /// Reports a damaged file, even with `--quiet`: the disk may be failing.
    fn say_damaged(&self, damage: &Error) {
        let note = || say(damage_note(damage));
        match &self.bar {
            Some(bar) => bar.suspend(note),
            None => note(),
        }
    }

    fn note_best(&mut self, trial: &Trial, value: Option<f64>) {
        let best = self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.0);
        if let Some(value) = value.filter(|value| *value > best) {
            self.best = Some((value, describe(trial)));
        }
    }

    fn leave(&mut self, trial: &Trial, status: &TrialStatus) {
        self.note_best(trial, status.valid);
        self.through.insert(trial.name.clone());
        if status.is_over() {
            self.parts.insert(trial.name.clone(), 1.0);
        }
        // Trials are reported again after each rung, but not if their state has not changed.
        let is_new =
            self.left.insert(trial.name.clone(), status.state.clone()).as_ref() != Some(&status.state);
        if self.lines && is_new {
            let metric = self.metric;
            let figure = match (&status.state, status.valid) {
                (TrialState::Failed(reason), _) => format!("failed: {reason}"),
                (TrialState::Running(epoch) | TrialState::Pruned(epoch), Some(value)) => {
                    format!("validation {metric} {value:.4} up to epoch {epoch}")
                }
                (_, Some(value)) => format!("validation {metric} {value:.4}"),
                _ => "finished".to_owned(),
            };
            say(format_args!("{}   {}   {figure}", self.count(), describe(trial)));
        }
    }

    fn done(&self) -> usize {
        self.left
            .values()
            .filter(|state| matches!(state, TrialState::Finished | TrialState::Failed(_)))
            .count()
    }

    /// How many of the trials are through: of the rung where there are rungs, otherwise of the sweep.
    fn count(&self) -> String {
        match self.rung {
            Some(Rung { number, of, trials }) => {
                format!("rung {number}/{of} {}/{trials}", self.through.len())
            }
            None => format!("{}/{}", self.done(), self.trials.max(self.done())),
        }
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        bar.set_length((self.trials.max(self.parts.len()) as f64 * STEPS) as u64);
        bar.set_position((self.parts.values().sum::<f64>() * STEPS) as u64);
        bar.set_prefix(format!("{} trials", self.count()));
        if let Some((value, who)) = &self.best {
            bar.set_message(format!("best on validation: {} {value:.4} with {who}", self.metric));
        }
    }
}

impl Drop for SweepDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown().bar {
            bar.finish_and_clear();
        }
    }
}

/// A short description of a trial: its group, and the settings in which the trials differ.
fn describe(trial: &Trial) -> String {
    let settings = trial.settings.iter().filter(|(key, _)| !["loss.type", "model.type"].contains(&&key[..]));
    let settings: Vec<String> =
        settings.map(|(key, value)| format!("{} {value}", key.trim_start_matches("loss."))).collect();
    format!("{} {}", trial.group(), settings.join(", ")).trim_end().to_owned()
}
