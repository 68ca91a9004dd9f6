//! LightGCN: the mean of the embeddings and of what their neighbours send them over a few layers.
//!
//! `E' = mean(E, ÂE, …, Â^L E)`, `Â = D^-½ A D^-½` over the training graph. Rows without neighbours stay
//! themselves; without layers it is matrix factorisation.
//!
//! He et al., "LightGCN: Simplifying and Powering Graph Convolution Network for Recommendation", SIGIR 2020.

use super::propagation::Propagation;
use super::{Backbone, Build, DIM, Embeddings, Entry, GRAPH_TABLES, POPULARITY_WEIGHT, SCORE, Step, Users};
use crate::optim::Touched;
use crate::params::{Param, Range, Search, Value};

/// How far messages travel.
pub(super) const LAYERS: Param = Param {
    name: "layers",
    doc: "number of propagation layers",
    default: Value::Count(2),
    range: Range::Within(0.0, 16.0),
    search: Search::listed(&[1.0, 2.0, 3.0]),
};

pub(crate) const LIGHTGCN: Entry = Entry {
    name: "lightgcn",
    summary: "LightGCN: mean of the embeddings propagated over the user–item graph",
    params: &[DIM, SCORE, POPULARITY_WEIGHT, LAYERS],
    build: Build {
        backbone: |params, train| {
            let propagation = Propagation::mean(train, params.count(LAYERS.name), true);
            Box::new(LightGcn { propagation, result: Embeddings::default() })
        },
        extra_tables: GRAPH_TABLES,
        users: |_| Users::Table,
    },
};

struct LightGcn {
    propagation: Propagation,
    result: Embeddings,
}

impl Backbone for LightGcn {
    fn is_identity(&self) -> bool {
        self.propagation.layers == 0
    }

    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings) {
        self.propagation.apply(learned, Touched::default(), scored);
    }

    fn forward_training(&mut self, learned: &Embeddings, scored: &mut Embeddings, step: Step<'_>) {
        self.propagation.apply(learned, step.touched, scored);
    }

    fn backward(&mut self, grads: &mut Embeddings) {
        self.result.resize_like(grads);
        self.propagation.apply(grads, Touched::default(), &mut self.result);
        std::mem::swap(grads, &mut self.result);
    }
}
