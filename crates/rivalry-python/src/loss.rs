//! The losses as functions of scores, for people with models of their own.

use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use rivalry::loss::{GradientBuffers, Loss, NegativeFeatures, Phase, Row, RowLoss, build};
use rivalry_kernels::Real;

use crate::attend::attend;
use crate::errors::{raise, wrong};

/// Each row's value, and the gradients of their sum: of the positives' scores, of the negatives', of the loss's own
/// numbers.
type Outcome<'py, T> = (Bound<'py, PyArray1<T>>, [Bound<'py, PyArray1<T>>; 3]);

/// Whether a loss is a function of scores: one that takes several turns in a step is more than that.
pub fn is_a_function(loss: &dyn Loss) -> bool {
    loss.phases(0) == [Phase::Model]
}

/// One batch of scores.
struct Batch<T> {
    positives: Vec<T>,
    negatives: Vec<T>,
    features: Vec<T>,
    n: usize,
}

impl<T: Real> Batch<T> {
    fn row(&self, b: usize) -> Row<'_, T> {
        let of_row = |list| <[T]>::get(list, b * self.n..(b + 1) * self.n).unwrap_or_default();
        Row {
            user: b as u32,
            positive: self.positives[b],
            negatives: of_row(&self.negatives),
            features: of_row(&self.features),
        }
    }

    /// Both passes of the loss over all rows.
    fn pass<L: RowLoss<T> + ?Sized>(&self, loss: &L, own: usize) -> [Vec<T>; 4] {
        let rows = self.positives.len();
        let mut measures: Vec<T> = (0..rows).into_par_iter().map(|b| loss.measure(self.row(b))).collect();
        loss.calibrate(&mut measures);
        let mut grads = vec![T::zero(); self.negatives.len()];
        let outcomes: Vec<_> = grads
            .par_chunks_mut(self.n)
            .zip(&measures)
            .enumerate()
            .map(|(b, (negatives, &measure))| {
                let mut own = vec![T::zero(); own];
                let places = GradientBuffers { negatives, params: &mut own };
                (loss.gradient(Phase::Model, self.row(b), measure, places), own)
            })
            .collect();
        let mut own_grads = vec![T::zero(); own];
        for (_, own) in &outcomes {
            own_grads.iter_mut().zip(own).for_each(|(sum, &x)| *sum = *sum + x);
        }
        let values = outcomes.iter().map(|(row, _)| row.value).collect();
        let positives = outcomes.iter().map(|(row, _)| row.positive).collect();
        [values, positives, grads, own_grads]
    }
}

/// What comes with the scores, where the loss wants it.
struct Extras {
    quantiles: Option<Vec<f32>>,
    own: Option<Vec<f64>>,
}

/// The loss a section in JSON asks for, in the state that the extras say.
fn prepared(section: &str, extras: Extras) -> PyResult<Box<dyn Loss>> {
    let section: toml::Table = serde_json::from_str(section).map_err(|e| wrong(format!("loss: {e}")))?;
    let mut loss = build(&section).map_err(raise)?;
    if !is_a_function(&*loss) {
        let name = section["type"].as_str().unwrap_or_default();
        return Err(wrong(format!(
            "{name} takes several turns in a step, with a network of its own: it is more than a function of scores\n  \
             help: train it with rivalry.Recommender(loss=\"{name}\")"
        )));
    }
    for (row, quantile) in extras.quantiles.into_iter().flatten().enumerate() {
        loss.set_quantile(row as u32, quantile);
    }
    if let Some(own) = extras.own {
        let (mut state, given) = (loss.state(), own.len());
        state.insert("values".to_owned(), own);
        if loss.n_params() == 0 || !loss.restore(&state) {
            let expected = loss.n_params();
            return Err(wrong(format!("the loss learns {expected} numbers of its own, not {given}")));
        }
    }
    Ok(loss)
}

fn run<'py, T>(
    py: Python<'py>,
    loss: Box<dyn Loss>,
    positives: PyReadonlyArray1<'py, T>,
    negatives: PyReadonlyArray2<'py, T>,
    features: Option<PyReadonlyArray2<'py, T>>,
    threads: usize,
) -> PyResult<Outcome<'py, T>>
where
    T: Real + Element,
    dyn Loss: RowLoss<T>,
{
    let (rows, n) = (negatives.shape()[0], negatives.shape()[1]);
    let fits = features.as_ref().is_none_or(|features| features.shape() == negatives.shape());
    if positives.len() != rows || !fits || rows == 0 || n == 0 {
        return Err(wrong("the shapes must be (batch,) for pos and (batch, negatives) for neg and sim"));
    }
    let needs = RowLoss::<T>::negative_features(&*loss);
    let features = match (needs, features) {
        (NegativeFeatures::None, _) => vec![],
        (_, Some(features)) => features.as_slice()?.to_vec(),
        (NegativeFeatures::Similarities, None) => {
            return Err(wrong(
                "this loss needs sim\n  help: give the cosine of each negative and the positive item, shape (batch, negatives)",
            ));
        }
        (NegativeFeatures::AdversaryScores, None) => {
            return Err(wrong("this loss needs sim\n  help: give the score the rival gives each negative"));
        }
    };
    let batch = Batch {
        positives: positives.as_slice()?.to_vec(),
        negatives: negatives.as_slice()?.to_vec(),
        features,
        n,
    };
    let own = loss.n_params();
    let [values, positives, negatives, own] = attend(py, threads, move || Ok(batch.pass(&*loss, own)))?;
    let array = |list| PyArray1::from_vec(py, list);
    Ok((array(values), [positives, negatives, own].map(array)))
}

macro_rules! loss_function {
    ($name:ident, $type:ty) => {
        /// Values and gradients of a loss, given as a section of a config in JSON.
        #[pyfunction]
        #[pyo3(signature = (section, pos, neg, sim=None, quantiles=None, own=None, threads=0))]
        #[expect(clippy::too_many_arguments, reason = "all that a loss may depend on")]
        pub fn $name<'py>(
            py: Python<'py>,
            section: &str,
            pos: PyReadonlyArray1<'py, $type>,
            neg: PyReadonlyArray2<'py, $type>,
            sim: Option<PyReadonlyArray2<'py, $type>>,
            quantiles: Option<Vec<f32>>,
            own: Option<Vec<f64>>,
            threads: usize,
        ) -> PyResult<Outcome<'py, $type>> {
            run(py, prepared(section, Extras { quantiles, own })?, pos, neg, sim, threads)
        }
    };
}

loss_function!(loss_f32, f32);
loss_function!(loss_f64, f64);
