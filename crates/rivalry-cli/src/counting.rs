//! A progress bar for work that is counted, shown on terminals only.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar with a count.
pub struct CountingBar(ProgressBar);

impl CountingBar {
    /// `what` is the unit, in the plural.
    pub fn new(what: &str) -> Self {
        let style =
            ProgressStyle::with_template(&format!("{{pos}} of {{len}} {what} {{wide_bar}} {{eta}} left"));
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
        Self(ProgressBar::new(0).with_style(style))
    }

    /// Sets the position and the length.
    pub fn update(&self, done: usize, of: usize) {
        self.0.set_length(of as u64);
        self.0.set_position(done as u64);
    }
}

impl Drop for CountingBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
