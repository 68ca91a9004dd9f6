//! One training step: negatives, scores, loss, gradients, Adam.
//!
//! The negatives of a row are put in the order of the blocks of the item table they fall in. Scores and user
//! gradients are then computed block by block, with the block's rows in the second-level cache. Item gradients
//! are computed by one task a block, which alone writes there and goes through the batch in order: no locks, no
//! tables for each thread, and the same bits whatever the number of threads.

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, ZERO, add_to_rows, add_weighted_rows, dots, dots_pair};

use super::model::Model;
use super::optim::{AdamConfig, AdamState};
use crate::backbone::Embeddings;
use crate::loss::{Loss, Row, RowLoss};

/// Rows of the batch a task works on at a time.
const CHUNK: usize = 32;

/// Training pairs, and where their negatives come from.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The users.
    pub users: &'a [u32],
    /// The positive item of each.
    pub items: &'a [u32],
    /// Fills in the negatives of a row of the batch.
    pub negatives: &'a (dyn Fn(usize, &mut [u32]) + Sync),
}

/// A model, its optimiser and the memory a step works in.
pub struct Stepper {
    model: Model,
    loss: Box<dyn Loss>,
    optim: AdamState,
    adam: AdamConfig,
    n_negatives: usize,
    /// Numbers a row of `Work::seen` takes.
    seen_width: usize,
    blocks: Blocks,
    grads: Embeddings,
    work: Work,
}

/// The item table cut into blocks of `1 << shift` rows.
#[derive(Clone, Copy)]
struct Blocks {
    shift: u32,
    count: usize,
}

impl Blocks {
    /// Blocks of at most 256 KiB, and enough of them to keep many threads busy. Never looks at the number of
    /// threads: the order of additions follows from the blocks.
    fn new(n_items: usize, row_bytes: usize) -> Self {
        let rows = (256 * 1024 / row_bytes).min(n_items / 16).max(1);
        let shift = rows.ilog2();
        Self { shift, count: n_items.div_ceil(1 << shift) }
    }

    fn of(self, item: u32) -> usize {
        (item >> self.shift) as usize
    }
}

/// What is known of each row of a batch. Grown to the largest batch seen, never shrunk.
#[derive(Default)]
struct Work {
    negatives: Vec<u32>,
    /// For each row, where the negatives of each block start; one more than there are blocks.
    starts: Vec<u32>,
    /// For each row the scores of its negatives and, if the loss asks, their similarities to the positive.
    seen: Vec<f32>,
    score_grads: Vec<f32>,
    positives: Vec<Positive>,
    measures: Vec<f32>,
    user_grads: Matrix,
    /// The users' embeddings over the batch size: what a score gradient of one adds to an item.
    user_shares: Matrix,
    rows_by_block: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Default)]
struct Positive {
    score: f32,
    grad: f32,
    value: f32,
}

impl Stepper {
    /// Prepares to train `model`. Moments that are all zero start from the beginning.
    pub fn new(
        model: Model,
        loss: Box<dyn Loss>,
        optim: AdamState,
        adam: AdamConfig,
        n_negatives: usize,
    ) -> Self {
        let items = &model.learned().items;
        let blocks = Blocks::new(items.rows(), items.lanes() * size_of::<Lane>());
        let grads = Embeddings::zeros(model.learned().users.rows(), items.rows(), items.cols());
        let seen_width = if as_f32(&*loss).uses_similarities() { 2 * n_negatives } else { n_negatives };
        Self { model, loss, optim, adam, n_negatives, seen_width, blocks, grads, work: Work::default() }
    }

    /// The model as it stands.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The optimiser as it stands.
    pub fn optim(&self) -> &AdamState {
        &self.optim
    }

    /// Takes one step and returns the mean loss of the batch before it.
    ///
    /// If that is not finite nothing has been changed.
    pub fn step(&mut self, batch: Batch<'_>) -> f64 {
        let value = self.gradients(batch);
        if value.is_finite() {
            let adam = self.optim.next(&self.adam);
            self.model.update(&mut self.grads, &mut self.optim, &adam);
        }
        value
    }

