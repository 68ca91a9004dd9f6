//! Figures that say more about the data than about the model.

use super::{EvalOptions, EvalPart, HeldOut};
use crate::data::{Dataset, count};

/// Below so many users, single users decide the means.
const FEW_USERS: usize = 50;

/// What makes the figures of an evaluation misleading: few users to measure on, or lists so long that they hold all
/// candidates, so that any model would find everything.
pub fn artefacts(dataset: &Dataset, part: EvalPart, options: &EvalOptions) -> Vec<String> {
    let Ok(held_out) = HeldOut::of(dataset, part, options) else { return Vec::new() };
    let users = &held_out.users;
    let mut found = Vec::new();
    if users.len() < FEW_USERS {
        found.push(format!(
            "measured on {} only: single users decide the figures",
            count(users.len(), "user")
        ));
    }
    let Some(&k) = options.k.iter().max() else { return found };
    let candidates = |user: u32| {
        let masked: usize = held_out.masked.iter().map(|table| table.count_of(user)).sum();
        dataset.train.n_items() - masked.min(dataset.train.n_items())
    };
    let whole = users.iter().filter(|&&user| candidates(user) <= k).count();
    if 10 * whole >= users.len() {
        let share = 100.0 * whole as f64 / users.len() as f64;
        found.push(format!(
            "for {share:.0} % of the users, a list of {k} holds all items that are left, so any model finds everything: \
             choose a smaller K"
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{IdMap, Interactions, Parts};

    #[test]
    fn few_users_and_long_lists_are_reported() {
        let ids = |n: usize| (0..n).map(|id| id.to_string()).collect::<IdMap>();
        let part =
            |first: u32| Interactions::from_pairs(60, 12, (0..60).flat_map(|u| [(u, first), (u, first + 1)]));
        let parts = Parts { train: part(0), valid: part(2), test: part(4) };
        let data = Dataset::new("toy", ids(60), ids(12), parts, vec![]).unwrap();
        let at = |k: usize| {
            artefacts(&data, EvalPart::Test, &EvalOptions { k: vec![k], ..EvalOptions::default() })
        };
        assert_eq!(at(7), [""; 0]);
        assert!(at(8)[0].contains("for 100 % of the users, a list of 8"), "{:?}", at(8));
        let one = Parts {
            train: part(0).slice_users(0..1),
            valid: part(2).slice_users(0..1),
            test: part(4).slice_users(0..1),
        };
        let one = Dataset::new("one", ids(1), ids(12), one, vec![]).unwrap();
        let found = artefacts(&one, EvalPart::Test, &EvalOptions { k: vec![2], ..EvalOptions::default() });
        assert_eq!(found, ["measured on 1 user only: single users decide the figures"]);
    }
}
