//! Adam whose rows without a gradient are moved on when they are next read.
//!
//! A row without a gradient for k steps has the moments `β1^k m` and `β2^k v`, and has moved by
//! `m/√v · Σ_s η_s (β1/√β2)^s` over these steps, where `η_s` holds the learning rate and the bias corrections of each. The
//! sum depends on the steps alone, so it is kept for all rows together, and a row catches up in one update. The trajectory
//! is that of Adam up to rounding, but for ε: it is added to the `√v` from before the k steps, and Adam adds it in each.
//! Where `√v` is far above ε (1e-8), this makes no difference.

use std::borrow::Cow;

use rivalry_kernels as kernels;
use rivalry_kernels::Matrix;

use super::adam::Adam;
use super::rows::{Table, block_size, for_each_block, for_each_row};
use super::{Gathered, Optimizer, OptimizerState, Size, StateRef, Trainable, gathered};
use crate::backbone::Embeddings;

/// The table of the state that says how far rows are behind: steps, and the sum of the update that is due.
const BEHIND: &str = "adam.behind";

pub(super) struct DeferredAdam {
    adam: Adam,
    /// β1/√β2: the ratio of the updates of two steps without a gradient.
    ratio: f64,
    /// After how many steps without a gradient the updates are below the precision of what has been summed up.
    horizon: usize,
    /// The step up to which each row of either table is done, counted from `since`.
    done: [Vec<u32>; 2],
    /// Whether all rows of either table are up to date.
    complete: [bool; 2],
    /// The number of steps when all rows were last up to date.
    since: u64,
    /// For each step from `since` on: the sum of the updates after it, for a row that is done up to there.
    due: Vec<f32>,
    /// `β1^k` and `β2^k` for each k.
    decays: Vec<[f32; 2]>,
}

impl DeferredAdam {
    /// `None` if rows can't be moved on in one update: with weight decay, or if momentum doesn't fade.
    pub fn new(adam: &Adam, size: Size) -> Option<Self> {
        let (beta1, beta2) = adam.betas();
        let ratio = beta1 / beta2.sqrt();
        if adam.weight_decay() != 0.0 || !(0.0..0.999).contains(&ratio) {
            return None;
        }
        // Below 2^-40 of the first update, the rest is lost in the rounding of f32.
        let horizon = if ratio == 0.0 { 1 } else { (-40.0 * 2f64.ln() / ratio.ln()).ceil() as usize };
        Some(Self {
            adam: adam.clone(),
            ratio,
            horizon,
            done: [vec![0; size.users], vec![0; size.items]],
            complete: [true; 2],
            since: 0,
            due: vec![0.0],
            decays: vec![[1.0, 1.0]],
        })
    }

    /// Steps since all rows were up to date.
    fn steps(&self) -> u32 {
        (self.due.len() - 1) as u32
    }

    /// Notes a step: what it adds to the update of a row that has no gradient in it.
    fn note(&mut self, step: &kernels::AdamStep) {
        let mut update = f64::from(step.rate) / f64::from(step.second_correction);
        for due in self.due.iter_mut().rev().take(self.horizon) {
            update *= self.ratio;
            *due += update as f32;
        }
        self.due.push(0.0);
        let (beta1, beta2) = self.adam.betas();
        let k = self.decays.len() as i32;
        self.decays.push([beta1.powi(k) as f32, beta2.powi(k) as f32]);
    }

    /// What brings a row up to date that is done up to this step.
    fn catch_up_from(&self, done: u32) -> kernels::AdamCatchUp {
        let [first_decay, second_decay] = self.decays[(self.steps() - done) as usize];
        kernels::AdamCatchUp {
            update: self.due[done as usize],
            first_decay,
            second_decay,
            epsilon: self.adam.epsilon() as f32,
        }
    }

    /// Forgets the steps, once all rows are up to date.
    fn restart(&mut self) {
        self.since += u64::from(self.steps());
        self.due.truncate(1);
        self.due[0] = 0.0;
        self.decays.truncate(1);
        self.done.iter_mut().for_each(|done| done.fill(0));
    }

    /// How far each row is behind, for a checkpoint.
    fn behind(&self) -> Embeddings {
        let [users, items] = self.done.each_ref().map(|done| {
            Matrix::from_fn(done.len(), 2, |row, column| match column {
                0 => (self.steps() - done[row]) as f32,
                _ => self.due[done[row] as usize],
            })
        });
        Embeddings { users, items }
    }
}

/// Both tables, each with the steps up to which its rows are done.
fn with_done<'a>(tables: [Table<'a>; 2], [users, items]: &'a mut [Vec<u32>; 2]) -> [Table<'a>; 2] {
    let [user_table, item_table] = tables;
    [user_table.with_done(users), item_table.with_done(items)]
}

