//! The bipartite graph of the training interactions, and one step of messages along its edges.
//!
//! A message step is `diag(target) · A · diag(source)`, where A joins users and items both ways and the scales
//! are powers of the nodes' degrees. A is symmetric, so the adjoint of a step is the step with the scales
//! exchanged. Memory is one number an edge and direction, and a few a node.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, SparseRows, spmm};

use super::Embeddings;
use crate::data::Interactions;

/// What a task takes on, in edges (a row without edges counts as one): enough to be worth a task, few enough to
/// keep many threads busy. The cut never looks at the number of threads.
const EDGES_PER_BLOCK: usize = 4096;

/// Who is joined with whom. Only ever built from training interactions.
pub(super) struct Graph {
    users: Side,
    items: Side,
}

/// The neighbours of one kind of node.
struct Side {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    blocks: Vec<Range<usize>>,
    isolated: Vec<usize>,
}

/// A number for each node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scales {
    users: Vec<f32>,
    items: Vec<f32>,
}

/// The coefficients of a message step: `out = weight · step(x) + share · base`.
#[derive(Clone, Copy)]
pub(super) struct Mix<'a> {
    pub weight: f32,
    pub plus: Option<(&'a Embeddings, f32)>,
}

impl Graph {
    pub(super) fn new(train: &Interactions) -> Self {
        let users = Side::new((0..train.n_users() as u32).map(|u| train.items_of(u).len()), train.pairs());
        let counts = train.item_counts();
        let items = Side::new(counts.iter().map(|&n| n as usize), train.pairs().map(|(u, i)| (i, u)));
        Self { users, items }
    }

    /// `degree^-exponent` of each node; zero for those without neighbours.
    pub(super) fn scales(&self, exponent: f64) -> Scales {
        Scales { users: self.users.scales(exponent), items: self.items.scales(exponent) }
    }

    /// One message step from `x`, mixed as told, into `out`.
    pub(super) fn step(
        &self,
        target: &Scales,
        source: &Scales,
        x: &Embeddings,
        mix: Mix<'_>,
        out: &mut Embeddings,
    ) {
        let plus = |table: fn(&Embeddings) -> &Matrix| mix.plus.map(|(base, share)| (table(base), share));
        let (plus_users, plus_items) = (plus(|base| &base.users), plus(|base| &base.items));
        let Embeddings { users, items } = out;
        rayon::join(
            || self.users.step([&target.users, &source.items], &x.items, mix.weight, plus_users, users),
            || self.items.step([&target.items, &source.users], &x.users, mix.weight, plus_items, items),
        );
    }

    /// Copies the rows of nodes without neighbours: no message reaches them, so they stay what they are. No
    /// message leaves them either, so the adjoint of a whole propagation does the same with gradients.
    pub(super) fn keep_isolated(&self, from: &Embeddings, to: &mut Embeddings) {
        for (side, from, to) in
            [(&self.users, &from.users, &mut to.users), (&self.items, &from.items, &mut to.items)]
        {
            for &row in &side.isolated {
                to.row_lanes_mut(row).copy_from_slice(from.row_lanes(row));
            }
        }
    }
}

impl Side {
    /// From the degree of each node and all edges (node, neighbour). A node's neighbours keep their order.
    fn new(degrees: impl Iterator<Item = usize>, edges: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut offsets = vec![0];
        offsets.extend(degrees.scan(0, |end, degree| {
            *end += degree;
            Some(*end)
        }));
        let mut free = offsets.clone();
        let mut neighbours = vec![0; offsets[offsets.len() - 1]];
        for (node, neighbour) in edges {
            let place = &mut free[node as usize];
            neighbours[*place] = neighbour;
            *place += 1;
        }
        let n = offsets.len() - 1;
        let isolated = (0..n).filter(|&node| offsets[node] == offsets[node + 1]).collect();
        let mut blocks = Vec::new();
        let (mut first, mut cost) = (0, 0);
        for node in 0..n {
            cost += (offsets[node + 1] - offsets[node]).max(1);
            if cost >= EDGES_PER_BLOCK || node + 1 == n {
                blocks.push(first..node + 1);
                (first, cost) = (node + 1, 0);
            }
        }
        Self { offsets, neighbours, blocks, isolated }
    }

    fn scales(&self, exponent: f64) -> Vec<f32> {
        let scale = |degree: usize| if degree == 0 { 0.0 } else { (degree as f64).powf(-exponent) as f32 };
        self.offsets.windows(2).map(|ends| scale(ends[1] - ends[0])).collect()
    }

    fn step(
        &self,
        [target, source]: [&[f32]; 2],
        x: &Matrix,
        weight: f32,
        plus: Option<(&Matrix, f32)>,
        out: &mut Matrix,
    ) {
        let lanes = out.lanes();
        let mut rest = out.as_lanes_mut();
        let blocks: Vec<(&Range<usize>, &mut [Lane])> = self
            .blocks
            .iter()
            .map(|rows| {
                let (block, after) = std::mem::take(&mut rest).split_at_mut(rows.len() * lanes);
                rest = after;
                (rows, block)
            })
            .collect();
        blocks.into_par_iter().for_each(|(rows, out)| {
            let sparse = SparseRows {
                offsets: &self.offsets[rows.start..=rows.end],
                columns: &self.neighbours,
                target: &target[rows.clone()],
                source,
            };
            let plus =
                plus.map(|(base, share)| (&base.as_lanes()[rows.start * lanes..rows.end * lanes], share));
            spmm(sparse, x.as_lanes(), weight, plus, out);
        });
    }
}
