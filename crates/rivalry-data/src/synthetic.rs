//! A synthetic data set, generated on demand and identical on every machine.
//!
//! It resembles real logs in the two respects in which losses differ: popularity has a long tail, and tastes form
//! clusters, with finer clusters inside the coarse ones. A user `u` with activity `n_u` draws `n_u` different items with
//! probability ∝ `popularity(i) · exp(affinity(u, i))`.
//!
//! Weights are rounded to integers before drawing, so that differences in the last bits of `exp` don't matter.

use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{IdMap, RawData, RawParts, Records};
use crate::rng::{self, Purpose};

/// The size and shape of a synthetic data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SyntheticConfig {
    /// The number of users (default 1500).
    pub users: u32,
    /// The number of items (default 1000); a user never has more than half of them.
    pub items: u32,
    /// The number of coarse taste clusters (default 24), each with three finer ones.
    pub clusters: u32,
    /// The median of the log-normal activity (default 24 items per user); at least 10 if there are enough items.
    pub activity: f64,
    /// The exponent of the Zipf-like popularity (default 0.9); with 0, all items are equally popular.
    pub zipf: f64,
    /// The random seed.
    pub seed: u64,
}

/// Fine clusters in each coarse one.
const FINE: u32 = 3;
/// The number of items of the least active users.
const LEAST: u32 = 10;
/// The standard deviation of the logarithm of activity.
const ACTIVITY_SPREAD: f64 = 0.65;
/// Affinity of a user's strongest taste to items of its fine cluster, and to others of its coarse cluster.
const AFFINITY: [f64; 2] = [4.6, 3.0];
/// Strength of a user's first, second and third taste.
const TASTES: [f64; 3] = [1.0, 0.85, 0.7];
/// The sum of the integer weights of all items, before rounding down.
const TOTAL: f64 = (1u32 << 31) as f64;

impl Default for SyntheticConfig {
    fn default() -> Self {
        Self { users: 1500, items: 1000, clusters: 24, activity: 24.0, zipf: 0.9, seed: 0 }
    }
}

/// Generates the data set. Ids are `user-0007` and `item-0042`; there are no ratings and no timestamps.
pub fn synthetic(config: &SyntheticConfig) -> RawData {
    let mut rng = rng::stream(config.seed, Purpose::SyntheticItems, &[]);
    let fine_clusters = config.clusters.max(1) * FINE;
    let popularity = popularity(config, &mut rng);
    // A quarter of the items belong to a second cluster, too.
    let homes: Vec<[u32; 2]> = (0..config.items)
        .map(|_| {
            let [first, other] = [0; 2].map(|_| rng::below(&mut rng, fine_clusters));
            [first, if rng::below(&mut rng, 4) == 0 { other } else { first }]
        })
        .collect();

    let mut records = Records::default();
    for user in 0..config.users {
        let mut rng = rng::stream(config.seed, Purpose::SyntheticUsers, &[u64::from(user)]);
        let tastes = TASTES.map(|strength| (rng::below(&mut rng, fine_clusters), strength));
        let attraction: Vec<f64> =
            (0..fine_clusters).map(|cluster| affinity(&tastes, cluster).exp()).collect();
        let weights = homes.iter().zip(&popularity).map(|(home, popularity)| {
            let attraction = home.map(|cluster| attraction[cluster as usize]);
            popularity * attraction[0].max(attraction[1])
        });
        let activity = config.activity * (ACTIVITY_SPREAD * f64::from(rng::normal(&mut rng)[0])).exp();
        let wanted = (activity.round() as u32).max(LEAST).min(config.items / 2);
        let items = draw(&mut rng, &weights.collect::<Vec<f64>>(), wanted);
        records.user.extend(std::iter::repeat_n(user, items.len()));
        records.item.extend(items);
    }
    let ids = |noun: &str, n| (0..n).map(|id| format!("{noun}-{id:04}")).collect::<IdMap>();
    RawData {
        users: ids("user", config.users),
        items: ids("item", config.items),
        parts: RawParts::Whole(records),
        notes: vec!["synthetic data: for trying things out, not for conclusions about real users".to_owned()],
        reading: None,
    }
}

/// Zipf-like popularity with mean 1 in random order.
fn popularity(config: &SyntheticConfig, rng: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut popularity: Vec<f64> =
        (0..config.items).map(|rank| (f64::from(rank) + 5.0).powf(-config.zipf)).collect();
    let mean = popularity.iter().sum::<f64>() / f64::from(config.items);
    popularity.iter_mut().for_each(|value| *value /= mean);
    rng::shuffle(rng, &mut popularity);
    popularity
}

