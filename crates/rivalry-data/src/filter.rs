//! The k-core filter.

use super::log::Log;
use super::{IdMap, Interactions};

/// Keeps the largest set of pairs in which every user has at least `user_core` and every item at least `item_core`.
/// Linear time: each pair is removed at most once.
pub(crate) fn k_core(log: &mut Log, user_core: u32, item_core: u32) {
    let table = &log.table;
    let (n_users, users_of) = (table.n_users(), transposed(table));
    // Users and items are the nodes of one graph, users first.
    let core = |node: usize| if node < n_users { user_core } else { item_core };
    let of_users = (0..n_users as u32).map(|user| table.row(user).len() as u32);
    let of_items = (0..table.n_items() as u32).map(|item| users_of.row(item).len() as u32);
    let mut degree: Vec<u32> = of_users.chain(of_items).collect();
    let mut weak: Vec<usize> = (0..degree.len()).filter(|&node| degree[node] < core(node)).collect();
    let mut removed = vec![false; table.len()];
    // Removes a pair, unless it is removed already, and returns the node that thereby drops below its threshold.
    let mut remove = |pair: usize, other: usize| {
        if std::mem::replace(&mut removed[pair], true) {
            return None;
        }
        degree[other] -= 1;
        // True exactly once per node.
        (degree[other] + 1 == core(other)).then_some(other)
    };
    while let Some(node) = weak.pop() {
        if node < n_users {
            let row = table.row(node as u32);
            weak.extend(row.filter_map(|pair| remove(pair, n_users + table.items()[pair] as usize)));
        } else {
            let item = (node - n_users) as u32;
            weak.extend(users_of.items_of(item).iter().filter_map(|&user| {
                let place = table.items_of(user).partition_point(|&other| other < item);
                remove(table.row(user).start + place, user as usize)
            }));
        }
    }
    log.split_off(&removed);
}

/// The matrix with users and items swapped.
fn transposed(table: &Interactions) -> Interactions {
    let mut offsets = vec![0; table.n_items() + 1];
    for &item in table.items() {
        offsets[item as usize + 1] += 1;
    }
    for item in 0..table.n_items() {
        offsets[item + 1] += offsets[item];
    }
    let mut next = offsets.clone();
    let mut users = vec![0; table.len()];
    for (user, item) in table.pairs() {
        let place = &mut next[item as usize];
        users[*place] = user;
        *place += 1;
    }
    Interactions::from_rows(table.n_users(), offsets, users)
}

/// Removes users and items without pairs and renumbers the others in the same order.
pub(crate) fn compact(log: &mut Log, users: &mut IdMap, items: &mut IdMap) {
    let keep = |ids: &mut IdMap, present: &dyn Fn(usize) -> bool| {
        *ids =
            (0..ids.len()).zip(ids.iter()).filter(|(dense, _)| present(*dense)).map(|(_, id)| id).collect();
    };
    let table = &log.table;
    keep(users, &|user| !table.row(user as u32).is_empty());
    let counts = table.item_counts();
    keep(items, &|item| counts[item] > 0);
    let mut next = 0;
    let new: Vec<u32> = counts.iter().map(|&count| (next, next += u32::from(count > 0)).0).collect();
    let mut offsets = table.offsets().to_vec();
    offsets.dedup(); // users without pairs end where they begin
    let renumbered = table.items().iter().map(|&item| new[item as usize]).collect();
    log.table = Interactions::from_rows(items.len(), offsets, renumbered);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log(n_users: usize, n_items: usize, pairs: &[(u32, u32)]) -> Log {
        let table = Interactions::from_pairs(n_users, n_items, pairs.iter().copied());
        Log { table, first_user: 0, parts: None, at: None }
    }

    fn core_of(pairs: &[(u32, u32)], user_core: u32, item_core: u32) -> Vec<(u32, u32)> {
        let mut log = log(8, 8, pairs);
        k_core(&mut log, user_core, item_core);
        log.table.pairs().collect()
    }

    /// The definition: remove what is below its threshold until nothing is.
    fn naive(mut pairs: Vec<(u32, u32)>, user_core: usize, item_core: usize) -> Vec<(u32, u32)> {
        loop {
            let before = pairs.clone();
            pairs.retain(|&(user, item)| {
                before.iter().filter(|pair| pair.0 == user).count() >= user_core
                    && before.iter().filter(|pair| pair.1 == item).count() >= item_core
            });
            if pairs == before {
                return pairs;
            }
        }
    }

    #[test]
    fn removals_propagate_through_the_graph() {
        // A path is removed from its ends; a square of users and items stays.
        assert_eq!(core_of(&[(0, 0), (0, 1), (1, 1), (1, 2)], 2, 2), []);
        let square = [(4, 4), (4, 5), (5, 4), (5, 5)];
        assert_eq!(core_of(&[&[(0, 0), (0, 4)], &square[..]].concat(), 2, 2), square);
        assert_eq!(core_of(&[(0, 0), (1, 0)], 0, 2), [(0, 0), (1, 0)]);
    }

    #[test]
    fn remaining_ids_are_renumbered_in_order() {
        let mut log = log(4, 3, &[(3, 0), (1, 2)]);
        let mut users: IdMap = ["a", "b", "c", "d"].iter().collect();
        let mut items: IdMap = ["x", "y", "z"].iter().collect();
        compact(&mut log, &mut users, &mut items);
        assert_eq!(log.table.pairs().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
        assert_eq!(users.iter().collect::<Vec<_>>(), ["b", "d"]);
        assert_eq!(items.iter().collect::<Vec<_>>(), ["x", "z"]);
    }

    proptest! {
        #[test]
        fn peeling_finds_the_maximal_core(
            pairs in prop::collection::btree_set((0u32..8, 0u32..8), 0..40), user_core in 0u32..5, item_core in 0u32..5,
        ) {
            let pairs: Vec<_> = pairs.into_iter().collect();
            let expected = naive(pairs.clone(), user_core as usize, item_core as usize);
            prop_assert_eq!(core_of(&pairs, user_core, item_core), expected);
        }
    }
}
