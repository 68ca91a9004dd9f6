//! What must hold before anything is ranked.

use crate::data::count;
use crate::memory::MemoryLimit;
use crate::{InputError, Result};

/// There are enough items for a list of `k`.
pub(crate) fn list_length(k: usize, n_items: usize) -> Result<(), InputError> {
    let (fault, help) = match (k, n_items) {
        (0, _) => ("K = 0, but a list has at least one item".to_owned(), "give a K of 1 or more".to_owned()),
        (_, 0) => ("there are no items to rank".to_owned(), "check how the data were read".to_owned()),
        _ if k > n_items => (
            format!(
                "K = {k}, but there {} only {}",
                if n_items == 1 { "is" } else { "are" },
                count(n_items, "item")
            ),
            format!("choose a K of at most {n_items}"),
        ),
        _ => return Ok(()),
    };
    Err(InputError::new(fault).help(help))
}

/// The lists fit into memory: each place takes an item and a score.
pub(crate) fn memory(lists: usize, k: usize, limit: MemoryLimit) -> Result<()> {
    let bytes = (lists as u64).saturating_mul(k as u64).saturating_mul(8);
    let what = format!("ranking {k} items for each of {lists} users");
    limit.require(bytes, &what).map_err(|refused| refused.help("ask for shorter lists or fewer users").into())
}

/// Every id is below the number of rows; `kind` is `user` or `item`.
pub(crate) fn ids(kind: &str, ids: &[u32], n: usize) -> Result<()> {
    match ids.iter().find(|&&id| id as usize >= n) {
        Some(id) => Err(InputError::new(format!("{kind} {id} doesn't exist: there are {n}")).into()),
        None => Ok(()),
    }
}
