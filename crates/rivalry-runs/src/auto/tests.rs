use std::ops::ControlFlow;

use super::*;
use crate::sweep::{Stop, Trial, TrialEvent};

/// An observer that says nothing.
pub(super) struct Silent;

impl SweepObserver for Silent {
    fn observe(&self, _: &Trial, _: &TrialEvent<'_>) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

impl AutoObserver for Silent {
    fn auto(&self, _: &AutoEvent<'_>) {}
}
