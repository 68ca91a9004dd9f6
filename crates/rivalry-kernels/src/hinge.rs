//! The smooth hinge of a row of scores, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::math::{exp, ln};
use crate::simd::{level, load_row, store_row, sum};
use crate::{Hinge, HingeSums, LANES};

/// See [`crate::Real::hinge`].
pub(crate) fn hinge(hinge: Hinge<f32>, scores: &[f32], weight: f32, grad: &mut [f32]) -> HingeSums<f32> {
    dispatch!(level(), simd => hinge_at(simd, hinge, scores, weight, grad))
}

#[inline(always)]
fn hinge_at<S: Simd>(
    simd: S,
    hinge: Hinge<f32>,
    scores: &[f32],
    weight: f32,
    grad: &mut [f32],
) -> HingeSums<f32> {
    let n = scores.len();
    let grad = &mut grad[..n];
    let (zero, one, two) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0), f32x16::splat(simd, 2.0));
    let (centre, slope) = (f32x16::splat(simd, hinge.centre), f32x16::splat(simd, hinge.slope));
    let (offset, sharpness) = (f32x16::splat(simd, hinge.offset), f32x16::splat(simd, hinge.sharpness));
    let weight = f32x16::splat(simd, weight);
    let (mut values, mut slopes, mut slopes_p) = (zero, zero, zero);
    for at in (0..n).step_by(LANES) {
        let p = one / (one + exp(simd, zero - load_row(simd, scores, at, 0.0)));
        let from_centre = p - centre;
        let z = (from_centre.mul_add(from_centre, slope * p) - offset) * sharpness;
        // One exponential of -|z| serves log(1 + e^z) and σ(z), and neither overflows.
        let e = exp(simd, z.min(zero - z));
        let value = z.max(zero) + ln(simd, one + e);
        let derivative = z.simd_gt(zero).select(one, e) / (one + e);
        let present = ones(simd, n - at);
        let present_derivative = derivative * present;
        values = value.mul_add(present, values);
        slopes += present_derivative;
        slopes_p = present_derivative.mul_add(p, slopes_p);
        store_row(weight * derivative * from_centre.mul_add(two, slope) * p * (one - p), grad, at);
    }
    HingeSums { value: sum(values) / hinge.sharpness, slope: sum(slopes), slope_p: sum(slopes_p) }
}

/// Ones in the first `n` elements, zeros in the others.
#[inline(always)]
fn ones<S: Simd>(simd: S, n: usize) -> f32x16<S> {
    const ONES: [f32; LANES] = [1.0; LANES];
    load_row(simd, &ONES[..n.min(LANES)], 0, 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::simd::at_every_level;
    use crate::test_data::{close, score_rows, widen};
    use crate::{Hinge, Real, scalar};

    proptest! {
        #[test]
        fn agrees_with_the_scalar_reference(
            (scores, _) in score_rows(),
            factor in 1.0f32..30.0,
            centre in 0.0f32..1.0,
            slope in 0.0f32..4.0,
            offset in 0.0f32..5.0,
        ) {
            let scores: Vec<f32> = scores.iter().map(|f| f * factor).collect();
            let narrow = Hinge { centre, slope, offset, sharpness: 5.0 };
            let wide =
                Hinge { centre: centre.into(), slope: slope.into(), offset: offset.into(), sharpness: 5.0 };
            let mut exact = vec![0.0; scores.len()];
            let sums = scalar::hinge(wide, &widen(&scores), 0.7f32.into(), &mut exact);
            at_every_level(|| {
                let mut grad = vec![0.0; scores.len()];
                let found = f32::hinge(narrow, &scores, 0.7, &mut grad);
                let pairs =
                    [(found.value, sums.value), (found.slope, sums.slope), (found.slope_p, sums.slope_p)];
                for (x, e) in pairs {
                    assert!(close(x, e, 1.0), "{found:?} {sums:?}");
                }
                for (g, e) in grad.iter().zip(&exact) {
                    assert!(close(*g, *e, 0.1), "{g} {e}");
                }
            });
        }
    }

    #[test]
    fn extreme_scores_give_finite_results() {
        at_every_level(|| {
            let hinge = Hinge { centre: 0.5, slope: 4.0, offset: 2.0, sharpness: 1000.0 };
            let mut grad = [0.0f32; 3];
            let sums = f32::hinge(hinge, &[-1e30, 0.0, 1e30], 1.0, &mut grad);
            let all = [sums.value, sums.slope, sums.slope_p];
            assert!(grad.iter().chain(&all).all(|x| x.is_finite()), "{grad:?} {sums:?}");
            // The derivative is 0 at p = 0 and 1 at p = 1.
            assert!((sums.slope - 1.5).abs() < 1e-6 && (sums.value - 2.25).abs() < 1e-2, "{sums:?}");
        });
    }
}