    /// The mean loss of a batch and its gradients with respect to the scored tables, added to `self.grads`.
    fn gradients(&mut self, batch: Batch<'_>) -> f64 {
        self.make_room(batch.users.len());
        self.score(batch);
        as_f32(&*self.loss).calibrate(&mut self.work.measures);
        self.differentiate(batch);
        let total: f64 = self.work.positives.iter().map(|row| f64::from(row.value)).sum();
        let mean = total / batch.users.len() as f64;
        if mean.is_finite() {
            self.add_user_gradients(batch);
            self.add_item_gradients(batch);
        }
        mean
    }

    fn make_room(&mut self, rows: usize) {
        let n = self.n_negatives;
        let dim = self.model.learned().dim();
        let work = &mut self.work;
        work.negatives.resize(rows * n, 0);
        work.starts.resize(rows * (self.blocks.count + 1), 0);
        work.seen.resize(rows * self.seen_width, 0.0);
        work.score_grads.resize(rows * n, 0.0);
        work.positives.resize(rows, Positive::default());
        work.measures.resize(rows, 0.0);
        work.rows_by_block.resize(self.blocks.count, Vec::new());
        for table in [&mut work.user_grads, &mut work.user_shares] {
            if table.rows() != rows {
                *table = Matrix::zeros(rows, dim);
            }
        }
    }

    /// The first pass: draws and scores the negatives, and takes the loss's measure of each row.
    fn score(&mut self, batch: Batch<'_>) {
        let Self { model, loss, work, n_negatives, seen_width, blocks, .. } = self;
        let (loss, n, width, blocks) = (as_f32(&**loss), *n_negatives, *seen_width, *blocks);
        let stride = blocks.count + 1;
        let Embeddings { users, items } = model.scored();
        let table = items.as_lanes();
        work.negatives
            .par_chunks_mut(CHUNK * n)
            .zip(work.starts.par_chunks_mut(CHUNK * stride))
            .zip(work.seen.par_chunks_mut(CHUNK * width))
            .zip(work.positives.par_chunks_mut(CHUNK))
            .zip(work.measures.par_chunks_mut(CHUNK))
            .enumerate()
            .for_each(|(chunk, ((((negatives, starts), seen), positives), measures))| {
                let first = chunk * CHUNK;
                let rows = positives.len();
                let mut drawn = vec![0; n];
                for row in 0..rows {
                    (batch.negatives)(first + row, &mut drawn);
                    let grouped = &mut negatives[row * n..][..n];
                    group(blocks, &drawn, grouped, &mut starts[row * stride..][..stride]);
                }
                for block in 0..blocks.count {
                    for row in 0..rows {
                        let here = segment(&starts[row * stride..], block);
                        let user = users.row_lanes(batch.users[first + row] as usize);
                        let ids = &negatives[row * n..][here.clone()];
                        let (scores, similarities) = seen[row * width..][..width].split_at_mut(n);
                        if similarities.is_empty() {
                            dots(user, table, ids, &mut scores[here]);
                        } else {
                            let positive = items.row_lanes(batch.items[first + row] as usize);
                            let (scores, similarities) = (&mut scores[here.clone()], &mut similarities[here]);
                            dots_pair(user, positive, table, ids, scores, similarities);
                        }
                    }
                }
                for (row, (positive, measure)) in positives.iter_mut().zip(measures).enumerate() {
                    let user = users.row_lanes(batch.users[first + row] as usize);
                    let mut score = [0.0];
                    dots(user, table, &[batch.items[first + row]], &mut score);
                    positive.score = score[0];
                    *measure = loss.measure(as_row(positive.score, &seen[row * width..][..width], n));
                }
            });
    }

