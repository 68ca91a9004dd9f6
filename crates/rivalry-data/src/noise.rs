//! False interactions added on purpose, to measure how robust a loss is.

use std::collections::HashSet;

use super::{Interactions, Parts};
use crate::rng::{Purpose, below, stream};
use crate::{InputError, Result};

/// Checks that `share` is in range.
pub(crate) fn check(share: f64) -> Result<()> {
    if (0.0..=10.0).contains(&share) {
        return Ok(());
    }
    Err(InputError::new(format!("{share} is not a fraction of the training pairs between 0 and 10"))
        .field("data.prepare.noise")
        .help("give a number such as 0.1, which adds one false pair for every ten")
        .into())
}

/// The training set with `share` times as many false pairs added, drawn uniformly from the pairs that are in no set.
pub(crate) fn add(parts: Parts<&Interactions>, share: f64, seed: u64) -> Result<Interactions> {
    let train = parts.train;
    let (n_users, n_items) = (train.n_users(), train.n_items());
    let wanted = (share * train.len() as f64).floor() as usize;
    let known: usize = parts.into_iter().map(Interactions::len).sum();
    // Rejection sampling is slow once more than half of the free pairs are taken.
    if wanted > n_users.saturating_mul(n_items).saturating_sub(known) / 2 {
        return Err(InputError::new(format!("there are too few free pairs to add {wanted} false ones"))
            .field("data.prepare.noise")
            .help("give a smaller fraction")
            .into());
    }
    let mut rng = stream(seed, Purpose::FalseInteractions, &[]);
    let mut false_pairs = HashSet::with_capacity(wanted);
    while false_pairs.len() < wanted {
        let (user, item) = (below(&mut rng, n_users as u32), below(&mut rng, n_items as u32));
        if !parts.into_iter().any(|part| part.contains(user, item)) {
            false_pairs.insert((user, item));
        }
    }
    Ok(Interactions::from_pairs(n_users, n_items, train.pairs().chain(false_pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_pairs_are_new_have_the_requested_number_and_depend_on_the_seed_alone() {
        let part = |offset: u32| Interactions::from_pairs(50, 40, (0..50).map(|u| (u, (u + offset) % 40)));
        let parts = Parts { train: part(0), valid: part(1), test: part(2) };
        let noisy = |seed| add(parts.as_ref(), 0.5, seed).unwrap();
        let one = noisy(1);
        assert_eq!(one.len(), 75);
        assert!(parts.train.pairs().all(|(user, item)| one.contains(user, item)));
        for (user, item) in parts.valid.pairs().chain(parts.test.pairs()) {
            assert!(!one.contains(user, item));
        }
        assert!(noisy(1) == one && noisy(2) != one);
        assert!(add(parts.as_ref(), 100.0, 1).is_err());
        assert!(check(f64::NAN).is_err() && check(-0.1).is_err() && check(0.2).is_ok());
    }
}
