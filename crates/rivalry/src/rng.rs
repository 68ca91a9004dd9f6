//! Randomness that is the same on every machine and for any number of threads.
//!
//! Nothing shares a generator: each piece of work (a user, a batch row) opens its own [`stream`], keyed by
//! the seed and by what the piece is, so the order in which pieces are done can't matter.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator for one piece of work; streams with different seeds or keys are unrelated.
pub fn stream(seed: u64, key: &[u64]) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(key.iter().fold(split_mix(seed), |state, part| split_mix(state ^ part)))
}

/// One step of SplitMix64: a bijection that spreads every input bit over the whole word.
fn split_mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number in `0..n`, every one equally likely (Lemire's multiply-shift with rejection). `n` must be positive.
#[inline]
pub fn below(rng: &mut impl Rng, n: u32) -> u32 {
    debug_assert!(n > 0);
    let mut product = u64::from(rng.next_u32()) * u64::from(n);
    if (product as u32) < n {
        // 2³² mod n low words belong to no full round of 0..n: drawing them again removes the bias.
        let surplus = n.wrapping_neg() % n;
        while (product as u32) < surplus {
            product = u64::from(rng.next_u32()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}

/// Puts a slice of at most 2³² elements into a random order.
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

    #[test]
    fn streams_are_repeatable_and_differ_by_every_part_of_the_key() {
        let first = |seed, key: &[u64]| stream(seed, key).next_u64();
        assert_eq!(first(7, &[1, 2]), first(7, &[1, 2]));
        let mut seen =
            [first(7, &[1, 2]), first(7, &[2, 1]), first(8, &[1, 2]), first(7, &[1]), first(7, &[1, 2, 0])];
        seen.sort_unstable();
        assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_stream_never_changes_between_releases() {
        let mut rng = stream(0, &[1, 2]);
        let drawn: Vec<u32> = (0..5).map(|_| below(&mut rng, 1000)).collect();
        assert_eq!(drawn, [449, 179, 491, 401, 327]);
    }

    #[test]
    fn bounded_draws_are_even() {
        let mut rng = stream(1, &[]);
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
        let mut rng = stream(2, &[]);
        let multiples = (0..30_000).filter(|_| below(&mut rng, 3 << 30).is_multiple_of(3)).count();
        assert!((9_600..10_400).contains(&multiples), "{multiples}");
    }

    #[test]
    fn shuffling_reaches_every_order() {
        let mut rng = stream(3, &[]);
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
        let mut rng = stream(4, &[]);
        let drawn: Vec<f64> = (0..50_000).flat_map(|_| normal(&mut rng)).map(f64::from).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
        assert!(moment(1).abs() < 0.015 && (moment(2) - 1.0).abs() < 0.02 && (moment(4) - 3.0).abs() < 0.2);
    }
}
