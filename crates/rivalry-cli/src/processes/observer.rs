//! The observer of a training that several processes share.

use std::ops::ControlFlow;
use std::time::Instant;

use rivalry::train::{Observer, TrainEvent};

use super::Processes;
use super::shares::Spent;
use crate::output::say;
use crate::progress::ProgressObserver;

/// Shows the progress on rank 0, and after each evaluation how the time of all ranks is spent.
pub struct RankObserver<'a> {
    processes: &'a Processes,
    progress: ProgressObserver,
    quiet: bool,
    began: Instant,
    before: Spent,
}

impl<'a> RankObserver<'a> {
    /// An observer that passes all events on.
    pub fn new(processes: &'a Processes, progress: ProgressObserver, quiet: bool) -> Self {
        Self { processes, progress, quiet, began: Instant::now(), before: processes.spent(0.0) }
    }
}

impl Observer for RankObserver<'_> {
    fn observe(&mut self, event: &TrainEvent<'_>) -> ControlFlow<()> {
        let flow = self.progress.observe(event);
        if let TrainEvent::Evaluated(_) = event {
            let now = self.processes.spent(self.began.elapsed().as_secs_f64());
            let since = now.since(self.before);
            self.before = now;
            // All ranks come here after the same evaluation.
            if let (Some(sharing), false) = (self.processes.sharing(since), self.quiet) {
                say(format_args!("        {sharing}"));
            }
        }
        flow
    }
}
