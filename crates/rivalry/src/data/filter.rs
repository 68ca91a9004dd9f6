//! Leaving out users and items that interacted too little to be learnt, and numbering those that remain.

use super::{IdMap, events::Event};

/// Keeps the largest set of pairs in which every user has at least `user_core` of them and every item at
/// least `item_core`. Takes each pair off at most once, however long the chains of users and items are.
pub(super) fn k_core(
    events: &mut Vec<Event>,
    n_users: usize,
    n_items: usize,
    user_core: u32,
    item_core: u32,
) {
    // Users and items are the nodes of one graph: items follow the users.
    let nodes = |event: &Event| [event.user as usize, n_users + event.item as usize];
    let core = |node: usize| if node < n_users { user_core } else { item_core };
    let mut edges = vec![Vec::new(); n_users + n_items];
    for (e, event) in events.iter().enumerate() {
        for node in nodes(event) {
            edges[node].push(e);
        }
    }
    let mut degree: Vec<u32> = edges.iter().map(|edges| edges.len() as u32).collect();
    let mut weak: Vec<usize> = (0..degree.len()).filter(|&node| degree[node] < core(node)).collect();
    let mut kept = vec![true; events.len()];
    while let Some(node) = weak.pop() {
        for &e in &edges[node] {
            if std::mem::replace(&mut kept[e], false) {
                let [user, item] = nodes(&events[e]);
                let other = if node == user { item } else { user };
                degree[other] -= 1;
                // Exactly once per node: when it falls through its threshold.
                if degree[other] + 1 == core(other) {
                    weak.push(other);
                }
            }
        }
    }
    let mut kept = kept.into_iter();
    events.retain(|_| kept.next() == Some(true));
}

/// Drops the users and items without a pair and numbers the others anew, in the same order.
pub(super) fn compact(events: &mut [Event], users: &mut IdMap, items: &mut IdMap) {
    let renumber = |ids: &mut IdMap, events: &mut [Event], id: fn(&mut Event) -> &mut u32| {
        let mut present = vec![false; ids.len()];
        events.iter_mut().for_each(|event| present[*id(event) as usize] = true);
        *ids = ids.iter().zip(&present).filter(|(_, present)| **present).map(|(id, _)| id).collect();
        let mut next = 0;
        let new: Vec<u32> = present.iter().map(|&present| (next, next += u32::from(present)).0).collect();
        events.iter_mut().for_each(|event| *id(event) = new[*id(event) as usize]);
    };
    renumber(users, events, |event| &mut event.user);
    renumber(items, events, |event| &mut event.item);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::events::Part;

    fn events(pairs: &[(u32, u32)]) -> Vec<Event> {
        pairs.iter().map(|&(user, item)| Event { user, item, part: Part::Train, at: (0, 0) }).collect()
    }

    fn core_of(pairs: &[(u32, u32)], user_core: u32, item_core: u32) -> Vec<(u32, u32)> {
        let mut events = events(pairs);
        k_core(&mut events, 8, 8, user_core, item_core);
        events.iter().map(Event::pair).collect()
    }

    /// The definition, slowly: take off whatever is too weak until nothing is.
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
    fn weakness_spreads_through_the_graph() {
        // A path falls apart from its ends; a square of users and items holds.
        assert_eq!(core_of(&[(0, 0), (0, 1), (1, 1), (1, 2)], 2, 2), []);
        let square = [(4, 4), (4, 5), (5, 4), (5, 5)];
        assert_eq!(core_of(&[&[(0, 0), (0, 4)], &square[..]].concat(), 2, 2), square);
        assert_eq!(core_of(&[(0, 0), (1, 0)], 0, 2), [(0, 0), (1, 0)]);
    }

    #[test]
    fn ids_shrink_to_what_remains_and_keep_their_order() {
        let mut events = events(&[(3, 0), (1, 2)]);
        let mut users: IdMap = ["a", "b", "c", "d"].iter().collect();
        let mut items: IdMap = ["x", "y", "z"].iter().collect();
        compact(&mut events, &mut users, &mut items);
        assert_eq!(events.iter().map(Event::pair).collect::<Vec<_>>(), [(1, 0), (0, 1)]);
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
