//! Random numbers that are the same on every machine and for any number of threads.
//!
//! No two pieces of work (a user, a row of a batch) share a generator: each opens its own [`stream`], keyed by the seed,
//! the [`Purpose`] and the indices of the piece, so the order in which pieces are processed can't matter.
//!
//! Numbers of purposes are part of the results: changing one changes every result that depends on it.

use rand_core::{Rng, SeedableRng};
pub use rand_xoshiro::Xoshiro256PlusPlus;

/// What a random stream is used for. All purposes of the workspace are listed here, so that no two of them can draw the
/// same numbers from one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Choosing the test set. Key: user, or nothing for the popularity split.
    TestSplit = 1,
    /// Choosing the validation set. Key: as for the test set.
    ValidationSplit = 2,
    /// Adding false interactions to the training set. No key.
    FalseInteractions = 3,
    /// Popularity and clusters of the items of a synthetic data set. No key.
    SyntheticItems = 4,
    /// Tastes and items of the users of a synthetic data set. Key: user.
    SyntheticUsers = 5,
    /// Initial embeddings. Key: table, row.
    Init = 16,
    /// The order of the training pairs. Key: epoch.
    Order = 17,
    /// Negatives for training. Key: epoch, batch, row.
    Negatives = 18,
    /// Initial embeddings of an adversary. Key: table, row.
    AdversaryInit = 19,
    /// Noise on embeddings (XSimGCL). Key: step, layer, side, row.
    EmbeddingNoise = 32,
    /// Bootstrap resamples. Key: resample.
    ///
    /// Its streams are keyed with the number of [`Purpose::EmbeddingNoise`], as they were in version 0.1, so that
    /// confidence intervals stay the same. That is harmless: the keys differ in length (one index against four), so no
    /// two streams are the same.
    Bootstrap = 33,
    /// Training pairs to inspect. No key.
    InspectedPairs = 40,
    /// Negatives of inspected pairs. Key: batch, row.
    InspectedNegatives = 41,
    /// Repeated samples of negatives of inspected pairs. Key: sample, row.
    InspectedSlates = 42,
}

impl Purpose {
    /// The word that stands for the purpose in the key of a stream.
    fn word(self) -> u64 {
        match self {
            Self::Bootstrap => Self::EmbeddingNoise as u64,
            purpose => purpose as u64,
        }
    }
}

/// The generator for one piece of work. Streams that differ in the seed, the purpose or the key are independent.
///
/// ```
/// use rivalry_data::rng::{Purpose, below, stream};
/// let first = |epoch, row| below(&mut stream(7, Purpose::Negatives, &[epoch, row]), 1_000_000);
/// assert_eq!(first(1, 2), first(1, 2));
/// assert_ne!(first(1, 2), first(2, 1));
/// ```
pub fn stream(seed: u64, purpose: Purpose, key: &[u64]) -> Xoshiro256PlusPlus {
    keyed(seed, std::iter::once(purpose.word()).chain(key.iter().copied()))
}

/// The generator for work that isn't divided into pieces and has a seed of its own, such as a random search.
pub fn seeded(seed: u64) -> Xoshiro256PlusPlus {
    keyed(seed, std::iter::empty())
}

fn keyed(seed: u64, key: impl Iterator<Item = u64>) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(key.fold(split_mix(seed), |state, word| split_mix(state ^ word)))
}

