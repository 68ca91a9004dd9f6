//! What must hold before a model is evaluated.

use super::EvalPart;
use crate::data::{Dataset, thousands};
use crate::model::Model;
use crate::ranker::check::list_length;
use crate::scorer::Scorer;
use crate::{InputError, Result};

/// All list lengths are possible, and there is one. Returns the longest.
pub(super) fn list_lengths(ks: &[usize], n_items: usize) -> Result<usize> {
    ks.iter().try_for_each(|&k| list_length(k, n_items)).map_err(|fault| fault.field("eval.k"))?;
    let none =
        || InputError::new("no K to evaluate at").field("eval.k").help("give at least one, such as 20");
    Ok(ks.iter().copied().max().ok_or_else(none)?)
}

/// The model is one of this data set's users and items.
pub(super) fn sizes(scorer: &dyn Scorer, dataset: &Dataset) -> Result<()> {
    let model = (scorer.n_users(), scorer.n_items());
    let data = (dataset.train.n_users(), dataset.train.n_items());
    if model == data {
        return Ok(());
    }
    let fault = format!(
        "the model has {} users and {} items, the data set '{}' has {} and {}",
        model.0, model.1, dataset.name, data.0, data.1
    );
    Err(InputError::new(fault).help("evaluate a model on the data set it was trained on").into())
}

/// Refuses to measure a model on pairs that it was trained with.
///
/// # Errors
/// If the part that would be evaluated holds training pairs of the model.
pub fn check_held_out(model: &Model, dataset: &Dataset, part: EvalPart) -> Result<()> {
    let (name, held_out) = match part {
        EvalPart::Valid => ("validation", &dataset.valid),
        EvalPart::Test => ("test", &dataset.test),
    };
    let seen = held_out.pairs().filter(|&(user, item)| model.train.contains(user, item)).count();
    if seen == 0 {
        return Ok(());
    }
    let (seen, all) = (thousands(seen), thousands(held_out.len()));
    let what = format!("{seen} of {all} {name} pairs are pairs the model was trained with");
    let help = "such figures say nothing: fit the model on the training set of these data, and evaluate it on pairs it \
                has not seen";
    Err(InputError::new(what).help(help).into())
}
