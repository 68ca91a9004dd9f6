//! Popularity shift: test pairs spread evenly over the items, while training keeps the long tail.
//!
//! The exact rule: until `⌊share·pairs⌋` pairs are held out, pick an item uniformly among those that can still give
//! a pair, and of its pairs a random one. A pair can be given as long as its user and its item keep at least one
//! pair in training. If no item can give any more, the test part stays smaller than asked for.

use super::{Purpose, floor_share};
use crate::{data::events::Event, rng};

pub(super) fn hold_out(events: &[Event], share: f64, seed: u64, purpose: Purpose) -> Vec<bool> {
    let mut rng = rng::stream(seed, &[purpose as u64]);
    let size = |id: fn(&Event) -> u32| events.iter().map(id).max().map_or(0, |id| id as usize + 1);
    let mut user_left = vec![0u32; size(|event| event.user)];
    // For each item, its pairs that may still be given, in random order.
    let mut offers = vec![Vec::new(); size(|event| event.item)];
    for (e, event) in events.iter().enumerate() {
        user_left[event.user as usize] += 1;
        offers[event.item as usize].push(e);
    }
    offers.iter_mut().for_each(|offers| rng::shuffle(&mut rng, offers));
    let mut item_left: Vec<usize> = offers.iter().map(Vec::len).collect();
    let mut givers: Vec<usize> = (0..offers.len()).collect();

    let mut held_out = vec![false; events.len()];
    let mut wanted = floor_share(share, events.len());
    while wanted > 0 && !givers.is_empty() {
        let place = rng::below(&mut rng, givers.len() as u32) as usize;
        let item = givers[place];
        // A user down to their last pair never gets another one back, so an offer refused once is refused for good.
        let given = (item_left[item] > 1).then(|| {
            std::iter::from_fn(|| offers[item].pop()).find(|&e| user_left[events[e].user as usize] > 1)
        });
        match given.flatten() {
            Some(e) => {
                held_out[e] = true;
                user_left[events[e].user as usize] -= 1;
                item_left[item] -= 1;
                wanted -= 1;
            }
            None => {
                givers.swap_remove(place);
            }
        }
    }
    held_out
}
