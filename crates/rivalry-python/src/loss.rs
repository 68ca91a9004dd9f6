//! The losses as functions of scores, for models outside this library.

use numpy::{Element, PyArray1, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rivalry::loss::{
    BatchGradients, BatchScores, LOSSES, Loss, LossConfig, NegativeFeatures, Phase, RowLoss,
};
use rivalry_kernels::Real;

use crate::detached::run_detached;
use crate::errors::{invalid, raise};

/// The value of each row, and the gradients of their sum with respect to the positives' scores, the negatives' scores and
/// the learned parameters of the loss.
type LossArrays<'py, T> = (Bound<'py, PyArray1<T>>, [Bound<'py, PyArray1<T>>; 3]);

/// Scores of a batch: positives, negatives, a feature of each negative, and the log-probability of each negative.
type BatchArgs<'py, T> = (
    PyReadonlyArray1<'py, T>,
    PyReadonlyArray2<'py, T>,
    Option<PyReadonlyArray2<'py, T>>,
    Option<PyReadonlyArray2<'py, T>>,
);

/// The state of a loss: the quantile of each row, and the loss's learned parameters.
type StateArgs = (Option<Vec<f32>>, Option<Vec<f64>>);

/// Whether a loss is a function of scores: one with several phases in a step is not.
pub fn is_function(loss: &dyn Loss) -> bool {
    loss.phases(0) == [Phase::Model]
}

/// The scores of a batch.
struct Batch<T> {
    positives: Vec<T>,
    negatives: Vec<T>,
    /// One feature for each negative; empty if the loss needs none.
    features: Vec<T>,
    /// One log-probability for each negative; empty if the loss needs none.
    log_probs: Vec<T>,
}

/// Values and gradients of a batch.
struct BatchResult<T> {
    values: Vec<T>,
    positives: Vec<T>,
    negatives: Vec<T>,
    params: Vec<T>,
}

impl<T: Real> Batch<T> {
    /// The value of each row, and the gradients of their sum.
    fn evaluate<L: RowLoss<T> + ?Sized>(&self, loss: &L, n_params: usize) -> BatchResult<T> {
        let rows = self.positives.len();
        // Quantiles are set by row.
        let users: Vec<u32> = (0..rows as u32).collect();
        let n_negatives = self.negatives.len() / rows.max(1);
        let scores = BatchScores {
            users: &users,
            positives: &self.positives,
            n_negatives,
            stride: n_negatives,
            negatives: &self.negatives,
            features: &self.features,
            log_probs: &self.log_probs,
            slates: None,
        };
        let zeros = |n: usize| vec![T::zero(); n];
        let (mut values, mut positives, mut negatives) =
            (zeros(rows), zeros(rows), zeros(self.negatives.len()));
        let mut of_chunks = zeros(BatchGradients::<T>::param_places(rows, n_params));
        let gradients = BatchGradients {
            values: &mut values,
            positives: &mut positives,
            negatives: &mut negatives,
            n_params,
            params: &mut of_chunks,
        };
        scores.evaluate(loss, Phase::Model, &mut zeros(rows), gradients);
        let mut params = zeros(n_params);
        for of_chunk in of_chunks.chunks(n_params.max(1)) {
            params.iter_mut().zip(of_chunk).for_each(|(sum, &x)| *sum = *sum + x);
        }
        BatchResult { values, positives, negatives, params }
    }
}

/// Builds the loss of a config section in JSON and sets its state.
fn build(section: &str, (quantiles, learned): StateArgs) -> PyResult<Box<dyn Loss>> {
    let section: toml::Table = serde_json::from_str(section).map_err(|e| invalid(format!("loss: {e}")))?;
    let config = LossConfig::from_table("loss", LOSSES, &section).map_err(raise)?;
    let mut loss = config.build();
    if !is_function(&*loss) {
        let name = config.name();
        return Err(invalid(format!(
            "{name} is not a function of scores: a training step has several phases\n  \
             help: train it with rivalry.Recommender(loss=\"{name}\")"
        )));
    }
    for (row, quantile) in quantiles.into_iter().flatten().enumerate() {
        loss.set_quantile(row as u32, quantile);
    }
    if let Some(learned) = learned {
        let (mut state, given) = (loss.state(), learned.len());
        state.insert("values".to_owned(), learned);
        if loss.n_params() == 0 || !loss.restore(&state) {
            let expected = loss.n_params();
            return Err(invalid(format!("the loss has {expected} learned parameters, not {given}")));
        }
    }
    Ok(loss)
}

/// Takes from the arrays what the loss needs.
fn batch<T: Real + Element>(
    loss: &dyn Loss,
    (positives, negatives, features, log_probs): BatchArgs<'_, T>,
) -> PyResult<Batch<T>> {
    let (rows, n) = (negatives.shape()[0], negatives.shape()[1]);
    let same = [&features, &log_probs]
        .iter()
        .all(|array| array.as_ref().is_none_or(|array| array.shape() == negatives.shape()));
    if positives.len() != rows || !same || rows == 0 || n == 0 {
        return Err(invalid(
            "the shapes must be (batch,) for pos and (batch, negatives) for neg, sim and log_probs",
        ));
    }
    let features = match (loss.negative_features(), features) {
        (NegativeFeatures::None, _) => vec![],
        (_, Some(features)) => features.as_slice()?.to_vec(),
        (NegativeFeatures::Similarities, None) => {
            return Err(invalid(
                "this loss needs sim\n  help: give the cosine of each negative and the positive item, shape (batch, negatives)",
            ));
        }
        (NegativeFeatures::AdversaryScores, None) => {
            return Err(invalid("this loss needs sim\n  help: give the adversary's score of each negative"));
        }
    };
    let log_probs = match (loss.uses_log_probs(), log_probs) {
        (false, _) => vec![],
        (true, Some(log_probs)) => log_probs.as_slice()?.to_vec(),
        (true, None) => {
            return Err(invalid(
                "log_q needs log_probs\n  help: give the log-probability with which each negative was drawn",
            ));
        }
    };
    let (positives, negatives) = (positives.as_slice()?.to_vec(), negatives.as_slice()?.to_vec());
    Ok(Batch { positives, negatives, features, log_probs })
}

macro_rules! loss_function {
    ($name:ident, $type:ty) => {
        /// Values and gradients of a loss, given as a config section in JSON.
        #[pyfunction]
        pub fn $name<'py>(
            py: Python<'py>,
            section: &str,
            scores: BatchArgs<'py, $type>,
            state: StateArgs,
            threads: usize,
        ) -> PyResult<LossArrays<'py, $type>> {
            let loss = build(section, state)?;
            let batch = batch(&*loss, scores)?;
            let n_params = loss.n_params();
            let BatchResult { values, positives, negatives, params } =
                run_detached(py, threads, move || Ok(batch.evaluate(&*loss, n_params)))?;
            let array = |values| PyArray1::from_vec(py, values);
            Ok((array(values), [positives, negatives, params].map(array)))
        }
    };
}

loss_function!(loss_f32, f32);
loss_function!(loss_f64, f64);