    /// The second pass: gradients of the scores, and what they add up to for each row's user.
    fn differentiate(&mut self, batch: Batch<'_>) {
        let Self { model, loss, work, n_negatives, seen_width, blocks, .. } = self;
        let (loss, n, width, blocks) = (as_f32(&**loss), *n_negatives, *seen_width, *blocks);
        let stride = blocks.count + 1;
        let items = &model.scored().items;
        let (table, lanes) = (items.as_lanes(), items.lanes());
        let (negatives, starts, measures) = (&work.negatives, &work.starts, &work.measures);
        work.score_grads
            .par_chunks_mut(CHUNK * n)
            .zip(work.seen.par_chunks(CHUNK * width))
            .zip(work.positives.par_chunks_mut(CHUNK))
            .zip(work.user_grads.as_lanes_mut().par_chunks_mut(CHUNK * lanes))
            .enumerate()
            .for_each(|(chunk, (((grads, seen), positives), user_grads))| {
                let first = chunk * CHUNK;
                for (row, positive) in positives.iter_mut().enumerate() {
                    let at = first + row;
                    let seen = as_row(positive.score, &seen[row * width..][..width], n);
                    let outcome = loss.gradient(seen, measures[at], &mut grads[row * n..][..n]);
                    (positive.value, positive.grad) = (outcome.value, outcome.positive);
                    let user_grad = &mut user_grads[row * lanes..][..lanes];
                    user_grad.fill(ZERO);
                    add_weighted_rows(table, &[batch.items[at]], &[positive.grad], user_grad);
                }
                for block in 0..blocks.count {
                    for row in 0..positives.len() {
                        let here = segment(&starts[(first + row) * stride..], block);
                        let ids = &negatives[(first + row) * n..][here.clone()];
                        let weights = &grads[row * n..][here];
                        add_weighted_rows(table, ids, weights, &mut user_grads[row * lanes..][..lanes]);
                    }
                }
            });
    }

    fn add_user_gradients(&mut self, batch: Batch<'_>) {
        let share = 1.0 / batch.users.len() as f32;
        for (row, &user) in batch.users.iter().enumerate() {
            let grad = self.grads.users.row_lanes_mut(user as usize);
            add_weighted_rows(self.work.user_grads.as_lanes(), &[row as u32], &[share], grad);
        }
    }

    fn add_item_gradients(&mut self, batch: Batch<'_>) {
        let Self { model, n_negatives, blocks, grads, work, .. } = self;
        let (n, blocks, stride) = (*n_negatives, *blocks, blocks.count + 1);
        let share = 1.0 / batch.users.len() as f32;
        let users = &model.scored().users;
        let shares = &mut work.user_shares;
        for (row, &user) in batch.users.iter().enumerate() {
            let place = shares.row_lanes_mut(row);
            place.fill(ZERO);
            add_weighted_rows(users.as_lanes(), &[user], &[share], place);
        }
        for rows in &mut work.rows_by_block {
            rows.clear();
        }
        for (row, &item) in batch.items.iter().enumerate() {
            work.rows_by_block[blocks.of(item)].push(row as u32);
        }
        let (shares, positives, by_block) = (&work.user_shares, &work.positives, &work.rows_by_block);
        let (negatives, starts, score_grads) = (&work.negatives, &work.starts, &work.score_grads);
        let block_lanes = grads.items.lanes() << blocks.shift;
        grads.items.as_lanes_mut().par_chunks_mut(block_lanes).enumerate().for_each(|(block, grads)| {
            let first = (block << blocks.shift) as u32;
            for row in 0..batch.users.len() {
                let here = segment(&starts[row * stride..], block);
                let (ids, weights) = (&negatives[row * n..][here.clone()], &score_grads[row * n..][here]);
                add_to_rows(shares.row_lanes(row), ids, weights, first, grads);
            }
            for &row in &by_block[block] {
                let row = row as usize;
                add_to_rows(shares.row_lanes(row), &[batch.items[row]], &[positives[row].grad], first, grads);
            }
        });
    }
}

fn as_f32(loss: &dyn Loss) -> &dyn RowLoss<f32> {
    loss
}

/// A row as the loss sees it.
fn as_row(positive: f32, seen: &[f32], n: usize) -> Row<'_, f32> {
    let (negatives, similarities) = seen.split_at(n);
    Row { positive, negatives, similarities }
}

/// Where the negatives of a block stand in a row.
fn segment(starts: &[u32], block: usize) -> std::ops::Range<usize> {
    starts[block] as usize..starts[block + 1] as usize
}

/// Puts a row's negatives in the order of their blocks (and within a block in the order they were drawn).
fn group(blocks: Blocks, drawn: &[u32], grouped: &mut [u32], starts: &mut [u32]) {
    starts.fill(0);
    for &item in drawn {
        starts[blocks.of(item) + 1] += 1;
    }
    for block in 0..blocks.count {
        starts[block + 1] += starts[block];
    }
    // While placing, `starts[b]` is the next free place of block b; afterwards it is where block b + 1 starts,
    // and moving all by one puts them right.
    for &item in drawn {
        let place = &mut starts[blocks.of(item)];
        grouped[*place as usize] = item;
        *place += 1;
    }
    starts.copy_within(0..blocks.count, 1);
    starts[0] = 0;
}
