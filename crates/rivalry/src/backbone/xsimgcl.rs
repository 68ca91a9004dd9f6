//! XSimGCL: LightGCN's layers with a little noise while training, and a contrast between the final and the first.
//!
//! `z_0 = E`, `z_l = Â z_(l-1) + ε sign(Â z_(l-1)) ⊙ n̂`, where n̂ is a row of uniform numbers scaled to length one;
//! `E' = mean(z_1, …, z_L)`. To the loss comes InfoNCE between `E'` and `z_1` for the users and the items of the
//! batch. Noise has no gradient. Evaluated without noise. Rows without neighbours stay themselves.
//!
//! Yu et al., "XSimGCL: Towards Extremely Simple Graph Contrastive Learning for Recommendation", TKDE 2023.

use rand_core::Rng;
use rayon::prelude::*;
use rivalry_kernels::{Matrix, normalise};

use super::contrast::Contrast;
use super::graph::Mix;
use super::lightgcn::LAYERS;
use super::propagation::Propagation;
use super::{
    BLOCK, Backbone, Build, DIM, Embeddings, Entry, GRAPH_TABLES, POPULARITY_WEIGHT, SCORE, Step, Users,
};
use crate::data::Interactions;
use crate::optim::Touched;
use crate::params::{Param, Params, Range, Search, Value};
use crate::rng::{Purpose, stream};

/// The final and the first layer must not be the same.
const TWO_LAYERS_OR_MORE: Param = Param {
    default: Value::Count(3),
    range: Range::Within(2.0, 16.0),
    search: Search::listed(&[2.0, 3.0]),
    ..LAYERS
};

const EPSILON: Param = Param {
    name: "epsilon",
    doc: "norm of the noise added to each embedding in each layer",
    default: Value::Number(0.1),
    range: Range::AtLeast(0.0),
    search: Search::listed(&[0.05, 0.1, 0.2]),
};

const LAMBDA: Param = Param {
    name: "lambda",
    doc: "weight of the contrastive loss",
    default: Value::Number(0.2),
    range: Range::AtLeast(0.0),
    search: Search::listed(&[0.01, 0.05, 0.1, 0.2, 0.5]),
};

const TEMPERATURE: Param = Param {
    name: "temperature",
    doc: "temperature of the contrastive loss",
    default: Value::Number(0.2),
    range: Range::Positive,
    search: Search::listed(&[0.1, 0.15, 0.2]),
};

pub(crate) const XSIMGCL: Entry = Entry {
    name: "xsimgcl",
    summary: "XSimGCL: LightGCN with noise and a contrastive loss between the final and the first layer",
    params: &[DIM, SCORE, POPULARITY_WEIGHT, TWO_LAYERS_OR_MORE, EPSILON, LAMBDA, TEMPERATURE],
    build: Build {
        backbone: |params, train| Box::new(XSimGcl::new(params, train)),
        extra_tables: GRAPH_TABLES,
        users: |_| Users::Table,
    },
};

struct XSimGcl {
    propagation: Propagation,
    epsilon: f32,
    contrast: Contrast,
    first: Embeddings,
    layer: Embeddings,
    next: Embeddings,
}

impl XSimGcl {
    fn new(params: &Params, train: &Interactions) -> Self {
        Self {
            propagation: Propagation::mean(train, params.count(LAYERS.name), false),
            epsilon: params.number(EPSILON.name) as f32,
            contrast: Contrast::new(params.number(LAMBDA.name), params.number(TEMPERATURE.name)),
            first: Embeddings::default(),
            layer: Embeddings::default(),
            next: Embeddings::default(),
        }
    }
}

impl Backbone for XSimGcl {
    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings) {
        self.contrast.clear();
        self.propagation.apply(learned, Touched::default(), scored);
    }

    fn forward_training(&mut self, learned: &Embeddings, scored: &mut Embeddings, step: Step<'_>) {
        self.contrast.clear();
        let Self { propagation, epsilon, first, layer, next, .. } = self;
        let Propagation { graph, scales, layers, rest, .. } = propagation;
        for table in [&mut *first, layer, next] {
            table.resize_like(learned);
        }
        scored.tables_mut().into_iter().for_each(Matrix::fill_zero);
        for l in 1..=*layers {
            let (from, to) = match l {
                1 => (learned, &mut *first),
                2 => (&*first, &mut *layer),
                _ => (&*layer, &mut *next),
            };
            graph.step(scales, scales, from, Mix::times(1.0), to);
            for (side, rows) in (0..).zip(to.tables_mut()) {
                perturb(rows, *epsilon, |row, out| {
                    let key = NoiseKey { step: step.number, layer: l as u64, side, row };
                    uniform_row(step.seed, key, out);
                });
            }
            scored.add(to, *rest);
            if l > 2 {
                std::mem::swap(layer, next);
            }
        }
        graph.keep_isolated(learned, scored);
    }

    fn auxiliary_loss(&mut self, scored: &Embeddings, users: &[u32], items: &[u32]) -> f64 {
        self.contrast.value(scored, &self.first, users, items)
    }

    fn backward(&mut self, grads: &mut Embeddings) {
        let Self { propagation, contrast, next, .. } = self;
        contrast.add_gradients_of_a(grads);
        let rest = propagation.rest;
        contrast.add_gradients_of_b(1.0 / rest, propagation.add_up(grads));
        next.resize_like(grads);
        propagation.carry_on(grads, Touched::default(), next);
        std::mem::swap(grads, next);
        contrast.clear();
    }
}

/// Moves every row away from zero by a random vector of length `epsilon`. Rows of zeros stay.
fn perturb(rows: &mut Matrix, epsilon: f32, noise: impl Fn(u64, &mut [f32]) + Sync) {
    let (cols, lanes) = (rows.cols(), rows.lanes());
    rows.as_lanes_mut().par_chunks_mut(BLOCK * lanes).enumerate().for_each(|(block, rows)| {
        let n = rows.len() / lanes;
        let (mut uniform, mut unit) = (Matrix::zeros(n, cols), Matrix::zeros(n, cols));
        for row in 0..n {
            noise((block * BLOCK + row) as u64, uniform.row_mut(row));
        }
        normalise(uniform.as_lanes(), lanes, unit.as_lanes_mut(), &mut [0.0; BLOCK][..n]);
        for (x, noise) in rows.iter_mut().zip(unit.as_lanes()) {
            for (x, noise) in x.0.iter_mut().zip(&noise.0) {
                let sign = f32::from(*x > 0.0) - f32::from(*x < 0.0);
                *x += epsilon * sign * noise;
            }
        }
    });
}

/// Which row the noise is for.
#[derive(Clone, Copy)]
pub(super) struct NoiseKey {
    /// The training step.
    pub step: u64,
    pub layer: u64,
    /// 0 for users, 1 for items.
    pub side: u64,
    pub row: u64,
}

/// The numbers in [0, 1) that a row's noise is made of. 16 bits each are plenty: a draw gives four.
pub(super) fn uniform_row(seed: u64, key: NoiseKey, out: &mut [f32]) {
    let NoiseKey { step, layer, side, row } = key;
    let mut rng = stream(seed, Purpose::EmbeddingNoise, &[step, layer, side, row]);
    let mut draw = || {
        let bits = rng.next_u64();
        [0, 16, 32, 48].map(|shift| f32::from((bits >> shift) as u16) / 65536.0)
    };
    let (fours, rest) = out.as_chunks_mut::<4>();
    fours.fill_with(&mut draw);
    rest.copy_from_slice(&draw()[..rest.len()]);
}
