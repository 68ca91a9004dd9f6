//! Popularity shift: test pairs are uniform over the items, while training keeps the long tail.
//!
//! Until `⌊share·pairs⌋` pairs are held out, an item is drawn uniformly from those with an eligible pair, and one of its
//! eligible pairs at random. A pair is eligible while its user and its item keep at least one pair in training. If no
//! pair is eligible any more, the test set stays smaller than requested.

use super::floor_share;
use crate::log::Log;
use crate::rng::{self, Purpose};

pub(super) fn hold_out(log: &Log, share: f64, seed: u64, purpose: Purpose) -> Vec<bool> {
    let mut rng = rng::stream(seed, purpose, &[]);
    let size = |ids: &[u32]| ids.iter().max().map_or(0, |&id| id as usize + 1);
    let (users, items): (Vec<u32>, _) =
        (log.table.pairs().map(|(user, _)| user).collect(), log.table.items());
    let mut user_left = vec![0u32; size(&users)];
    // For each item, the pairs that may still be held out, in random order.
    let mut eligible = vec![Vec::new(); size(items)];
    for (index, (&user, &item)) in users.iter().zip(items).enumerate() {
        user_left[user as usize] += 1;
        eligible[item as usize].push(index);
    }
    eligible.iter_mut().for_each(|pairs| rng::shuffle(&mut rng, pairs));
    let mut item_left: Vec<usize> = eligible.iter().map(Vec::len).collect();
    let mut items: Vec<usize> = (0..eligible.len()).collect();

    let mut held_out = vec![false; users.len()];
    let mut wanted = floor_share(share, users.len());
    while wanted > 0 && !items.is_empty() {
        let place = rng::below(&mut rng, items.len() as u32) as usize;
        let item = items[place];
        // A user down to one pair never gains another, so a pair that is not eligible now never will be.
        let pair = (item_left[item] > 1).then(|| {
            std::iter::from_fn(|| eligible[item].pop()).find(|&index| user_left[users[index] as usize] > 1)
        });
        match pair.flatten() {
            Some(index) => {
                held_out[index] = true;
                user_left[users[index] as usize] -= 1;
                item_left[item] -= 1;
                wanted -= 1;
            }
            None => {
                items.swap_remove(place);
            }
        }
    }
    held_out
}
