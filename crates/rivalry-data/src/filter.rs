//! The k-core filter.

use super::{IdMap, log::Interaction};

/// Keeps the largest set of interactions in which every user has at least `user_core` and every item at least
/// `item_core`. Linear time: each interaction is removed at most once.
pub(crate) fn k_core(
    interactions: &mut Vec<Interaction>,
    n_users: usize,
    n_items: usize,
    user_core: u32,
    item_core: u32,
) {
    // Users and items are the nodes of one graph, users first.
    let nodes = |i: &Interaction| [i.user as usize, n_users + i.item as usize];
    let core = |node: usize| if node < n_users { user_core } else { item_core };
    let mut edges = vec![Vec::new(); n_users + n_items];
    for (e, interaction) in interactions.iter().enumerate() {
        for node in nodes(interaction) {
            edges[node].push(e);
        }
    }
    let mut degree: Vec<u32> = edges.iter().map(|edges| edges.len() as u32).collect();
    let mut weak: Vec<usize> = (0..degree.len()).filter(|&node| degree[node] < core(node)).collect();
    let mut kept = vec![true; interactions.len()];
    while let Some(node) = weak.pop() {
        for &e in &edges[node] {
            if std::mem::replace(&mut kept[e], false) {
                let [user, item] = nodes(&interactions[e]);
                let other = if node == user { item } else { user };
                degree[other] -= 1;
                // True exactly once per node: when it drops below its threshold.
                if degree[other] + 1 == core(other) {
                    weak.push(other);
                }
            }
        }
    }
    let mut kept = kept.into_iter();
    interactions.retain(|_| kept.next() == Some(true));
}

/// Removes users and items without interactions and renumbers the others in the same order.
pub(crate) fn compact(interactions: &mut [Interaction], users: &mut IdMap, items: &mut IdMap) {
    let renumber = |ids: &mut IdMap, list: &mut [Interaction], id: fn(&mut Interaction) -> &mut u32| {
        let mut present = vec![false; ids.len()];
        list.iter_mut().for_each(|i| present[*id(i) as usize] = true);
        *ids = ids.iter().zip(&present).filter(|(_, present)| **present).map(|(id, _)| id).collect();
        let mut next = 0;
        let new: Vec<u32> = present.iter().map(|&present| (next, next += u32::from(present)).0).collect();
        list.iter_mut().for_each(|i| *id(i) = new[*id(i) as usize]);
    };
    renumber(users, interactions, |i| &mut i.user);
    renumber(items, interactions, |i| &mut i.item);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Part;

    fn interactions(pairs: &[(u32, u32)]) -> Vec<Interaction> {
        pairs.iter().map(|&(user, item)| Interaction { user, item, part: Part::Train, at: (0, 0) }).collect()
    }

    fn core_of(pairs: &[(u32, u32)], user_core: u32, item_core: u32) -> Vec<(u32, u32)> {
        let mut list = interactions(pairs);
        k_core(&mut list, 8, 8, user_core, item_core);
        list.iter().map(Interaction::pair).collect()
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
        let mut list = interactions(&[(3, 0), (1, 2)]);
        let mut users: IdMap = ["a", "b", "c", "d"].iter().collect();
        let mut items: IdMap = ["x", "y", "z"].iter().collect();
        compact(&mut list, &mut users, &mut items);
        assert_eq!(list.iter().map(Interaction::pair).collect::<Vec<_>>(), [(1, 0), (0, 1)]);
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