/// One step of SplitMix64: a bijection in which every input bit affects every output bit.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A uniform integer in `0..n` (Lemire's multiply-shift with rejection). `n` must be positive.
#[inline]
pub fn below(rng: &mut impl Rng, n: u32) -> u32 {
    debug_assert!(n > 0);
    let mut product = u64::from(rng.next_u32()) * u64::from(n);
    if (product as u32) < n {
        // Rejecting the lowest 2³² mod n low words removes the bias.
        let surplus = n.wrapping_neg() % n;
        while (product as u32) < surplus {
            product = u64::from(rng.next_u32()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}

/// Shuffles a slice of at most 2³² elements (Fisher–Yates).
pub fn shuffle<T>(rng: &mut impl Rng, slice: &mut [T]) {
    for last in (1..slice.len()).rev() {
        slice.swap(last, below(rng, last as u32 + 1) as usize);
    }
}

/// Two independent standard normal numbers (Box–Muller, in f64).
pub fn normal(rng: &mut impl Rng) -> [f32; 2] {
    let unit = |bits: u64| (bits >> 11) as f64 / (1u64 << 53) as f64;
    // 1 - u lies in (0, 1], so the logarithm is finite.
    let radius = (-2.0 * (1.0 - unit(rng.next_u64())).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * unit(rng.next_u64())).sin_cos();
    [(radius * cos) as f32, (radius * sin) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every purpose; the match fails to compile when one is missing.
    fn all() -> Vec<Purpose> {
        use Purpose::*;
        let all = vec![
            TestSplit,
            ValidationSplit,
            FalseInteractions,
            SyntheticItems,
            SyntheticUsers,
            Init,
            Order,
            Negatives,
            AdversaryInit,
            EmbeddingNoise,
            Bootstrap,
            InspectedPairs,
            InspectedNegatives,
            InspectedSlates,
        ];
        for purpose in &all {
            match purpose {
                TestSplit | ValidationSplit | FalseInteractions | SyntheticItems | SyntheticUsers | Init
                | Order | Negatives | AdversaryInit | EmbeddingNoise | Bootstrap | InspectedPairs
                | InspectedNegatives | InspectedSlates => {}
            }
        }
        all
    }

    #[test]
    fn purposes_differ_in_number_and_but_for_one_documented_pair_in_their_streams() {
        let distinct = |words: Vec<u64>| words.into_iter().collect::<std::collections::HashSet<_>>().len();
        assert_eq!(distinct(all().into_iter().map(|purpose| purpose as u64).collect()), all().len());
        assert_eq!(distinct(all().into_iter().map(Purpose::word).collect()), all().len() - 1);
        assert_eq!(Purpose::Bootstrap.word(), Purpose::EmbeddingNoise.word());
    }

    #[test]
    fn streams_are_repeatable_and_differ_by_every_part_of_the_key() {
        let first = |seed, purpose, key: &[u64]| stream(seed, purpose, key).next_u64();
        let (order, init) = (Purpose::Order, Purpose::Init);
        assert_eq!(first(7, order, &[1, 2]), first(7, order, &[1, 2]));
        let mut seen = [
            first(7, order, &[1, 2]),
            first(7, order, &[2, 1]),
            first(8, order, &[1, 2]),
            first(7, init, &[1, 2]),
            first(7, order, &[1]),
            first(7, order, &[1, 2, 0]),
            seeded(7).next_u64(),
        ];
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_stream_never_changes_between_releases() {
        let mut rng = stream(0, Purpose::TestSplit, &[2]);
        let drawn: Vec<u32> = (0..5).map(|_| below(&mut rng, 1000)).collect();
        assert_eq!(drawn, [449, 179, 491, 401, 327]);
    }

    #[test]
    fn bounded_numbers_are_uniform() {
        let mut rng = seeded(1);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[below(&mut rng, 6) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_600..10_400).contains(&count)), "{counts:?}");
        assert_eq!(below(&mut rng, 1), 0);
    }

    #[test]
    fn a_large_bound_is_not_biased() {
        // Without rejection, 3·2³⁰ would make every third number twice as likely as the others.
        let mut rng = seeded(2);
        let multiples = (0..30_000).filter(|_| below(&mut rng, 3 << 30).is_multiple_of(3)).count();
        assert!((9_600..10_400).contains(&multiples), "{multiples}");
    }

    #[test]
    fn shuffling_reaches_every_permutation() {
        let mut rng = seeded(3);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..200 {
            let mut order = [0, 1, 2];
            shuffle(&mut rng, &mut order);
            seen.insert(order);
        }
        assert_eq!(seen.len(), 6);
    }

    #[test]
    fn normal_numbers_have_the_right_moments() {
        let mut rng = seeded(4);
        let drawn: Vec<f64> = (0..50_000).flat_map(|_| normal(&mut rng)).map(f64::from).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
        assert!(moment(1).abs() < 0.015 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.2);
    }
}
