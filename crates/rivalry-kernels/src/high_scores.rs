//! The highest scores of a row: maxima of chunks, and the scores above a threshold, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::LANES;
use crate::simd::{level, load_row};
use crate::top_scores::{CHUNK, Scan};

/// The scan of rows in single precision.
pub(crate) const SCAN: Scan<f32> = Scan { maxima, at_least };

fn maxima(scores: &[f32], out: &mut [f32]) {
    dispatch!(level(), simd => {
        for (max, chunk) in out.iter_mut().zip(scores.as_chunks::<CHUNK>().0) {
            *max = max_of(simd, chunk);
        }
    });
}

#[inline(always)]
fn max_of<S: Simd>(simd: S, chunk: &[f32; CHUNK]) -> f32 {
    let [low, high] = [0, LANES].map(|at| load_row(simd, chunk, at, f32::NEG_INFINITY));
    let (low, high) = low.max(high).split();
    let (low, high) = low.max(high).split();
    let quarter: [f32; 4] = low.max(high).into();
    (quarter[0].max(quarter[2])).max(quarter[1].max(quarter[3]))
}

fn at_least(threshold: f32, scores: &[f32], out: &mut [[f32; 2]]) -> usize {
    dispatch!(level(), simd => at_least_at(simd, threshold, scores, out))
}

#[inline(always)]
fn at_least_at<S: Simd>(simd: S, threshold: f32, scores: &[f32], out: &mut [[f32; 2]]) -> usize {
    let (limit, mut n) = (f32x16::splat(simd, threshold), 0);
    for at in (0..scores.len()).step_by(LANES) {
        // Past the end there is nothing to find.
        let mut found = load_row(simd, scores, at, f32::NAN).simd_ge(limit).to_bitmask();
        while found != 0 {
            let place = at + found.trailing_zeros() as usize;
            out[n] = [scores[place], place as f32];
            n += 1;
            found &= found - 1;
        }
    }
    n
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
                let (mut maxima, mut high) = (vec![0.0; scores.len() / CHUNK], vec![[0.0; 2]; scores.len()]);
                (scan.maxima)(&scores, &mut maxima);
                let n = (scan.at_least)(threshold, &scores, &mut high);
                (maxima, high[..n].to_vec())
            };
            let expected = found(scalar::scan());
            at_every_level(|| assert_eq!(found(SCAN), expected));
        }
    }
}
