//! Importance weights of a row of negatives, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::LANES;
use crate::math::exp;
use crate::simd::{level, load_row, store_row, sum};

/// See [`crate::Real::importance_weights`].
pub(crate) fn importance_weights(
    scores: &[f32],
    similarities: &[f32],
    strength: f32,
    floor: f32,
    normalise: bool,
    out: &mut [f32],
) {
    dispatch!(level(), simd => weights_at(simd, scores, similarities, strength, floor, normalise, out));
}

#[inline(always)]
fn weights_at<S: Simd>(
    simd: S,
    scores: &[f32],
    similarities: &[f32],
    strength: f32,
    floor: f32,
    normalise: bool,
    out: &mut [f32],
) {
    let n = scores.len();
    let splat = |x: f32| f32x16::splat(simd, x);
    let mut total = splat(0.0);
    for at in (0..n).step_by(LANES) {
        let similarity = (load_row(simd, similarities, at, 0.0) + splat(1.0)) * splat(0.5);
        let e = exp(simd, load_row(simd, scores, at, f32::NEG_INFINITY) + similarity);
        total += e;
        store_row(e, out, at);
    }
    let inverse_mean = splat(n as f32 / sum(total));
    let mut inverses = splat(0.0);
    for at in (0..n).step_by(LANES) {
        let relative = load_row(simd, out, at, 0.0) * inverse_mean;
        let weight = ((relative - splat(1.0)).mul_add(splat(strength), splat(1.0))).max(splat(floor));
        store_row(weight, out, at);
        // Loaded again with infinities past the end, which add nothing to the sum of inverses.
        inverses += splat(1.0) / load_row(simd, out, at, f32::INFINITY);
    }
    if normalise {
        let mean_inverse = splat(sum(inverses) / n as f32);
        for at in (0..n).step_by(LANES) {
            store_row(load_row(simd, out, at, 0.0) * mean_inverse, out, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::simd::at_every_level;
    use crate::test_data::{close, score_rows, widen};
    use crate::{Real, scalar};

    proptest! {
        #[test]
        fn agrees_with_the_scalar_reference(
            (f, s) in score_rows(),
            strength in 0.0f32..3.0,
            normalise in any::<bool>(),
        ) {
            let mut exact = vec![0.0; f.len()];
            scalar::importance_weights(
                &widen(&f),
                &widen(&s),
                strength.into(),
                0.05f32.into(),
                normalise,
                &mut exact,
            );
            at_every_level(|| {
                let mut out = vec![0.0; f.len()];
                f32::importance_weights(&f, &s, strength, 0.05, normalise, &mut out);
                for (w, e) in out.iter().zip(&exact) {
                    assert!(close(*w, *e, 1.0), "{w} {e}");
                }
            });
        }

        #[test]
        fn zero_strength_gives_ones_to_the_bit((f, s) in score_rows()) {
            at_every_level(|| {
                let mut out = vec![0.0; f.len()];
                f32::importance_weights(&f, &s, 0.0, 0.05, true, &mut out);
                assert_eq!(out, vec![1.0; f.len()]);
            });
        }
    }
}