/// The affinity of a user with these tastes to a fine cluster: the maximum over the tastes.
fn affinity(tastes: &[(u32, f64)], cluster: u32) -> f64 {
    let fit = |&(taste, strength): &(u32, f64)| match cluster {
        _ if taste == cluster => AFFINITY[0] * strength,
        _ if taste / FINE == cluster / FINE => AFFINITY[1] * strength,
        _ => 0.0,
    };
    tastes.iter().map(fit).fold(0.0, f64::max)
}

/// Draws `count` items without replacement, with probability proportional to their weights.
fn draw(rng: &mut Xoshiro256PlusPlus, weights: &[f64], count: u32) -> Vec<u32> {
    let scale = TOTAL / weights.iter().sum::<f64>();
    let mut weights: Vec<u32> = weights.iter().map(|weight| (scale * weight) as u32).collect();
    let mut left: u32 = weights.iter().sum();
    let mut drawn = Vec::with_capacity(count as usize);
    while drawn.len() < count as usize && left > 0 {
        let mut target = rng::below(rng, left);
        let chosen = weights.iter().position(|&weight| match target.checked_sub(weight) {
            Some(rest) => {
                target = rest;
                false
            }
            None => true,
        });
        let Some(chosen) = chosen else { break };
        left -= std::mem::take(&mut weights[chosen]);
        drawn.push(chosen as u32);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preparation, prepare, stats};

    #[test]
    fn the_default_data_set_has_a_long_tail_and_the_documented_size() {
        let set =
            prepare("synthetic", synthetic(&SyntheticConfig::default()), &Preparation::default()).unwrap();
        let stats = stats(&set);
        assert_eq!((stats.users, stats.items), (1500, 1000));
        assert!((42_000..48_000).contains(&stats.interactions), "{stats}");
        assert!(stats.per_user.min >= 10 && stats.per_item.min >= 1, "{stats}");
        assert!((0.4..0.7).contains(&stats.popularity_gini) && stats.top_fifth_share > 0.5, "{stats}");
        assert_eq!(set.users.original(7), "user-0007");
        assert!(set.notes[0].contains("synthetic"));
        assert_eq!(set.checksum, "5fe0e7a15818455015efe3699b6db3835bbeefb8894810b9685faffad84e4f62");
    }

    #[test]
    fn users_with_a_common_taste_share_items() {
        // Nearest neighbours must overlap far more than popularity alone explains, or there is nothing to learn.
        let RawData { parts: RawParts::Whole(records), .. } = synthetic(&SyntheticConfig::default()) else {
            unreachable!()
        };
        let mut items = vec![std::collections::HashSet::new(); 1500];
        for (&user, &item) in records.user.iter().zip(&records.item) {
            items[user as usize].insert(item);
        }
        let similarity = |a: usize, b: usize| {
            let common = items[a].intersection(&items[b]).count() as f64;
            common / (items[a].len() as f64 * items[b].len() as f64).sqrt()
        };
        let of_user = |a: usize| (0..1500).filter(move |&b| b != a).map(move |b| similarity(a, b));
        let mean: f64 = (0..50).flat_map(of_user).sum::<f64>() / (50.0 * 1499.0);
        let nearest: f64 = (0..50).map(|a| of_user(a).fold(0.0, f64::max)).sum::<f64>() / 50.0;
        assert!(nearest > 4.0 * mean, "nearest {nearest:.3}, mean {mean:.3}");
    }

    #[test]
    fn extreme_settings_do_not_panic() {
        let base = SyntheticConfig { users: 3, items: 8, ..SyntheticConfig::default() };
        for config in [
            SyntheticConfig { items: 0, ..base.clone() },
            SyntheticConfig { users: 0, ..base.clone() },
            SyntheticConfig { clusters: 0, ..base.clone() },
            SyntheticConfig { zipf: f64::NAN, ..base.clone() },
            SyntheticConfig { zipf: -1e300, ..base.clone() },
            SyntheticConfig { activity: f64::INFINITY, ..base.clone() },
        ] {
            let RawParts::Whole(records) = synthetic(&config).parts else { unreachable!() };
            assert!(records.item.iter().all(|&item| item < config.items));
        }
        assert_ne!(synthetic(&base), synthetic(&SyntheticConfig { seed: 1, ..base }));
    }
}
