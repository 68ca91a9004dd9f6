//! The bipartite graph of the training interactions, and one step of messages along its edges.
//!
//! A message step is `diag(target) · A · diag(source)`, where A joins users and items both ways and the scales
//! are powers of the nodes' degrees. A is symmetric, so the adjoint of a step is the step with the scales
//! exchanged. Memory is one number an edge and direction, and a few a node.
//!
//! A training step needs less than that: nodes that are not in the batch need receive nothing, and rows of zeros, which
//! is what most users have for a gradient, need not be sent.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::{Lane, Matrix, SparseRows, ZERO, spmm};

use super::Embeddings;
use crate::data::Interactions;
use crate::optim::Touched;

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

/// What becomes of a message step: `out = weight · step(x) + share · base`.
#[derive(Clone, Copy)]
pub(super) struct Mix<'a> {
    weight: f32,
    plus: Option<(&'a Embeddings, f32)>,
    to: Touched<'a>,
}

impl<'a> Mix<'a> {
    pub(super) fn times(weight: f32) -> Self {
        Self { weight, plus: None, to: Touched::default() }
    }

    pub(super) fn plus(self, base: &'a Embeddings, share: f32) -> Self {
        Self { plus: (share != 0.0).then_some((base, share)), ..self }
    }

    /// Leaves the rows of other nodes than these as they are.
    pub(super) fn to(self, rows: Touched<'a>) -> Self {
        Self { to: rows, ..self }
    }
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

    /// One message step from `x`, with `out` to become what the mix says.
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
        let Mix { weight, to, .. } = mix;
        let to_users =
            Messages { target: &target.users, source: &source.items, x: &x.items, weight, plus: plus_users };
        let to_items =
            Messages { target: &target.items, source: &source.users, x: &x.users, weight, plus: plus_items };
        // One side after the other, so that the cache holds rows of one table at a time.
        self.users.step(to.users, to_users, &mut out.users);
        self.items.step(to.items, to_items, &mut out.items);
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

    fn step(&self, only: Option<&[u32]>, messages: Messages<'_>, out: &mut Matrix) {
        let receivers: Cow<'_, [Range<usize>]> = match only {
            None => Cow::Borrowed(&self.blocks),
            Some(rows) => rows.iter().map(|&row| row as usize..row as usize + 1).collect(),
        };
        let senders = Senders::among(messages.x);
        blocks_of(out, &receivers).into_par_iter().for_each(|(rows, out)| {
            let base = messages.base(&rows);
            senders.keep(self.rows(&rows, &messages), |some| {
                spmm(some, messages.x.as_lanes(), messages.weight, base, out);
            });
        });
    }

    /// The edges to some rows.
    fn rows<'a>(&'a self, rows: &Range<usize>, messages: &Messages<'a>) -> SparseRows<'a> {
        SparseRows {
            offsets: &self.offsets[rows.start..=rows.end],
            columns: &self.neighbours,
            target: &messages.target[rows.clone()],
            source: messages.source,
        }
    }
}

/// Cuts a table into ranges of rows, which ascend; rows between them are left out.
fn blocks_of<'a>(out: &'a mut Matrix, ranges: &[Range<usize>]) -> Vec<(Range<usize>, &'a mut [Lane])> {
    let lanes = out.lanes();
    let (mut rest, mut done) = (out.as_lanes_mut(), 0);
    let cut = |rows: &Range<usize>| {
        let (block, after) =
            std::mem::take(&mut rest)[(rows.start - done) * lanes..].split_at_mut(rows.len() * lanes);
        (rest, done) = (after, rows.end);
        (rows.clone(), block)
    };
    ranges.iter().map(cut).collect()
}

/// Messages to one side of the graph: `weight · diag(target) · A · diag(source) · x + share · base`.
#[derive(Clone, Copy)]
struct Messages<'a> {
    target: &'a [f32],
    source: &'a [f32],
    x: &'a Matrix,
    weight: f32,
    plus: Option<(&'a Matrix, f32)>,
}

impl<'a> Messages<'a> {
    /// What is added to some rows.
    fn base(&self, rows: &Range<usize>) -> Option<(&'a [Lane], f32)> {
        self.plus.map(|(base, share)| {
            let lanes = base.lanes();
            (&base.as_lanes()[rows.start * lanes..rows.end * lanes], share)
        })
    }
}

/// Which rows of a table have anything to send.
struct Senders(Option<Vec<bool>>);

impl Senders {
    /// If only few have; else it is not worth looking.
    fn among(x: &Matrix) -> Self {
        let (lanes, few) = (x.lanes().max(1), x.rows() / 4);
        let sends = |row: &[Lane]| row.iter().any(|lane| *lane != ZERO);
        // A table of embeddings has no rows of zeros: every sixteenth row is enough to see that.
        let sampled = x.as_lanes().chunks_exact(lanes).step_by(16).filter(|row| sends(row)).count();
        if 16 * sampled > few + 16 {
            return Self(None);
        }
        let senders: Vec<bool> = x.as_lanes().par_chunks_exact(lanes).with_min_len(1024).map(sends).collect();
        let n = senders.iter().filter(|&&sends| sends).count();
        Self((n < few).then_some(senders))
    }

    /// Hands on the edges from those.
    fn keep(&self, all: SparseRows<'_>, work: impl FnOnce(SparseRows<'_>)) {
        let Some(senders) = &self.0 else { return work(all) };
        let (first, last) = (all.offsets[0], all.offsets[all.offsets.len() - 1]);
        let (mut offsets, mut columns, mut n) = (vec![0], vec![0; last - first], 0);
        for ends in all.offsets.windows(2) {
            for &column in &all.columns[ends[0]..ends[1]] {
                // Without a branch, which could not be predicted.
                columns[n] = column;
                n += usize::from(senders[column as usize]);
            }
            offsets.push(n);
        }
        work(SparseRows { offsets: &offsets, columns: &columns[..n], ..all });
    }
}