impl Optimizer for DeferredAdam {
    fn catch_up(&mut self, tables: Trainable<'_>) {
        let listed = [tables.touched.users, tables.touched.items];
        let all = listed == [None, None];
        let mut done = std::mem::take(&mut self.done);
        let mut moments = (std::mem::take(&mut self.adam.first), std::mem::take(&mut self.adam.second));
        let steps = self.steps();
        let sizes = [0, 1].map(|which| if self.complete[which] { 0 } else { block_size(listed[which]) });
        let both = with_done(tables.with_moments(&mut moments.0, &mut moments.1), &mut done);
        for_each_block(both, sizes, |which, first, mut rows| {
            for_each_row(&mut rows, first, listed[which], |row| {
                let done = row.done[0];
                if done < steps {
                    row.done[0] = steps;
                    row.catch_up(&self.catch_up_from(done));
                }
            });
        });
        let complete = [0, 1].map(|which| self.complete[which] || listed[which].is_none());
        (self.done, self.complete) = (done, complete);
        (self.adam.first, self.adam.second) = moments;
        if all {
            self.restart();
        }
    }

    fn step(&mut self, tables: Trainable<'_>) {
        let step = self.adam.next_step();
        self.note(&step);
        let (steps, listed) = (self.steps(), [tables.touched.users, tables.touched.items]);
        let both =
            with_done(tables.with_moments(&mut self.adam.first, &mut self.adam.second), &mut self.done);
        for_each_block(both, listed.map(block_size), |which, first, mut rows| {
            if listed[which].is_none() {
                rows.done.fill(steps);
                return rows.step(&step);
            }
            for_each_row(&mut rows, first, listed[which], |row| {
                debug_assert_eq!(row.done[0] + 1, steps, "a row is up to date before it gets a gradient");
                row.done[0] = steps;
                row.step(&step);
            });
        });
        self.complete = listed.map(|listed| listed.is_none());
    }

    fn is_sparse(&self) -> bool {
        true
    }

    fn gather(&mut self, tables: Gathered<'_>) {
        let mut done = std::mem::take(&mut self.done);
        let mut moments = (std::mem::take(&mut self.adam.first), std::mem::take(&mut self.adam.second));
        let steps = self.steps();
        gathered::for_each_row(tables, [&mut moments.0, &mut moments.1], &mut done, |mut row| {
            if *row.done < steps {
                row.catch_up(&self.catch_up_from(*row.done));
                *row.done = steps;
            }
            row.gather();
        });
        (self.adam.first, self.adam.second) = moments;
        self.done = done;
    }

    fn step_gathered(&mut self, tables: Gathered<'_>) {
        let step = self.adam.next_step();
        self.note(&step);
        let (steps, moments) = (self.steps(), [&mut self.adam.first, &mut self.adam.second]);
        gathered::for_each_row(tables, moments, &mut self.done, |row| {
            debug_assert_eq!(*row.done + 1, steps, "a row is up to date before it gets a gradient");
            *row.done = steps;
            row.step(&step);
        });
        self.complete = [false; 2];
    }

    fn lr(&self) -> f64 {
        self.adam.lr()
    }

    fn scale_lr(&mut self, factor: f64) {
        self.adam.scale_lr(factor);
    }

    fn state(&self) -> StateRef<'_> {
        let mut state = self.adam.state();
        if self.steps() > 0 {
            state.tables.push((BEHIND, Cow::Owned(self.behind())));
        }
        state
    }

    fn restore(&mut self, mut state: OptimizerState) -> bool {
        let behind = state.tables.remove(BEHIND);
        if !self.adam.restore(state) {
            return false;
        }
        self.since = self.adam.steps();
        let Some(behind) = behind else { return true };
        self.complete = [false; 2];
        let tables = behind.tables();
        let sizes = [tables[0].rows(), tables[1].rows()];
        if sizes != self.done.each_ref().map(Vec::len) || behind.dim() != 2 {
            return false;
        }
        let lags = |table: &Matrix| (0..table.rows()).map(|row| table.row(row)[0] as u32).collect::<Vec<_>>();
        let lags = tables.map(lags);
        let steps = lags.iter().flatten().copied().max().unwrap_or(0);
        if u64::from(steps) > self.since {
            return false;
        }
        self.since -= u64::from(steps);
        let (beta1, beta2) = self.adam.betas();
        self.decays = (0..=steps as i32).map(|k| [beta1.powi(k) as f32, beta2.powi(k) as f32]).collect();
        self.due = vec![0.0; steps as usize + 1];
        for (which, lags) in lags.into_iter().enumerate() {
            for (row, lag) in lags.into_iter().enumerate() {
                let done = steps - lag;
                self.done[which][row] = done;
                self.due[done as usize] = tables[which].row(row)[1];
            }
        }
        true
    }
}
