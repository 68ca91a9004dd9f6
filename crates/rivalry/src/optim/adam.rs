//! Adam. Weight decay is added to the gradient: the classic form, not the decoupled one of AdamW.
//!
//! D. P. Kingma and J. Ba, Adam: A Method for Stochastic Optimization, ICLR 2015.

use std::borrow::Cow;

use rivalry_kernels as kernels;

use super::deferred_adam::DeferredAdam;
use super::rows::{Rows, for_each_block};
use super::schedule::{SCHEDULE, WARMUP};
use super::{Entry, LR, Optimizer, OptimizerState, Size, StateRef, Trainable, WEIGHT_DECAY};
use crate::backbone::{BLOCK, Embeddings};
use crate::params::{Param, Params, Range, Search, Value};

pub(super) const ADAM: Entry = Entry {
    name: "adam",
    summary: "Adam; weight decay is added to the gradient",
    params: &[LR, SCHEDULE, WARMUP, WEIGHT_DECAY, BETA1, BETA2, EPSILON, DEFERRED],
    build: |params, size| {
        let adam = Adam::new(params, size);
        let deferred = params.flag(DEFERRED.name).then(|| DeferredAdam::new(&adam, size)).flatten();
        match deferred {
            Some(deferred) => Box::new(deferred),
            None => Box::new(adam),
        }
    },
};

pub(crate) const DEFERRED: Param = Param {
    name: "deferred",
    doc: "move rows without a gradient when they are next read: the same trajectory up to rounding, faster on large \
          tables; no effect with weight decay; on by default with shared negatives",
    default: Value::Flag(false),
    range: Range::Any,
    search: Search::NONE,
};

pub(super) const BETA1: Param = Param {
    name: "beta1",
    doc: "decay rate of the first moment",
    default: Value::Number(0.9),
    range: Range::BelowOne,
    search: Search::NONE,
};
pub(super) const BETA2: Param =
    Param { name: "beta2", doc: "decay rate of the second moment", default: Value::Number(0.999), ..BETA1 };
pub(super) const EPSILON: Param = Param {
    name: "epsilon",
    doc: "added to the denominator",
    default: Value::Number(1e-8),
    range: Range::Positive,
    search: Search::NONE,
};

/// The tables of an optimiser state; the names are those of the checkpoint file.
const FIRST: &str = "adam.first";
const SECOND: &str = "adam.second";

#[derive(Clone)]
pub(super) struct Adam {
    config: Config,
    /// The fraction of the learning rate that is used at present.
    lr_factor: f64,
    /// Running mean of the gradients.
    pub first: Embeddings,
    /// Running mean of their squares.
    pub second: Embeddings,
    steps: u64,
}

#[derive(Clone)]
struct Config {
    lr: f64,
    weight_decay: f64,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
}

impl Adam {
    pub fn new(params: &Params, size: Size) -> Self {
        let number = |param: Param| params.number(param.name);
        let config = Config {
            lr: number(LR),
            weight_decay: number(WEIGHT_DECAY),
            beta1: number(BETA1),
            beta2: number(BETA2),
            epsilon: number(EPSILON),
        };
        Self { config, lr_factor: 1.0, first: size.zeros(), second: size.zeros(), steps: 0 }
    }

    /// Decay rates of the first and of the second moment.
    pub fn betas(&self) -> (f64, f64) {
        (self.config.beta1, self.config.beta2)
    }

    pub fn epsilon(&self) -> f64 {
        self.config.epsilon
    }

    pub fn weight_decay(&self) -> f64 {
        self.config.weight_decay
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Counts a step and gives its constants.
    pub fn next_step(&mut self) -> kernels::AdamStep {
        self.steps += 1;
        let (lr, &Config { weight_decay, beta1, beta2, epsilon, .. }) = (self.lr(), &self.config);
        let steps = self.steps.min(i32::MAX as u64) as i32;
        kernels::AdamStep {
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            epsilon: epsilon as f32,
            weight_decay: weight_decay as f32,
            rate: (lr / (1.0 - beta1.powi(steps))) as f32,
            second_correction: (1.0 / (1.0 - beta2.powi(steps)).sqrt()) as f32,
        }
    }
}

impl Optimizer for Adam {
    fn step(&mut self, tables: Trainable<'_>) {
        let step = self.next_step();
        let touched = tables.touched;
        let listed = [touched.users, touched.items];
        let tables = tables.with_moments(&mut self.first, &mut self.second);
        for_each_block(tables, [BLOCK; 2], |which, first, rows| match listed[which] {
            None => rows.step(&step),
            Some(listed) => step_with(rows, first, listed, &step),
        });
    }

    fn lr(&self) -> f64 {
        self.config.lr * self.lr_factor
    }

    fn scale_lr(&mut self, factor: f64) {
        self.lr_factor = factor;
    }

    fn state(&self) -> StateRef<'_> {
        let tables = vec![(FIRST, Cow::Borrowed(&self.first)), (SECOND, Cow::Borrowed(&self.second))];
        StateRef { steps: self.steps, tables }
    }

    fn restore(&mut self, mut state: OptimizerState) -> bool {
        match (state.tables.remove(FIRST), state.tables.remove(SECOND)) {
            (Some(first), Some(second))
                if state.tables.is_empty()
                    && Size::of(&first) == Size::of(&self.first)
                    && Size::of(&second) == Size::of(&self.first) =>
            {
                (self.first, self.second, self.steps) = (first, second, state.steps);
                true
            }
            _ => false,
        }
    }
}

/// One step for a block of which only the `listed` rows have gradients: those of the others are not read, unless they are few.
fn step_with(mut rows: Rows<'_>, first: usize, listed: &[u32], step: &kernels::AdamStep) {
    let (mut done, end) = (0, rows.len());
    if 2 * within(listed, first, end).count() > end {
        // All rows at once take less time than one after another, and have the same bits.
        return rows.step(step);
    }
    for row in within(listed, first, end) {
        rows.part(done..row).step_without_gradient(step);
        rows.part(row..row + 1).step(step);
        done = row + 1;
    }
    rows.part(done..end).step_without_gradient(step);
}

/// The listed rows that lie in a block, counted from its first row.
pub(super) fn within(listed: &[u32], first: usize, len: usize) -> impl Iterator<Item = usize> {
    let from = listed.partition_point(|&row| (row as usize) < first);
    listed[from..].iter().map(move |&row| row as usize - first).take_while(move |&row| row < len)
}
