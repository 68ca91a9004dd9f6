//! Progress of trainings and downloads: a bar on a terminal, lines otherwise, nothing with --quiet.

use rivalry::eval::MetricAt;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rivalry::data::DownloadProgress;
use rivalry::train::{Observer, Record, TrainEvent};

use crate::output::say;
use crate::signals::stop_requested;
use crate::table::short;

/// Shows the progress of a training, and stops it on a signal.
pub struct ProgressObserver {
    display: Display,
    /// The metric shown, and the set it is measured on.
    metric: MetricAt,
    evaluated_on: &'static str,
    epochs: usize,
    batches: usize,
    pairs: usize,
    last: Option<f64>,
    best: Option<(f64, usize)>,
    /// Number of steps, the time they took, and when the last one ended.
    steps: usize,
    step_time: Duration,
    last_step: Instant,
}

enum Display {
    Bar(ProgressBar),
    Lines,
    Quiet,
}

impl ProgressObserver {
    /// An observer that shows this metric.
    pub fn new(quiet: bool, metric: MetricAt) -> Self {
        let display = match quiet {
            true => Display::Quiet,
            false if std::io::stderr().is_terminal() => Display::Bar(ProgressBar::hidden()),
            false => Display::Lines,
        };
        Self {
            display,
            metric,
            evaluated_on: "",
            epochs: 0,
            batches: 0,
            pairs: 0,
            last: None,
            best: None,
            steps: 0,
            step_time: Duration::ZERO,
            last_step: Instant::now(),
        }
    }

    fn show_bar(&mut self, done: usize) {
        if let Display::Bar(bar) = &mut self.display {
            let style = ProgressStyle::with_template("{prefix} {wide_bar} {eta} left\n{msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
            *bar = ProgressBar::new((self.epochs * self.batches) as u64).with_style(style);
            bar.set_position(done as u64);
            bar.reset_eta();
            bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn step(&mut self, epoch: usize, batch: usize, loss: f64) {
        self.steps += 1;
        self.step_time += self.last_step.elapsed();
        self.last_step = Instant::now();
        if let Display::Bar(bar) = &self.display {
            bar.set_position(((epoch - 1) * self.batches + batch) as u64);
            bar.set_prefix(format!("epoch {epoch}/{}", self.epochs));
            bar.set_message(format!("loss {loss:.4}   {}", self.status()));
        }
    }

    /// The progress of a closed form: a bar, or a line every ten seconds.
    fn fitting(&mut self, done: usize, total: usize) {
        match &mut self.display {
            Display::Bar(bar) => {
                if bar.is_hidden() {
                    let style = ProgressStyle::with_template("fitting {wide_bar} {eta} left");
                    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
                    *bar = ProgressBar::new(total as u64).with_style(style);
                }
                bar.set_position(done as u64);
            }
            Display::Lines if self.last_step.elapsed() > Duration::from_secs(10) => {
                self.last_step = Instant::now();
                say(format_args!("fitting   {:.0} %", 100.0 * done as f64 / total as f64));
            }
            _ => {}
        }
    }

    fn evaluated(&mut self, record: &Record) {
        self.last_step = Instant::now();
        self.update_metric(record);
        if let Display::Lines = self.display {
            let (epoch, epochs, width) = (record.epoch, self.epochs, self.epochs.to_string().len());
            say(format_args!("epoch {epoch:width$}/{epochs}   loss {:.4}   {}", record.loss, self.status()));
        }
    }

    fn update_metric(&mut self, record: &Record) {
        // The test set is evaluated only if the epoch is selected on it.
        let (set, metrics) = match &record.test {
            Some(test) => ("test", Some(test)),
            None => ("validation", record.valid.as_ref()),
        };
        self.evaluated_on = set;
        self.last = metrics.and_then(|metrics| metrics.get(&self.metric)).copied();
        if let (true, Some(value)) = (record.best, self.last) {
            self.best = Some((value, record.epoch));
        }
    }

    /// Speed, and the last and the best evaluation.
    fn status(&self) -> String {
        let rate = (self.steps * self.pairs) as f64 / self.batches as f64 / self.step_time.as_secs_f64();
        let rate = format!("{} pairs/s", short(rate));
        match (self.last, self.best) {
            (Some(last), Some((best, epoch))) => {
                format!(
                    "{rate}   {} {} {last:.4}, best {best:.4} at epoch {epoch}",
                    self.evaluated_on, self.metric
                )
            }
            _ => rate,
        }
    }
}

impl Observer for ProgressObserver {
    fn observe(&mut self, event: &TrainEvent<'_>) -> ControlFlow<()> {
        match *event {
            TrainEvent::Started { epochs, batches, pairs, progress } => {
                (self.epochs, self.batches, self.pairs) = (epochs, batches, pairs);
                progress.history.iter().for_each(|record| self.update_metric(record));
                self.last_step = Instant::now();
                // A closed-form model has no epochs, and no bar.
                if epochs > 0 {
                    self.show_bar(progress.epoch * batches + progress.batch);
                }
            }
            TrainEvent::Step { epoch, batch, loss } => self.step(epoch, batch, loss),
            TrainEvent::Fitting { done, total } => self.fitting(done, total),
            TrainEvent::Evaluated(record) => self.evaluated(record),
            _ => {}
        }
        if stop_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for ProgressObserver {
    fn drop(&mut self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}

/// The progress bar of a download.
pub struct DownloadBar {
    quiet: bool,
    bar: Option<ProgressBar>,
}

impl DownloadBar {
    /// Nothing is shown before the first update.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, bar: None }
    }

    /// Shows the number of bytes received.
    pub fn update(&mut self, progress: DownloadProgress<'_>) {
        if self.quiet {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            if !std::io::stderr().is_terminal() {
                say(format_args!("downloading {}", progress.name));
                return ProgressBar::hidden();
            }
            let template = "downloading {prefix} {wide_bar} {bytes} of {total_bytes}, {eta} left";
            let style =
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = ProgressBar::new(0).with_style(style.progress_chars("━╸─"));
            bar.with_prefix(progress.name.to_owned())
        });
        bar.set_length(progress.total.unwrap_or(progress.done));
        bar.set_position(progress.done);
    }
}

impl Drop for DownloadBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar that counts, on a terminal.
pub struct CountBar(ProgressBar);

impl CountBar {
    /// Nothing is shown where standard error is not a terminal.
    pub fn new(total: usize, what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let template = format!("{{pos}} of {{len}} {what} {{wide_bar}} {{eta}} left");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(ProgressBar::new(total as u64).with_style(style.progress_chars("━╸─")))
    }

    /// So many are done.
    pub fn done(&self, n: usize) {
        self.0.set_position(n as u64);
    }
}

impl Drop for CountBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
