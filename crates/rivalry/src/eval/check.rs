//! What must hold before anything is ranked, and what to tell the user if it doesn't.

use crate::data::Dataset;
use crate::memory::MemoryLimit;
use crate::{InputError, Matrix, Result};

/// The tables have rows of one width, and every target has one.
pub(super) fn tables(users: &Matrix, items: &Matrix, targets: &[u32]) -> Result<()> {
    if users.cols() != items.cols() || users.cols() == 0 {
        let (users, items) = (users.cols(), items.cols());
        return Err(InputError::new(format!(
            "user embeddings have {users} numbers, item embeddings {items}"
        ))
        .help("both tables of a model have the same, positive width")
        .into());
    }
    match targets.iter().find(|&&user| user as usize >= users.rows()) {
        Some(user) => Err(InputError::new(format!("user {user} of {} does not exist", users.rows())).into()),
        None => Ok(()),
    }
}

/// There are enough items for a list of `k`.
pub(super) fn list_length(k: usize, n_items: usize) -> Result<()> {
    let (fault, help) = match (k, n_items) {
        (0, _) => ("K = 0, but a list has at least one item".to_owned(), "give a K of 1 or more".to_owned()),
        (_, 0) => {
            ("there are no items to rank".to_owned(), "check that the data were read as you meant".to_owned())
        }
        _ if k > n_items => (
            format!("K = {k}, but there are only {n_items} items"),
            format!("choose a K of at most {n_items}"),
        ),
        _ => return Ok(()),
    };
    Err(InputError::new(fault).help(help).into())
}

/// The lists fit into memory: each place is an item and a score.
pub(super) fn fits(lists: usize, k: usize) -> Result<()> {
    let bytes = (lists as u64).saturating_mul(k as u64).saturating_mul(8);
    let what = format!("ranking {k} items for each of {lists} users");
    MemoryLimit::default()
        .require(bytes, &what)
        .map_err(|refused| refused.help("ask for shorter lists or fewer users").into())
}

/// All lengths are possible, and there is one; the longest comes back.
pub(super) fn list_lengths(ks: &[usize], n_items: usize) -> Result<usize> {
    ks.iter().try_for_each(|&k| list_length(k, n_items))?;
    let none = || InputError::new("no K to measure at").field("k").help("give at least one, such as 20");
    Ok(ks.iter().copied().max().ok_or_else(none)?)
}

/// The embeddings are of this data set's users and items.
pub(super) fn same_world(users: &Matrix, items: &Matrix, dataset: &Dataset) -> Result<()> {
    let model = (users.rows(), items.rows());
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
