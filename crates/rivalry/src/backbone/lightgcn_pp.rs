//! LightGCN++: LightGCN with a power of its own for each end of an edge, messages of length one, and a weight of
//! its own for the learned embeddings.
//!
//! `x_0 = E`, `x_(l+1)[u] = d_u^-α Σ_i d_i^-β x_l[i]/‖x_l[i]‖` over u's neighbours (and so for items),
//! `E' = γ E + (1 - γ) mean(x_1, …, x_L)`. Rows without neighbours stay themselves; without layers it is matrix
//! factorisation.
//!
//! Lee, Kim and Shin, "Revisiting LightGCN: Unexpected Inflexibility, Inconsistency, and A Remedy Towards Improved
//! Recommendation", RecSys 2024.

use super::graph::{Graph, Mix, Scales};
use super::lightgcn::LAYERS;
use super::{
    Backbone, Build, DIM, Embeddings, Entry, GRAPH_TABLES, POPULARITY_WEIGHT, SCORE, Step, Unit, Users,
};
use crate::data::Interactions;
use crate::optim::Touched;
use crate::params::{Param, Params, Range, Search, Value};

const ALPHA: Param = Param {
    name: "alpha",
    doc: "exponent of the receiving node's degree",
    default: Value::Number(0.6),
    range: Range::Any,
    search: Search::listed(&[0.4, 0.5, 0.6]),
};

const BETA: Param = Param {
    name: "beta",
    doc: "exponent of the sending node's degree",
    default: Value::Number(-0.1),
    range: Range::Any,
    search: Search::listed(&[-0.1, 0.0, 0.1]),
};

const GAMMA: Param = Param {
    name: "gamma",
    doc: "weight of the learned embeddings against the layers",
    default: Value::Number(0.2),
    range: Range::AtLeast(0.0),
    search: Search::listed(&[0.0, 0.1, 0.2, 0.3]),
};

pub(crate) const LIGHTGCN_PP: Entry = Entry {
    name: "lightgcn++",
    summary: "LightGCN++: LightGCN with normalised messages and tunable degree exponents",
    params: &[DIM, SCORE, POPULARITY_WEIGHT, LAYERS, ALPHA, BETA, GAMMA],
    build: Build {
        backbone: |params, train| Box::new(LightGcnPp::new(params, train)),
        extra_tables: GRAPH_TABLES,
        users: |_| Users::Table,
    },
};

struct LightGcnPp {
    graph: Graph,
    received: Scales,
    sent: Scales,
    layers: usize,
    gamma: f32,
    /// The messages of each layer, kept for the way back.
    messages: Vec<Unit>,
    sum: Embeddings,
    work: Embeddings,
    next: Embeddings,
}

impl LightGcnPp {
    fn new(params: &Params, train: &Interactions) -> Self {
        let graph = Graph::new(train);
        Self {
            received: graph.scales(params.number(ALPHA.name)),
            sent: graph.scales(params.number(BETA.name)),
            graph,
            layers: params.count(LAYERS.name),
            gamma: params.number(GAMMA.name) as f32,
            messages: Vec::new(),
            sum: Embeddings::default(),
            work: Embeddings::default(),
            next: Embeddings::default(),
        }
    }

    fn weight(&self) -> f32 {
        (1.0 - self.gamma) / self.layers as f32
    }

    /// To these rows. The layers are sums over the same graph, so it is enough to add
    /// up the messages and send the sum once.
    fn forward_to(&mut self, to: Touched<'_>, learned: &Embeddings, scored: &mut Embeddings) {
        let weight = self.weight();
        let Self { graph, received, sent, messages, sum, work, .. } = self;
        work.resize_like(learned);
        sum.resize_like(learned);
        if messages.first().is_none_or(|unit| unit.embeddings.dim() != learned.dim()) {
            *messages = (0..self.layers).map(|_| Unit::like(learned)).collect();
        }
        messages[0].set(learned);
        sum.copy_from(&messages[0].embeddings);
        for layer in 1..self.layers {
            graph.step(received, sent, &messages[layer - 1].embeddings, Mix::times(1.0), work);
            messages[layer].set(work);
            sum.add(&messages[layer].embeddings, 1.0);
        }
        let mix = Mix::times(weight).plus(learned, self.gamma).to(to);
        graph.step(received, sent, sum, mix, scored);
        graph.keep_isolated(learned, scored);
    }
}

impl Backbone for LightGcnPp {
    fn is_identity(&self) -> bool {
        self.layers == 0
    }

    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings) {
        self.forward_to(Touched::default(), learned, scored);
    }

    fn forward_training(&mut self, learned: &Embeddings, scored: &mut Embeddings, step: Step<'_>) {
        self.forward_to(step.touched, learned, scored);
    }

    fn backward(&mut self, grads: &mut Embeddings) {
        let weight = self.weight();
        let Self { graph, received, sent, messages, sum, work, next, .. } = self;
        // What each layer's messages owe to the sum, first of all the last layer's.
        graph.step(sent, received, grads, Mix::times(weight), sum);
        work.copy_from(sum);
        for layer in (1..self.layers).rev() {
            messages[layer].backward(work);
            next.resize_like(work);
            let mix = Mix::times(1.0).plus(sum, 1.0);
            graph.step(sent, received, work, mix, next);
            std::mem::swap(work, next);
        }
        messages[0].backward(work);
        work.add(grads, self.gamma);
        graph.keep_isolated(grads, work);
        std::mem::swap(grads, work);
    }
}
