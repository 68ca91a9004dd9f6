//! The progress of `rivalry data prepare`: a bar on a terminal, a line every ten seconds otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use rivalry::data::PrepareProgress;

use crate::output::say;
use crate::progress::DownloadBar;

/// Shows what is being done, and how much of it is done.
pub struct PrepareBar {
    download: DownloadBar,
    /// What is being done, its bar, and when something was last said.
    step: Option<(&'static str, ProgressBar, Instant)>,
}

impl PrepareBar {
    /// Nothing is shown before the first update.
    pub fn new() -> Self {
        Self { download: DownloadBar::new(false), step: None }
    }

    /// Shows how far a preparation is.
    pub fn update(&mut self, progress: PrepareProgress<'_>) {
        match progress {
            PrepareProgress::Download(progress) => self.download.update(progress),
            PrepareProgress::Step { what, done, total } => self.show(what, done, total),
        }
    }

    fn show(&mut self, what: &'static str, done: u64, total: u64) {
        if self.step.as_ref().is_none_or(|(shown, ..)| *shown != what) {
            self.clear();
            self.step = Some((what, bar(what, total), Instant::now()));
        }
        let Some((_, bar, said)) = &mut self.step else { return };
        bar.set_length(total);
        bar.set_position(done);
        if bar.is_hidden() && said.elapsed() > Duration::from_secs(10) {
            *said = Instant::now();
            say(format_args!("{what}   {:.0} %", 100.0 * done as f64 / total.max(1) as f64));
        }
    }

    fn clear(&self) {
        self.step.iter().for_each(|(_, bar, _)| bar.finish_and_clear());
    }
}

impl Drop for PrepareBar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A bar, hidden where standard error is not a terminal.
fn bar(what: &str, total: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
    ProgressBar::new(total).with_style(style).with_prefix(what.to_owned())
}
