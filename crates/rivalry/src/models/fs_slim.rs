//! fsSLIM with a squared norm: EASE restricted to each item's nearest neighbours, for catalogues whose dense matrix doesn't
//! fit into memory.
//!
//! SLIM (Ning and Karypis, ICDM 2011) reconstructs each item from others; its variant with feature selection, fsSLIM, fits
//! only the weights of the item's nearest neighbours by cosine, and was as accurate there. Without the L1 norm, which
//! is for sparsity that the neighbourhoods give already, each item is one small ridge regression,
//! `(G_NN + λI) b = G_Nj` with `G = XᵀX`, solved exactly. With all items as neighbours it is EASE. The approximate inverse of
//! SANSA (Spišák et al., RecSys 2023) serves the same purpose; this needs no global sparse factorisation with its
//! fill-in, memory is known beforehand, and items are independent, so that threads change no bit.

use rayon::prelude::*;
use rivalry_kernels::{LANES, Lane, ZERO, solve_normal_equations};

use super::ease::REGULARIZATION;
use super::neighbours::{self, K, Pair, largest_weights, powers};
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::data::Interactions;
use crate::params::{Param, Params, Range, Search};
use crate::scorer::{Scorer, SparseWeights};
use crate::tensors::Tensors;
use crate::{InputError, Result};

pub(super) const FS_SLIM: Entry = Entry {
    name: "fs-slim",
    summary: "sparse relative of ease: each item regressed on its nearest neighbours (fsSLIM)",
    params: &[NEIGHBOURS, REGULARIZATION],
    build: Kind::ClosedForm(|params| Box::new(FsSlim::new(params))),
};

/// The time grows with the third power.
const NEIGHBOURS: Param = Param {
    doc: "nearest neighbours that each item is regressed on",
    range: Range::Within(1.0, 4096.0),
    search: Search::listed(&[50.0, 100.0, 200.0, 400.0, 800.0]),
    ..K
};

/// Items between two reports of progress, for the threads to share.
const BATCH: usize = 256;

struct FsSlim {
    k: usize,
    regularization: f64,
}

impl FsSlim {
    fn new(params: &Params) -> Self {
        Self { k: params.count(K.name), regularization: params.number(REGULARIZATION.name) }
    }
}

impl ClosedForm for FsSlim {
    fn memory(&self, train: &Interactions) -> u64 {
        let system = (self.k.next_multiple_of(LANES) as u64).pow(2) * 4 + train.n_users() as u64 * 4;
        2 * neighbours::memory(train, self.k) + system * rayon::current_num_threads() as u64
    }

    fn memory_help(&self) -> &'static str {
        "lower model.k, keep fewer items, or raise --max-memory"
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let by_item = train.transposed();
        let norms = powers(&by_item, -0.5);
        let cosine = |pair: Pair| pair.sum * norms[pair.from as usize] * norms[pair.to as usize];
        let n = train.n_items();
        let (progress, total) = (&mut context.progress, 2 * n);
        let mut first_half = |done, _| progress(done, total);
        let mut first =
            FitContext { seed: context.seed, progress: &mut first_half, collective: context.collective };
        let ones = vec![1.0; train.n_users()];
        let Some(neighbours) = largest_weights(train, &ones, self.k, cosine, &mut first) else {
            return Ok(None);
        };
        let mut rows: Vec<Option<Vec<(u32, f32)>>> = Vec::with_capacity(n);
        for first in (0..n).step_by(BATCH) {
            let batch = first as u32..(first + BATCH).min(n) as u32;
            let regression = || Regression::new(train, &by_item, self.regularization as f32);
            rows.par_extend(
                batch
                    .into_par_iter()
                    .map_init(regression, |regression, item| regression.solve(item, neighbours.row(item).0)),
            );
            if !context.go_on(n + rows.len(), total) {
                return Ok(None);
            }
        }
        let Some(rows) = rows.into_iter().collect::<Option<Vec<_>>>() else {
            let what = format!("XᵀX + {} I can't be inverted in single precision", self.regularization);
            return Err(InputError::new(what)
                .field("model.regularization")
                .help("use a value nearer to the default: 'rivalry list models' shows it")
                .into());
        };
        // A row holds the weights that predict its item; scores add up what items contribute.
        let weights = SparseWeights::from_rows(rows.iter().map(Vec::as_slice)).transposed();
        neighbours::to_tensors(&weights).map(Some)
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        neighbours::scorer(tensors, train)
    }
}

/// The ridge regression of one item on others, and the memory for it.
struct Regression<'a> {
    train: &'a Interactions,
    by_item: &'a Interactions,
    regularization: f32,
    /// For each item its place among the neighbours, from 1; 0 for all others.
    places: Vec<u32>,
    /// For each user the item in whose regression they were last seen, plus 1.
    seen: Vec<u32>,
    matrix: Vec<Lane>,
}

impl<'a> Regression<'a> {
    fn new(train: &'a Interactions, by_item: &'a Interactions, regularization: f32) -> Self {
        let (places, seen) = (vec![0; train.n_items()], vec![0; train.n_users()]);
        Self { train, by_item, regularization, places, seen, matrix: Vec::new() }
    }

    /// The weights of these items in the prediction of one; `None` if the system has no solution.
    fn solve(&mut self, item: u32, neighbours: &[u32]) -> Option<Vec<(u32, f32)>> {
        let lanes = neighbours.len().div_ceil(LANES);
        self.matrix.clear();
        self.matrix.resize(LANES * lanes * lanes, ZERO);
        let mut rhs = vec![ZERO; lanes];
        for (place, &neighbour) in neighbours.iter().enumerate() {
            self.places[neighbour as usize] = place as u32 + 1;
        }
        for k in 0..LANES * lanes {
            self.matrix[k * lanes + k / LANES].0[k % LANES] = self.regularization;
        }
        let mut own: Vec<usize> = Vec::new();
        for &neighbour in neighbours {
            for &user in self.by_item.items_of(neighbour) {
                if std::mem::replace(&mut self.seen[user as usize], item + 1) == item + 1 {
                    continue;
                }
                own.clear();
                let mut has_item = false;
                for &other in self.train.items_of(user) {
                    has_item |= other == item;
                    own.extend((self.places[other as usize] as usize).checked_sub(1));
                }
                for (n, &row) in own.iter().enumerate() {
                    for &column in &own[n..] {
                        self.matrix[row * lanes + column / LANES].0[column % LANES] += 1.0;
                    }
                    if has_item {
                        rhs[row / LANES].0[row % LANES] += 1.0;
                    }
                }
            }
        }
        for &neighbour in neighbours {
            self.places[neighbour as usize] = 0;
        }
        if !solve_normal_equations(&mut self.matrix, lanes, &mut rhs) {
            return None;
        }
        let weight = |place: usize| rhs[place / LANES].0[place % LANES];
        Some(neighbours.iter().enumerate().map(|(place, &other)| (other, weight(place))).collect())
    }
}
