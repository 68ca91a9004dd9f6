//! The highest scores of a row: a lower bound, and the scores that reach it, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::LANES;
use crate::simd::level;
use crate::top_scores::{Scan, select_kth_highest};

/// The scan of rows in single precision.
pub(crate) const SCAN: Scan<f32> = Scan { lower_bound, at_least, kth_highest };

/// The number of scores whose comparisons fit into one word.
const WORD: usize = u64::BITS as usize;

/// The k-th highest of about 1.5 k maxima of as many scores each.
fn lower_bound(scores: &[f32], k: usize, maxima: &mut [f32]) -> f32 {
    let (vectors, groups) = (scores.as_chunks::<LANES>().0, k.saturating_add(k / 2).div_ceil(LANES));
    if vectors.len() < groups {
        return f32::NEG_INFINITY;
    }
    let maxima = &mut maxima[..groups * LANES];
    dispatch!(level(), simd => {
        let starts = (0..=groups).map(|group| group * vectors.len() / groups);
        for (start, (end, maxima)) in starts.clone().zip(starts.skip(1).zip(maxima.as_chunks_mut().0)) {
            *maxima = max_of(simd, &vectors[start..end]);
        }
    });
    kth_highest(maxima, k)
}

/// The maximum of each lane.
#[inline(always)]
fn max_of<S: Simd>(simd: S, vectors: &[[f32; LANES]]) -> [f32; LANES] {
    let mut maxima = f32x16::splat(simd, f32::NEG_INFINITY);
    for vector in vectors {
        maxima = maxima.max(f32x16::simd_from(simd, *vector));
    }
    maxima.into()
}

fn at_least(threshold: f32, scores: &[f32], out: &mut [[f32; 2]]) -> usize {
    dispatch!(level(), simd => at_least_at(simd, threshold, scores, out))
}

#[inline(always)]
fn at_least_at<S: Simd>(simd: S, threshold: f32, scores: &[f32], out: &mut [[f32; 2]]) -> usize {
    let (limit, mut n) = (f32x16::splat(simd, threshold), 0);
    let (whole, rest) = scores.as_chunks::<WORD>();
    // Past the end there is nothing to find.
    let mut last = [f32::NAN; WORD];
    last[..rest.len()].copy_from_slice(rest);
    for (word, scores) in whole.iter().chain([&last]).enumerate() {
        let mut found = 0u64;
        for (at, vector) in (0..).step_by(LANES).zip(scores.as_chunks::<LANES>().0) {
            found |= f32x16::simd_from(simd, *vector).simd_ge(limit).to_bitmask() << at;
        }
        while found != 0 {
            let place = found.trailing_zeros() as usize;
            out[n] = [scores[place], (WORD * word + place) as f32];
            n += 1;
            found &= found - 1;
        }
    }
    n
}

/// Up to this many scores, comparing each with all others is faster than quickselect, whose branches are unpredictable.
const FEW: usize = 128;

fn kth_highest(scores: &mut [f32], k: usize) -> f32 {
    if scores.len() > FEW {
        return select_kth_highest(scores, k);
    }
    dispatch!(level(), simd => kth_highest_at(simd, scores, k))
}

/// The lowest of the scores that fewer than k are higher than.
#[inline(always)]
fn kth_highest_at<S: Simd>(simd: S, scores: &[f32], k: usize) -> f32 {
    let mut padded = [f32::NAN; FEW];
    padded[..scores.len()].copy_from_slice(scores);
    let padded = &padded.as_chunks::<LANES>().0[..scores.len().div_ceil(LANES)];
    let mut lowest = f32::INFINITY;
    for &score in scores {
        let limit = f32x16::splat(simd, score);
        let higher: u32 = padded
            .iter()
            .map(|all| f32x16::simd_from(simd, *all).simd_gt(limit).to_bitmask().count_ones())
            .sum();
        lowest = if (higher as usize) < k { lowest.min(score) } else { lowest };
    }
    lowest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scalar;
    use crate::simd::at_every_level;

    proptest! {
        #[test]
        fn agrees_with_the_scalar_reference(
            scores in prop::collection::vec(-1.0f32..1.0, 1..200),
            threshold in -1.2f32..1.2,
            from_row in any::<bool>(),
        ) {
            let threshold = if from_row { scores[scores.len() / 2] } else { threshold };
            let found = |scan: Scan<f32>| {
                let mut high = vec![[0.0; 2]; scores.len()];
                let n = (scan.at_least)(threshold, &scores, &mut high);
                high[..n].to_vec()
            };
            let expected = found(scalar::scan());
            at_every_level(|| assert_eq!(found(SCAN), expected));
        }

        #[test]
        fn at_least_k_scores_reach_the_lower_bound(scores in prop::collection::vec(-1.0f32..1.0, 1..400), k in 1usize..30) {
            let k = k.min(scores.len());
            let expected = lower_bound(&scores, k, &mut scores.clone());
            prop_assert!(scores.iter().filter(|score| **score >= expected).count() >= k);
            at_every_level(|| assert_eq!(lower_bound(&scores, k, &mut scores.clone()), expected));
        }

        #[test]
        fn the_kth_highest_is_that_of_a_selection(
            scores in prop::collection::vec((-8i8..8).prop_map(f32::from), 1..200),
            k in any::<prop::sample::Index>(),
        ) {
            let k = k.index(scores.len()) + 1;
            let expected = select_kth_highest(&mut scores.clone(), k);
            at_every_level(|| assert_eq!(kth_highest(&mut scores.clone(), k), expected));
        }
    }
}
