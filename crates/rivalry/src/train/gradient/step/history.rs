//! Queries of training pairs whose users are made of their items ([`Users::Items`]).
//!
//! With the scored item rows x and a pair (u, i): `q = mean(x_j, j ∈ I_u \ {i}) - mean(x_j, all j) + w p_u`, scaled to length
//! one where the score is the cosine. Without other items, only `w p_u` is left. The backward pass is the adjoint of that;
//! through the mean over all items, every item has a gradient.
//!
//! The items of a user are added up once, however many pairs of the batch are theirs. Each row of a result is summed by one
//! task in a fixed order.

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, ZERO, add_weighted_rows, normalise, normalise_backward};

use super::Batch;
use super::batch_rows::BatchRows;
use super::scorer::Queries;
use crate::backbone::{BLOCK, Embeddings, Score};
use crate::data::Interactions;

/// Rows whose sum is one part of the mean over all items.
const PART: usize = 1024;

/// Items whose gradients a task collects at a time.
const ITEMS: usize = 256;

/// The queries of the pairs of a batch, and the memory they are made in.
pub(super) struct History {
    score: Score,
    user_weight: f32,
    /// One row a pair.
    vectors: Matrix,
    /// The same at length one, and one over the lengths they had, where the score is the cosine.
    unit: Matrix,
    inverse_lengths: Vec<f32>,
    /// `0, 1, …`: the rows of `vectors`.
    rows: Vec<u32>,
    /// For each pair, which of the distinct users of the batch is its user.
    places: Vec<u32>,
    /// For each pair one over the number of the user's other items; zero if there are none.
    shares: Vec<f32>,
    /// For each distinct user the sum of their items, or of the gradients of their pairs.
    sums: Matrix,
    ones: Vec<f32>,
}

impl History {
    pub fn new(score: Score, user_weight: f32) -> Self {
        Self {
            score,
            user_weight,
            vectors: Matrix::default(),
            unit: Matrix::default(),
            inverse_lengths: Vec::new(),
            rows: Vec::new(),
            places: Vec::new(),
            shares: Vec::new(),
            sums: Matrix::default(),
            ones: Vec::new(),
        }
    }

    /// The queries of the last forward pass, to be multiplied with the items they were made of.
    pub fn queries<'a>(&'a self, items: &'a Matrix) -> Queries<'a> {
        let of = match self.score {
            Score::Cosine => &self.unit,
            Score::Dot => &self.vectors,
        };
        Queries { of, ids: &self.rows, table: items }
    }

    /// Makes the queries of a batch.
    pub fn forward(&mut self, scored: &Embeddings, table_rows: &BatchRows, batch: Batch<'_>) {
        let (items, users) = (&scored.items, &table_rows.distinct_users[..]);
        let (lanes, table, n) = (items.lanes(), items.as_lanes(), batch.users.len());
        self.set_pairs(users, batch);
        let Self { vectors, unit, inverse_lengths, places, shares, sums, ones, .. } = self;
        sums.resize(users.len(), items.cols());
        sums.as_lanes_mut().par_chunks_mut(lanes).zip(users).with_min_len(BLOCK).for_each(|(sum, &user)| {
            sum.fill(ZERO);
            add_weighted_rows(table, batch.train.items_of(user), ones, sum);
        });
        let centre = mean_row(items);
        vectors.resize(n, items.cols());
        unit.resize(n, items.cols());
        inverse_lengths.resize(n, 0.0);
        let blocks = vectors.as_lanes_mut().par_chunks_mut(BLOCK * lanes);
        let blocks = blocks.zip(unit.as_lanes_mut().par_chunks_mut(BLOCK * lanes));
        blocks.zip(inverse_lengths.par_chunks_mut(BLOCK)).enumerate().for_each(
            |(block, ((vectors, unit), inverse_lengths))| {
                for (row, vector) in (block * BLOCK..).zip(vectors.chunks_exact_mut(lanes)) {
                    vector.fill(ZERO);
                    let (user, share) = (batch.users[row], shares[row]);
                    if share > 0.0 {
                        add_weighted_rows(sums.as_lanes(), &[places[row]], &[share], vector);
                        if batch.train.contains(user, batch.items[row]) {
                            add_weighted_rows(table, &[batch.items[row]], &[-share], vector);
                        }
                        add_weighted_rows(&centre, &[0], &[-1.0], vector);
                    }
                    if self.user_weight > 0.0 {
                        let user = [table_rows.users[row]];
                        add_weighted_rows(scored.users.as_lanes(), &user, &[self.user_weight], vector);
                    }
                }
                if self.score == Score::Cosine {
                    normalise(vectors, lanes, unit, inverse_lengths);
                }
            },
        );
    }

