//! iALS: matrix factorisation by alternating least squares (Hu, Koren and Volinsky, ICDM 2008), in the formulation and
//! with the regularisation of Rendle et al., *Revisiting the performance of iALS on item recommendation benchmarks*
//! (RecSys 2022). Rows with many interactions are solved for with the block solver of iALS++ (Rendle et al., *iALS++: speeding up
//! matrix factorization with subspace optimization*, 2021), all others exactly ([`sweep`]).
//!
//! With `S` the training pairs, users `w_u` and items `h_i`, it minimises
//!
//! ```text
//! Σ_{(u,i) ∈ S} (w_u·h_i - 1)² + α Σ_u Σ_i (w_u·h_i)²
//!   + λ ( Σ_u (f_u / mean f_u)^ν ‖w_u‖² + Σ_i (f_i / mean f_i)^ν ‖h_i‖² )
//! ```
//!
//! with the frequencies `f_u = |I_u| + α |I|` and `f_i = |U_i| + α |U|`; α is `unobserved_weight`, λ `regularization` and ν
//! `regularization_exp`. Rendle et al. don't divide by the means, so their λ depends on the size of the data: it is ours
//! divided by the geometric mean of `(mean f_u)^ν` and `(mean f_i)^ν`. `implicit` minimises the same function with ν = 0,
//! up to the scale of the factors: its `alpha` is (1 + α)/α, its `regularization` λ (1 + α)/α.

mod basis;
mod gram;
mod sweep;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use self::gram::Normal;
use self::sweep::HalfSweep;
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::backbone::{DIM, Embeddings, Score};
use crate::collective::{Alone, Collective};
use crate::data::Interactions;
use crate::loss::Init;
use crate::optim::Size;
use crate::params::{Param, Params, Range, Search, Value};
use crate::rng::Purpose;
use crate::scorer::{EmbeddingScorer, Scorer};
use crate::tensors::{Tensors, broken};
use crate::train::gradient::{cut, initial_where};
use crate::{InputError, Matrix, Result};

pub(super) const IALS: Entry = Entry {
    name: "ials",
    summary: "implicit matrix factorisation by alternating least squares (iALS++)",
    params: &[
        Param { search: Search::listed(&[64.0, 128.0, 256.0, 512.0]), ..DIM },
        ITERATIONS,
        REGULARIZATION,
        REGULARIZATION_EXP,
        UNOBSERVED_WEIGHT,
        STDDEV,
        BLOCK_SIZE,
    ],
    build: Kind::ClosedForm(|params| Box::new(Ials::new(params))),
};

const ITERATIONS: Param = Param {
    name: "iterations",
    doc: "sweeps over users and items",
    default: Value::Count(16),
    range: Range::Within(1.0, 10000.0),
    search: Search::NONE,
};
const REGULARIZATION: Param = Param {
    name: "regularization",
    doc: "λ, the weight of the squared norms",
    default: Value::Number(5.0),
    range: Range::Positive,
    search: Search::log_uniform(&[1.0, 3.0, 10.0, 30.0]),
};
const REGULARIZATION_EXP: Param = Param {
    name: "regularization_exp",
    doc: "ν, the exponent of the frequency that scales the regularisation: 0 is the same for all, 1 proportional",
    default: Value::Number(1.0),
    range: Range::Within(0.0, 2.0),
    search: Search::NONE,
};
const UNOBSERVED_WEIGHT: Param = Param {
    name: "unobserved_weight",
    doc: "α, the weight of all pairs, compared with 1 for training pairs",
    default: Value::Number(0.1),
    range: Range::Positive,
    search: Search::log_uniform(&[0.01, 0.03, 0.1, 0.3, 1.0]),
};
const STDDEV: Param = Param {
    name: "stddev",
    doc: "standard deviation of the initial factors, times the square root of the dimension",
    default: Value::Number(0.1),
    range: Range::Positive,
    search: Search::NONE,
};
const BLOCK_SIZE: Param = Param {
    name: "block_size",
    doc: "dimensions that are solved for together, rounded up to a multiple of 16, in rows with more than 64 interactions; the \
          others are solved for exactly",
    default: Value::Count(32),
    range: Range::Within(1.0, 16384.0),
    search: Search::NONE,
};

/// The name of the tables among the tensors.
const FACTORS: &str = "factors";

/// The model's settings.
#[derive(Clone, Debug)]
struct Ials {
    dim: usize,
    iterations: usize,
    stddev: f64,
    block_lanes: usize,
    penalty: Penalty,
}

/// Weights of what is not observed and of the squared norms.
#[derive(Clone, Copy, Debug)]
struct Penalty {
    unobserved: f64,
    regularization: f64,
    exponent: f64,
}

/// The weights of the squared norms of a table's rows.
#[derive(Clone, Copy, Debug)]
struct Norms {
    penalty: Penalty,
    /// The weight of all pairs of a row together.
    unobserved: f64,
    /// The mean frequency of a row.
    mean: f64,
}

impl Norms {
    /// For the rows of these interactions.
    fn new(penalty: Penalty, rows: &Interactions) -> Self {
        let unobserved = penalty.unobserved * rows.n_items() as f64;
        Self { penalty, unobserved, mean: rows.len() as f64 / rows.n_users().max(1) as f64 + unobserved }
    }

