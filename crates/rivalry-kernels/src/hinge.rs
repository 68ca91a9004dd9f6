//! LLPAUC's smoothed hinge over a row of negatives, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::rows::{read, write};
use crate::simd::{exp, level, ln, sum};
use crate::{Hinge, LANES};

/// See [`crate::Real::hinge`].
pub(crate) fn hinge(hinge: Hinge<f32>, scores: &[f32], weight: f32, grad: &mut [f32]) -> [f32; 3] {
    dispatch!(level(), simd => hinge_at(simd, hinge, scores, weight, grad))
}

#[inline(always)]
fn hinge_at<S: Simd>(simd: S, hinge: Hinge<f32>, scores: &[f32], weight: f32, grad: &mut [f32]) -> [f32; 3] {
    let n = scores.len();
    let grad = &mut grad[..n];
    let (zero, one, two) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 1.0), f32x16::splat(simd, 2.0));
    let (centre, slope) = (f32x16::splat(simd, hinge.centre), f32x16::splat(simd, hinge.slope));
    let (offset, sharpness) = (f32x16::splat(simd, hinge.offset), f32x16::splat(simd, hinge.sharpness));
    let weight = f32x16::splat(simd, weight);
    let (mut values, mut slopes, mut moments) = (zero, zero, zero);
    for at in (0..n).step_by(LANES) {
        let p = one / (one + exp(simd, zero - read(simd, scores, at, 0.0)));
        let from_centre = p - centre;
        let z = (from_centre.mul_add(from_centre, slope * p) - offset) * sharpness;
        // One exponential of -|z| serves log(1 + e^z) and σ(z), and neither overflows.
        let e = exp(simd, z.min(zero - z));
        let value = z.max(zero) + ln(simd, one + e);
        let rise = z.simd_gt(zero).select(one, e) / (one + e);
        let counted = present(simd, n - at);
        let counted_rise = rise * counted;
        values = value.mul_add(counted, values);
        slopes += counted_rise;
        moments = counted_rise.mul_add(p, moments);
        write(weight * rise * from_centre.mul_add(two, slope) * p * (one - p), grad, at);
    }
    [sum(values) / hinge.sharpness, sum(slopes), sum(moments)]
}

/// One for each of the first `n` lanes, zero for the others.
#[inline(always)]
fn present<S: Simd>(simd: S, n: usize) -> f32x16<S> {
    const ONES: [f32; LANES] = [1.0; LANES];
    read(simd, &ONES[..n.min(LANES)], 0, 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::rows::tests::{close, rows, widen};
    use crate::simd::at_every_level;
    use crate::{Hinge, Real, scalar};

    proptest! {
        #[test]
        fn hinge_agrees_with_its_twin(
            (scores, _) in rows(),
            stretch in 1.0f32..30.0,
            centre in 0.0f32..1.0,
            slope in 0.0f32..4.0,
            offset in 0.0f32..5.0,
        ) {
            let scores: Vec<f32> = scores.iter().map(|f| f * stretch).collect();
            let narrow = Hinge { centre, slope, offset, sharpness: 5.0 };
            let wide =
                Hinge { centre: centre.into(), slope: slope.into(), offset: offset.into(), sharpness: 5.0 };
            let mut exact = vec![0.0; scores.len()];
            let sums = scalar::hinge(wide, &widen(&scores), 0.7f32.into(), &mut exact);
            at_every_level(|| {
                let mut grad = vec![0.0; scores.len()];
                let found = f32::hinge(narrow, &scores, 0.7, &mut grad);
                for (x, e) in found.iter().zip(sums) {
                    assert!(close(*x, e, 1.0), "{found:?} {sums:?}");
                }
                for (g, e) in grad.iter().zip(&exact) {
                    assert!(close(*g, *e, 0.1), "{g} {e}");
                }
            });
        }
    }

    #[test]
    fn hinge_is_finite_at_the_extremes() {
        at_every_level(|| {
            let hinge = Hinge { centre: 0.5, slope: 4.0, offset: 2.0, sharpness: 1000.0 };
            let mut grad = [0.0f32; 3];
            let sums = f32::hinge(hinge, &[-1e30, 0.0, 1e30], 1.0, &mut grad);
            assert!(grad.iter().chain(&sums).all(|x| x.is_finite()), "{grad:?} {sums:?}");
            // At p = 0 the hinge is shut, at p = 1 it is wide open.
            assert!((sums[1] - 1.5).abs() < 1e-6 && (sums[0] - 2.25).abs() < 1e-2, "{sums:?}");
        });
    }
}