    /// Finds the user and the number of other items of each pair.
    fn set_pairs(&mut self, users: &[u32], batch: Batch<'_>) {
        let Self { rows, places, shares, ones, .. } = self;
        rows.clear();
        rows.extend(0..batch.users.len() as u32);
        places.clear();
        places.extend(batch.users.iter().map(|user| users.partition_point(|other| other < user) as u32));
        shares.clear();
        shares.extend(batch.users.iter().zip(batch.items).map(|(&user, &item)| {
            let others = batch.train.items_of(user).len() - usize::from(batch.train.contains(user, item));
            if others > 0 { 1.0 / others as f32 } else { 0.0 }
        }));
        let longest = users.iter().map(|&user| batch.train.items_of(user).len()).max().unwrap_or_default();
        ones.resize(longest.max(users.len()), 1.0);
    }

    /// The backward pass: adds `share` times the gradients of the scored rows. `query_grads`, those of the queries, are
    /// working memory afterwards.
    pub fn backward(
        &mut self,
        table_rows: &BatchRows,
        batch: Batch<'_>,
        share: f32,
        query_grads: &mut Matrix,
        grads: &mut Embeddings,
    ) {
        let (lanes, users) = (query_grads.lanes(), &table_rows.distinct_users[..]);
        if self.score == Score::Cosine {
            let blocks = query_grads.as_lanes_mut().par_chunks_mut(BLOCK * lanes);
            let blocks = blocks.zip(self.unit.as_lanes().par_chunks(BLOCK * lanes));
            blocks.zip(self.inverse_lengths.par_chunks(BLOCK)).for_each(
                |((grads, unit), inverse_lengths)| {
                    normalise_backward(unit, lanes, inverse_lengths, grads);
                },
            );
        }
        let query_grads = query_grads.as_lanes();
        if self.user_weight > 0.0 {
            for (row, &user) in table_rows.users.iter().enumerate() {
                let place = grads.users.row_lanes_mut(user as usize);
                add_weighted_rows(query_grads, &[row as u32], &[share * self.user_weight], place);
            }
        }
        let Self { rows, places, shares, sums, ones, .. } = self;
        let pairs_of = |groups: usize, of: &[u32]| {
            Interactions::from_pairs(groups, rows.len(), of.iter().copied().zip(rows.iter().copied()))
        };
        let by_user = pairs_of(users.len(), places);
        sums.as_lanes_mut().par_chunks_mut(lanes).enumerate().with_min_len(BLOCK).for_each(|(place, sum)| {
            sum.fill(ZERO);
            for &row in by_user.items_of(place as u32) {
                add_weighted_rows(query_grads, &[row], &[share * shares[row as usize]], sum);
            }
        });
        let n_items = grads.items.rows();
        let mut centre = vec![ZERO; lanes];
        for &row in rows.iter().filter(|&&row| shares[row as usize] > 0.0) {
            add_weighted_rows(query_grads, &[row], &[-share / n_items as f32], &mut centre);
        }
        let users_of_items = batch.train.gather_users(users).transposed();
        let pairs_of_items = pairs_of(n_items, batch.items);
        let blocks = grads.items.as_lanes_mut().par_chunks_mut(ITEMS * lanes);
        blocks.enumerate().for_each(|(block, grads)| {
            for (item, grad) in ((block * ITEMS) as u32..).zip(grads.chunks_exact_mut(lanes)) {
                add_weighted_rows(&centre, &[0], &[1.0], grad);
                let places = users_of_items.items_of(item);
                add_weighted_rows(sums.as_lanes(), places, ones, grad);
                for &row in pairs_of_items.items_of(item) {
                    if batch.train.contains(batch.users[row as usize], item) {
                        add_weighted_rows(query_grads, &[row], &[-share * shares[row as usize]], grad);
                    }
                }
            }
        });
    }
}

/// The mean of all rows.
fn mean_row(table: &Matrix) -> Vec<Lane> {
    let (lanes, ids, ones) = (table.lanes(), Vec::from_iter(0..PART as u32), [1.0; PART]);
    let parts: Vec<Vec<Lane>> = table
        .as_lanes()
        .par_chunks(PART * lanes)
        .map(|rows| {
            let mut sum = vec![ZERO; lanes];
            add_weighted_rows(rows, &ids[..rows.len() / lanes], &ones, &mut sum);
            sum
        })
        .collect();
    let mut mean = vec![ZERO; lanes];
    let share = 1.0 / table.rows().max(1) as f32;
    parts.iter().for_each(|part| add_weighted_rows(part, &[0], &[share], &mut mean));
    mean
}