    /// For a row with this number of interactions.
    fn of_row(&self, interactions: usize) -> f32 {
        let frequency = (interactions as f64 + self.unobserved) / self.mean;
        (self.penalty.regularization * frequency.powf(self.penalty.exponent)) as f32
    }
}

impl Ials {
    fn new(params: &Params) -> Self {
        Self {
            dim: params.count(DIM.name),
            iterations: params.count(ITERATIONS.name),
            stddev: params.number(STDDEV.name),
            block_lanes: params.count(BLOCK_SIZE.name).div_ceil(rivalry_kernels::LANES),
            penalty: Penalty {
                unobserved: params.number(UNOBSERVED_WEIGHT.name),
                regularization: params.number(REGULARIZATION.name),
                exponent: params.number(REGULARIZATION_EXP.name),
            },
        }
    }

    /// The factors, or `None` if the context asked to stop.
    fn factors(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Embeddings>> {
        let by_item = train.transposed();
        let size = Size { users: train.n_users(), items: train.n_items(), dim: self.dim };
        let init = Init::Normal(self.stddev / (self.dim as f64).sqrt());
        // The first half of a sweep solves for users: most of them exactly, whatever they were before.
        let improved = |user: usize| !HalfSweep::is_exact(train.items_of(user as u32).len(), self.dim);
        let mut factors = initial_where(improved, init, size, 0..size.users, context.seed, Purpose::Init);
        let sweep = HalfSweep { penalty: self.penalty, block_lanes: self.block_lanes };
        // The first row of each process's part, and the end.
        let parts = [train, &by_item].map(|rows| cut(rows, context.collective.size()));
        for iteration in 0..self.iterations {
            for (half, rows) in [train, &by_item].into_iter().enumerate() {
                let [users, items] = factors.tables_mut();
                let (updated, others) = if half == 0 { (users, items) } else { (items, users) };
                let (collective, parts) = (context.collective, &parts[half]);
                let mine = parts[collective.rank()]..parts[collective.rank() + 1];
                let solved = sweep.run(updated, mine.clone(), others, rows);
                if collective.any(!solved) {
                    return collective.agree(Err(self.overflow()));
                }
                exchange_rows(collective, updated, mine);
                if !context.go_on(2 * iteration + half + 1, 2 * self.iterations) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(factors))
    }

    fn overflow(&self) -> crate::Error {
        InputError::new("the factors are too large or too small for single precision")
            .field("model.regularization, model.unobserved_weight, model.stddev")
            .help("use values nearer to the defaults: 'rivalry list models' shows them")
            .into()
    }
}

/// Gives these rows of a table to the other processes, and takes theirs.
fn exchange_rows(collective: &dyn Collective, table: &mut Matrix, mine: std::ops::Range<usize>) {
    if collective.size() > 1 {
        let lanes = table.lanes();
        let mine = &table.as_lanes()[mine.start * lanes..mine.end * lanes];
        let all = collective.all_gather(bytemuck::cast_slice(mine)).concat();
        bytemuck::cast_slice_mut(table.as_lanes_mut()).copy_from_slice(&all);
    }
}

/// Initial tables for a gradient model: `sweeps` sweeps of iALS with its default settings.
///
/// # Errors
/// If the tables have numbers that are not finite.
pub fn als_tables(train: &Interactions, dim: usize, seed: u64, sweeps: usize) -> Result<Embeddings> {
    let section = toml::Table::from_iter([
        (DIM.name.to_owned(), toml::Value::Integer(dim as i64)),
        (ITERATIONS.name.to_owned(), toml::Value::Integer(sweeps as i64)),
    ]);
    let model = Ials::new(&Params::check("model", IALS.params, &section)?);
    let mut go_on = |_, _| std::ops::ControlFlow::Continue(());
    let factors = model.factors(train, &mut FitContext { seed, progress: &mut go_on, collective: &Alone })?;
    Ok(factors.expect("nobody asks to stop"))
}

impl ClosedForm for Ials {
    fn memory(&self, train: &Interactions) -> u64 {
        let rows = (train.n_users() + train.n_items()) as u64;
        let width = self.dim.next_multiple_of(rivalry_kernels::LANES) as u64;
        // The factors; and as tensors, as panels and of unit length for use. Partial sums of Gram matrices. Interactions
        // both ways.
        rows * width * 4 * 4 + rows.div_ceil(1024) * width * width * 4 + train.len() as u64 * 16
    }

    fn uses_seed(&self) -> bool {
        true
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let Some(factors) = self.factors(train, context)? else { return Ok(None) };
        let mut tensors = Tensors::default();
        tensors.put_embeddings(FACTORS, &factors);
        Ok(Some(tensors))
    }

    /// A new user's factors are those that minimise the loss for their items and the items' factors.
    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        let factors = tensors.get_embeddings(FACTORS)?;
        if (factors.users.rows(), factors.items.rows()) != (train.n_users(), train.n_items()) {
            return Err(broken("its tables and ids are of different sizes").into());
        }
        let (unobserved, norms) = (self.penalty.unobserved, Norms::new(self.penalty, train));
        let normal = OnceLock::new();
        let scorer = EmbeddingScorer::new(factors, Score::Dot);
        Ok(Box::new(scorer.with_fold_in(move |items, histories| {
            normal.get_or_init(|| Normal::new(items, unobserved, norms)).solve(items, histories)
        })))
    }
}
