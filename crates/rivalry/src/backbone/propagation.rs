//! The weighted sum of what a symmetric graph carries through its layers: LightGCN's propagation.

use super::Embeddings;
use super::graph::{Graph, Mix, Scales};
use crate::data::Interactions;
use crate::optim::Touched;

/// `first · E + rest · (ÂE + Â²E + … + Â^L E)` for at least one layer, with `Â = D^-½ A D^-½`.
///
/// The map is symmetric, so it is its own adjoint. Rows of nodes without neighbours stay themselves.
pub(super) struct Propagation {
    pub graph: Graph,
    pub scales: Scales,
    pub layers: usize,
    pub first: f32,
    pub rest: f32,
    sum: Embeddings,
    next: Embeddings,
}

impl Propagation {
    /// The mean of the layers, the learned tables counted as one of them or not.
    pub(super) fn mean(train: &Interactions, layers: usize, with_learned: bool) -> Self {
        let graph = Graph::new(train);
        let scales = graph.scales(0.5);
        let rest = 1.0 / (layers + usize::from(with_learned)) as f32;
        let first = if with_learned { rest } else { 0.0 };
        Self { graph, scales, layers, first, rest, sum: Embeddings::default(), next: Embeddings::default() }
    }

    /// The whole map, to these rows.
    pub(super) fn apply(&mut self, x: &Embeddings, to: Touched<'_>, out: &mut Embeddings) {
        self.add_up(x);
        self.carry_on(x, to, out);
    }

    /// The first half: `x + Âx + … + Â^(L-1) x`, by Horner's rule. Whatever is added to it takes part in the
    /// second half.
    pub(super) fn add_up(&mut self, x: &Embeddings) -> &mut Embeddings {
        let Self { graph, scales, sum, next, .. } = self;
        sum.resize_like(x);
        if self.layers == 1 {
            sum.copy_from(x);
        }
        for layer in 1..self.layers {
            let mix = Mix::times(1.0).plus(x, 1.0);
            if layer == 1 {
                graph.step(scales, scales, x, mix, sum);
            } else {
                next.resize_like(x);
                graph.step(scales, scales, sum, mix, next);
                std::mem::swap(sum, next);
            }
        }
        sum
    }

    /// The second half: one layer more for the sum, and the two weights.
    pub(super) fn carry_on(&self, x: &Embeddings, to: Touched<'_>, out: &mut Embeddings) {
        let mix = Mix::times(self.rest).plus(x, self.first).to(to);
        self.graph.step(&self.scales, &self.scales, &self.sum, mix, out);
        self.graph.keep_isolated(x, out);
    }
}
