//! Lazy Adam: rows without a gradient stay as they are.
//!
//! Adam moves them on by their momentum, so that every step costs the size of the tables. With a graph backbone nearly
//! every row has a gradient, and lazy Adam is Adam. Adam with `deferred` is as cheap, and keeps Adam's trajectory.

use super::adam::{Adam, BETA1, BETA2, EPSILON};
use super::rows::{block_size, for_each_block, for_each_row};
use super::schedule::{SCHEDULE, WARMUP};
use super::{Entry, LR, Optimizer, OptimizerState, StateRef, Trainable, WEIGHT_DECAY};

pub(super) const LAZY_ADAM: Entry = Entry {
    name: "lazy-adam",
    summary: "Adam that updates only rows with a gradient: faster on large tables, different results",
    params: &[LR, SCHEDULE, WARMUP, WEIGHT_DECAY, BETA1, BETA2, EPSILON],
    build: |params, size| Box::new(LazyAdam(Adam::new(params, size))),
};

struct LazyAdam(Adam);

impl Optimizer for LazyAdam {
    fn step(&mut self, tables: Trainable<'_>) {
        let Some(users) = tables.touched.users else { return self.0.step(tables) };
        let step = self.0.next_step();
        let listed = [Some(users), tables.touched.items];
        let tables = tables.with_moments(&mut self.0.first, &mut self.0.second);
        for_each_block(tables, listed.map(block_size), |which, first, mut rows| {
            for_each_row(&mut rows, first, listed[which], |row| row.step_if_any(&step));
        });
    }

    fn lr(&self) -> f64 {
        self.0.lr()
    }

    fn scale_lr(&mut self, factor: f64) {
        self.0.scale_lr(factor);
    }

    fn state(&self) -> StateRef<'_> {
        self.0.state()
    }

    fn restore(&mut self, state: OptimizerState) -> bool {
        self.0.restore(state)
    }
}
