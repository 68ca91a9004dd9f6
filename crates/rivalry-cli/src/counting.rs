//! A bar for work that is counted. On a terminal only: elsewhere nobody waits for it.

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how much is done.
pub struct CountingBar(ProgressBar);

impl CountingBar {
    /// `what` is counted.
    pub fn new(what: &str) -> Self {
        let style =
            ProgressStyle::with_template(&format!("{{pos}} of {{len}} {what} {{wide_bar}} {{eta}} left"));
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─");
        Self(ProgressBar::new(0).with_style(style))
    }

    /// So many are done.
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
