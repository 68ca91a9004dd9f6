//! The progress of `rivalry auto`: a live table of what leads on a terminal, lines elsewhere, nothing if quiet.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rivalry::eval::MetricAt;
use rivalry_runs::auto::{AutoEvent, AutoObserver, Leader, Leaders, Stage};
use rivalry_runs::settings::in_few_words;
use rivalry_runs::sweep::{Stop, SweepObserver, Trial, TrialEvent};

use crate::output::say;
use crate::signals;
use crate::table;
use crate::training::damage_note;

/// The lines of the live table.
const SHOWN: usize = 8;

/// The progress of an automatic search.
pub struct AutoDisplay(Mutex<State>);

struct State {
    bar: Option<ProgressBar>,
    lines: bool,
    metric: MetricAt,
    stage: String,
    leaders: Vec<[String; 4]>,
    /// The best model and its value, as they were last reported.
    best: Option<(String, f64)>,
    began: Instant,
    /// Whether the time is that of the search.
    searching: bool,
}

impl AutoDisplay {
    /// Nothing is shown before the first event.
    pub fn new(quiet: bool, metric: MetricAt, minutes: f64) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (!quiet && terminal).then(|| {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {elapsed} \n{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
            let bar = ProgressBar::new((60.0 * minutes).ceil() as u64).with_style(style);
            bar.enable_steady_tick(Duration::from_millis(250));
            bar
        });
        Self(Mutex::new(State {
            bar,
            lines: !quiet && !terminal,
            metric,
            stage: String::new(),
            leaders: Vec::new(),
            best: None,
            began: Instant::now(),
            searching: true,
        }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SweepObserver for AutoDisplay {
    fn observe(&self, _: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop> {
        let state = self.state();
        if let TrialEvent::Damaged(damage) = event {
            state.say(&damage_note(damage));
        }
        state.draw();
        if signals::stop_requested() { ControlFlow::Break(Stop::Sweep) } else { ControlFlow::Continue(()) }
    }
}

impl AutoObserver for AutoDisplay {
    fn auto(&self, event: &AutoEvent<'_>) {
        let mut state = self.state();
        match event {
            AutoEvent::Stage(stage) => {
                state.stage = name(*stage);
                if state.lines {
                    say(&state.stage);
                }
            }
            AutoEvent::Led(leaders) => state.lead(leaders),
            AutoEvent::Skipped(skipped) if state.lines => {
                say(format_args!("not tried: {} ({})", skipped.model, skipped.reason));
            }
            AutoEvent::SearchEnded { interrupted } => {
                state.searching = false;
                if *interrupted {
                    // The next Ctrl-C concerns what follows.
                    signals::forget();
                    state.say("stopped; the best so far is tested and trained on everything (Ctrl-C again leaves that for later)");
                }
            }
            _ => {}
        }
        state.draw();
    }
}

impl State {
    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(text)),
            None => say(text),
        }
    }

    fn lead(&mut self, leaders: &Leaders) {
        let row = |leader: &Leader| {
            let epoch = leader.epoch.map_or_else(String::new, |epoch| format!("epoch {epoch}"));
            let value = format!("{:.4}", leader.valid);
            [leader.group.to_string(), in_few_words(&leader.settings), epoch, value]
        };
        self.leaders = leaders.iter().take(SHOWN).map(row).collect();
        let Some(first) = leaders.iter().next() else { return };
        let best = (first.group.to_string(), first.valid);
        if self.lines && self.best.as_ref() != Some(&best) {
            let (metric, settings) = (self.metric, in_few_words(&first.settings));
            let (name, value) = &best;
            say(format_args!("leads   {name} {settings}   validation {metric} {value:.4}"));
        }
        self.best = Some(best);
    }

    fn draw(&self) {
        let Some(bar) = &self.bar else { return };
        if self.searching {
            bar.set_position(self.began.elapsed().as_secs());
        }
        bar.set_prefix(self.stage.clone());
        let header = ["model", "settings", "", &self.metric.to_string()];
        bar.set_message(table::table(header, 3, self.leaders.iter().cloned()));
    }
}

impl Drop for AutoDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.state().bar {
            bar.finish_and_clear();
        }
    }
}

fn name(stage: Stage) -> String {
    match stage {
        Stage::ClosedForms => "cheap models".to_owned(),
        Stage::Gradient { wave } => format!("gradient models, wave {wave}"),
        Stage::Testing => "testing the best of each model".to_owned(),
        Stage::TrainingWinner { epochs: None } => "fitting the winner on everything".to_owned(),
        Stage::TrainingWinner { epochs: Some(epochs) } => {
            format!("training the winner on everything, {epochs} epochs")
        }
    }
}
