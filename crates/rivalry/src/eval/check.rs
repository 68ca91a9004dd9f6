//! What must hold before a model is evaluated.

use crate::data::Dataset;
use crate::ranker::check::list_length;
use crate::scorer::Scorer;
use crate::{InputError, Result};

/// All list lengths are possible, and there is one. Returns the longest.
pub(super) fn list_lengths(ks: &[usize], n_items: usize) -> Result<usize> {
    ks.iter().try_for_each(|&k| list_length(k, n_items))?;
    let none = || InputError::new("no K to evaluate at").field("k").help("give at least one, such as 20");
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
