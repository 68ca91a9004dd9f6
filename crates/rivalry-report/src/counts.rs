//! How many runs there are in each state.

use std::fmt;

use rivalry::data::thousands;
use rivalry_runs::sweep::RunState;

use crate::run::Run;

/// How many runs there are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Runs with metrics.
    pub finished: usize,
    /// Trials that a sweep's successive halving stopped early.
    pub pruned: usize,
    /// Trials whose training failed.
    pub failed: usize,
    /// Runs that can be resumed.
    pub unfinished: usize,
}

impl RunCounts {
    pub(crate) fn of<'r>(runs: impl IntoIterator<Item = &'r Run>) -> Self {
        let mut counts = Self::default();
        for run in runs {
            *match run.state {
                RunState::Finished => &mut counts.finished,
                RunState::Pruned => &mut counts.pruned,
                RunState::Failed(_) => &mut counts.failed,
                RunState::Unfinished => &mut counts.unfinished,
            } += 1;
        }
        counts
    }

    /// The number of runs in each state, by the name of the state.
    pub(crate) fn by_state(&self) -> [(&'static str, usize); 4] {
        [
            ("finished", self.finished),
            ("pruned", self.pruned),
            ("failed", self.failed),
            ("unfinished", self.unfinished),
        ]
    }

    /// The number of runs.
    pub fn total(&self) -> usize {
        self.finished + self.pruned + self.failed + self.unfinished
    }
}

/// `40 runs: 9 finished, 31 pruned`, without the states of no run.
impl fmt::Display for RunCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        write!(f, "{} run{}", thousands(total), if total == 1 { "" } else { "s" })?;
        let states = self.by_state().into_iter().filter(|(_, count)| *count > 0);
        let states: Vec<String> =
            states.map(|(state, count)| format!("{} {state}", thousands(count))).collect();
        if states.is_empty() { Ok(()) } else { write!(f, ": {}", states.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_no_run_are_not_mentioned() {
        let sweep = RunCounts { finished: 9, pruned: 31, ..RunCounts::default() };
        assert_eq!(sweep.to_string(), "40 runs: 9 finished, 31 pruned");
        let one = RunCounts { unfinished: 1, ..RunCounts::default() };
        assert_eq!(one.to_string(), "1 run: 1 unfinished");
    }
}
