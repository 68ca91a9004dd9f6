//! Noise on purpose: interactions that never were, to see how well a loss bears them.

use std::collections::HashSet;

use super::Interactions;
use crate::rng::{below, stream};
use crate::{InputError, Result};

/// Keeps the draws of noise apart from those of splits with the same seed.
const PURPOSE: u64 = 3;

/// Refuses a share that means nothing.
pub(super) fn check(share: f64) -> Result<()> {
    if (0.0..=10.0).contains(&share) {
        return Ok(());
    }
    Err(InputError::new(format!("{share} is not a share of the training pairs between 0 and 10"))
        .field("noise")
        .help("give a number such as 0.1 for a tenth more pairs than there are")
        .into())
}

/// The training part with false pairs: as many as `share` of its own, each equally likely among the pairs of a user
/// and an item that are in no part.
pub(super) fn add(parts: [&Interactions; 3], share: f64, seed: u64) -> Result<Interactions> {
    let train = parts[0];
    let (n_users, n_items) = (train.n_users(), train.n_items());
    let wanted = (share * train.len() as f64).floor() as usize;
    let known: usize = parts.iter().map(|part| part.len()).sum();
    // Beyond half of what is free, drawing until something free comes up would take long.
    if wanted > n_users.saturating_mul(n_items).saturating_sub(known) / 2 {
        return Err(InputError::new(format!("there is no room for {wanted} false pairs"))
            .field("noise")
            .help("give a smaller share")
            .into());
    }
    let mut rng = stream(seed, &[PURPOSE]);
    let mut false_pairs = HashSet::with_capacity(wanted);
    while false_pairs.len() < wanted {
        let (user, item) = (below(&mut rng, n_users as u32), below(&mut rng, n_items as u32));
        if parts.iter().all(|part| part.items_of(user).binary_search(&item).is_err()) {
            false_pairs.insert((user, item));
        }
    }
    Ok(Interactions::from_pairs(n_users, n_items, train.pairs().chain(false_pairs)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn false_pairs_are_new_as_many_as_asked_for_and_the_same_every_time() {
        let part = |offset: u32| Interactions::from_pairs(50, 40, (0..50).map(|u| (u, (u + offset) % 40)));
        let (train, valid, test) = (part(0), part(1), part(2));
        let noisy = |seed| add([&train, &valid, &test], 0.5, seed).unwrap();
        let one = noisy(1);
        assert_eq!(one.len(), 75);
        assert!(train.pairs().all(|(user, item)| one.items_of(user).contains(&item)));
        for (user, item) in valid.pairs().chain(test.pairs()) {
            assert!(!one.items_of(user).contains(&item));
        }
        assert!(noisy(1) == one && noisy(2) != one);
        assert!(add([&train, &valid, &test], 100.0, 1).is_err());
        assert!(check(f64::NAN).is_err() && check(-0.1).is_err() && check(0.2).is_ok());
    }
}
