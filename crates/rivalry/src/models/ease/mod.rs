//! EASE (Steck, *Embarrassingly shallow autoencoders for sparse data*, WWW 2019): item-to-item weights B that reconstruct
//! each user's items from their other items, `min ‖X - XB‖² + λ‖B‖²` with a zero diagonal.
//!
//! With `P = (XᵀX + λI)⁻¹`, the solution is `B_ij = -P_ij / P_jj`. The matrix is inverted in place, in single precision; only
//! the blocks on its diagonal are factorised in double precision. Counts in `XᵀX` are exact. The relative error of the
//! weights is about 10⁻⁷ times the condition number of `XᵀX + λI`, which the largest eigenvalue divided by λ bounds: small λ
//! on large data cost digits, and a matrix that single precision can't invert is refused.
//!
//! Dense products are `faer`'s, on one thread each, in blocks that don't depend on the number of threads.

mod inverse;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rayon::prelude::*;

use self::inverse::{BLOCK, Inversion, negative_inverse};
use super::{ClosedForm, Entry, FitContext, Kind};
use crate::data::Interactions;
use crate::params::{Param, Range, Search, Value};
use crate::scorer::{DenseWeights, ItemItemScorer, Scorer};
use crate::tensors::Tensors;
use crate::{InputError, Result};

pub(super) const EASE: Entry = Entry {
    name: "ease",
    summary: "linear item-to-item autoencoder with a closed form; memory is 4 bytes for each pair of items",
    params: &[REGULARIZATION],
    build: Kind::ClosedForm(|params| Box::new(Ease { regularization: params.number(REGULARIZATION.name) })),
};

/// Of this model and of its sparse relative.
pub(super) const REGULARIZATION: Param = Param {
    name: "regularization",
    doc: "λ, the weight of the squared norm of the weights",
    default: Value::Number(100.0),
    range: Range::Positive,
    search: Search::log_uniform(&[3.0, 10.0, 30.0, 100.0, 300.0, 1000.0]),
};

/// The name of the weights among the tensors.
const WEIGHTS: &str = "weights";

struct Ease {
    regularization: f64,
}

impl ClosedForm for Ease {
    fn memory(&self, train: &Interactions) -> u64 {
        let n = train.n_items() as u64;
        // The matrix, two columns of blocks, interactions both ways and as queries, the evaluation's blocks.
        n * n * 4 + n * 2 * BLOCK as u64 * 4 + train.len() as u64 * 24 + (32 << 20)
    }

    fn memory_help(&self) -> &'static str {
        "use model.type = \"fs-slim\", whose weights are sparse, keep fewer items, or raise --max-memory"
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let n = train.n_items();
        let mut matrix = gram(train, self.regularization as f32);
        match negative_inverse(&mut matrix, n, &mut |done, total| context.go_on(done, total)) {
            Inversion::Done => {}
            Inversion::Stopped => return Ok(None),
            Inversion::NotPositiveDefinite => return Err(self.singular()),
        }
        // The diagonal is that of -P.
        let diagonal: Vec<f32> = (0..n).map(|i| matrix[i * n + i]).collect();
        let finite = matrix.par_chunks_mut(n).enumerate().map(|(i, row)| {
            row.iter_mut().zip(&diagonal).for_each(|(x, diagonal)| *x = -*x / diagonal);
            row[i] = 0.0;
            row.iter().all(|x| x.is_finite())
        });
        if !finite.reduce(|| true, |a, b| a && b) {
            return Err(self.singular());
        }
        let mut tensors = Tensors::default();
        tensors.put_square(WEIGHTS, n, Arc::new(matrix));
        Ok(Some(tensors))
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        let n = train.n_items();
        let weights = DenseWeights::new(n, tensors.get_square(WEIGHTS, n)?);
        Ok(Box::new(ItemItemScorer::new(weights, train)))
    }
}

impl Ease {
    fn singular(&self) -> crate::Error {
        let what = format!("XᵀX + {} I can't be inverted in single precision", self.regularization);
        InputError::new(what)
            .field("model.regularization")
            .help("use a value nearer to the default: 'rivalry list models' shows it")
            .into()
    }
}

/// `XᵀX + λI` in row-major order, the lower triangle.
fn gram(train: &Interactions, regularization: f32) -> Vec<f32> {
    let n = train.n_items();
    let by_item = train.transposed();
    let mut matrix = vec![0.0; n * n];
    // Inverting works on blocks of rows that are several ordinary pages apart.
    rivalry_kernels::advise_huge_pages(&mut matrix);
    matrix.par_chunks_mut(n.max(1)).enumerate().for_each(|(item, row)| {
        for &user in by_item.items_of(item as u32) {
            for &other in train.items_of(user).iter().take_while(|&&other| other as usize <= item) {
                row[other as usize] += 1.0;
            }
        }
        row[item] += regularization;
    });
    matrix
}
