//! InfoNCE between two views of the same nodes: each row must find its twin among the twins of the others.
//!
//! For n nodes with unit rows a (one view) and b (the other):
//! `weight · mean_i ( log Σ_j exp(a_i·b_j/τ) - a_i·b_i/τ )`, for users and for items, added.

use rayon::prelude::*;
use rivalry_kernels::{
    Lane, Matrix, Real, ZERO, add_to_rows, add_weighted_rows, dots, normalise, normalise_backward,
};

use super::{BLOCK, Embeddings};

/// The term, and its gradients until they are asked for.
pub(super) struct Contrast {
    weight: f32,
    temperature: f32,
    users: Views,
    items: Views,
}

/// Two views of some rows of a table. Grown to the largest batch seen, never shrunk.
#[derive(Default)]
struct Views {
    ids: Vec<u32>,
    a: View,
    b: View,
    /// `0, 1, … n - 1`: every row of a view.
    all: Vec<u32>,
    /// For each row of a, the gradients of its n scores.
    score_grads: Vec<f32>,
    values: Vec<f32>,
}

#[derive(Default)]
struct View {
    unit: Vec<Lane>,
    inverse_lengths: Vec<f32>,
    grads: Vec<Lane>,
}

impl Contrast {
    pub(super) fn new(weight: f64, temperature: f64) -> Self {
        let (weight, temperature) = (weight as f32, temperature as f32);
        Self { weight, temperature, users: Views::default(), items: Views::default() }
    }

    /// The value for the distinct users and items among these, in the views a and b. Keeps the gradients.
    pub(super) fn value(&mut self, a: &Embeddings, b: &Embeddings, users: &[u32], items: &[u32]) -> f64 {
        self.users.value(users, [&a.users, &b.users], self.weight, self.temperature)
            + self.items.value(items, [&a.items, &b.items], self.weight, self.temperature)
    }

    /// Forgets the gradients.
    pub(super) fn clear(&mut self) {
        self.users.ids.clear();
        self.items.ids.clear();
    }

    /// Adds the gradients with respect to view a.
    pub(super) fn add_gradients_of_a(&self, grads: &mut Embeddings) {
        self.users.add(&self.users.a, 1.0, &mut grads.users);
        self.items.add(&self.items.a, 1.0, &mut grads.items);
    }

    /// Adds `factor` times the gradients with respect to view b.
    pub(super) fn add_gradients_of_b(&self, factor: f32, grads: &mut Embeddings) {
        self.users.add(&self.users.b, factor, &mut grads.users);
        self.items.add(&self.items.b, factor, &mut grads.items);
    }
}

impl Views {
    fn value(&mut self, ids: &[u32], [a, b]: [&Matrix; 2], weight: f32, temperature: f32) -> f64 {
        self.ids.clear();
        self.ids.extend(ids);
        self.ids.sort_unstable();
        self.ids.dedup();
        let (n, lanes) = (self.ids.len(), a.lanes());
        self.a.set(a, &self.ids);
        self.b.set(b, &self.ids);
        self.all.clear();
        self.all.extend(0..n as u32);
        self.values.resize(n, 0.0);
        self.score_grads.resize(n * n, 0.0);

        let Self { a, b, all, score_grads, values, .. } = self;
        let share = weight / n as f32;
        score_grads
            .par_chunks_mut(BLOCK * n)
            .zip(a.grads.par_chunks_mut(BLOCK * lanes))
            .zip(a.unit.par_chunks(BLOCK * lanes))
            .zip(a.inverse_lengths.par_chunks(BLOCK))
            .zip(values.par_chunks_mut(BLOCK))
            .enumerate()
            .for_each(|(block, ((((score_grads, grads), unit), inverse_lengths), values))| {
                let mut scores = vec![0.0; n];
                for (row, value) in values.iter_mut().enumerate() {
                    let own = block * BLOCK + row;
                    let score_grads = &mut score_grads[row * n..][..n];
                    dots(&unit[row * lanes..][..lanes], &b.unit, all, &mut scores);
                    let (loss, mass) = f32::log_sum_exp(
                        scores[own],
                        &scores,
                        None,
                        None,
                        1.0 / temperature,
                        1.0,
                        score_grads,
                    );
                    *value = loss;
                    score_grads[own] -= mass;
                    score_grads.iter_mut().for_each(|grad| *grad *= share);
                    add_weighted_rows(&b.unit, all, score_grads, &mut grads[row * lanes..][..lanes]);
                }
                normalise_backward(unit, lanes, inverse_lengths, grads);
            });
        b.grads
            .par_chunks_mut(BLOCK * lanes)
            .zip(b.unit.par_chunks(BLOCK * lanes))
            .zip(b.inverse_lengths.par_chunks(BLOCK))
            .enumerate()
            .for_each(|(block, ((grads, unit), inverse_lengths))| {
                let first = block * BLOCK;
                let here = first..first + inverse_lengths.len();
                for row in 0..n {
                    let vector = &a.unit[row * lanes..][..lanes];
                    let weights = &score_grads[row * n..][here.clone()];
                    add_to_rows(vector, &all[here.clone()], weights, first as u32, grads);
                }
                normalise_backward(unit, lanes, inverse_lengths, grads);
            });
        values.iter().map(|&value| f64::from(value)).sum::<f64>() * f64::from(share)
    }

    fn add(&self, view: &View, factor: f32, grads: &mut Matrix) {
        for (row, &id) in self.ids.iter().enumerate() {
            add_weighted_rows(&view.grads, &[row as u32], &[factor], grads.row_lanes_mut(id as usize));
        }
    }
}

impl View {
    /// Takes in rows of a table, scaled to length one, without gradients.
    fn set(&mut self, table: &Matrix, ids: &[u32]) {
        let lanes = table.lanes();
        self.unit.resize(ids.len() * lanes, ZERO);
        self.inverse_lengths.resize(ids.len(), 0.0);
        self.grads.clear();
        self.grads.resize(ids.len() * lanes, ZERO);
        let places = self.unit.chunks_exact_mut(lanes).zip(self.inverse_lengths.chunks_exact_mut(1));
        for (&id, (unit, inverse_length)) in ids.iter().zip(places) {
            normalise(table.row_lanes(id as usize), lanes, unit, inverse_length);
        }
    }
}
