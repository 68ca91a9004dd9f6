//! Activations of a row of score differences by SIMD: the logarithm of `a(d/2)` and its derivative.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::math::{atan, exp, ln};
use crate::real::SMALLEST_ACTIVATION;
use crate::simd::{level, load_row, store_row};
use crate::{Activation, LANES};

/// See [`crate::Real::activate`].
pub(crate) fn activate(
    activation: Activation,
    positive: f32,
    negatives: &[f32],
    logits: &mut [f32],
    slopes: &mut [f32],
) {
    macro_rules! with {
        ($formula:expr) => {
            dispatch!(level(), simd => activate_at(simd, $formula, positive, negatives, logits, slopes))
        };
    }
    match activation {
        Activation::Relu => with!(Relu),
        Activation::Tanh => with!(Tanh),
        Activation::Atan => with!(Atan),
    }
}

/// An activation: `a(x)`, and `a'(x)/a(x)` where a is positive.
trait Formula: Copy {
    fn at<S: Simd>(self, simd: S, x: f32x16<S>) -> (f32x16<S>, f32x16<S>);
}

#[derive(Clone, Copy)]
struct Relu;

impl Formula for Relu {
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
        let one = f32x16::splat(simd, 1.0);
        let a = x + one;
        (a, one / a)
    }
}

#[derive(Clone, Copy)]
struct Tanh;

impl Formula for Tanh {
    /// `a = tanh(x) + 1 = 2/(1 + e^-2x)`, and `a' = 1 - (a - 1)² = a (2 - a)`.
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
        let two = f32x16::splat(simd, 2.0);
        let a = two / (exp(simd, f32x16::splat(simd, -2.0) * x) + f32x16::splat(simd, 1.0));
        (a, two - a)
    }
}

#[derive(Clone, Copy)]
struct Atan;

impl Formula for Atan {
    #[inline(always)]
    fn at<S: Simd>(self, simd: S, x: f32x16<S>) -> (f32x16<S>, f32x16<S>) {
        let one = f32x16::splat(simd, 1.0);
        let a = atan(simd, x) + one;
        (a, one / (x.mul_add(x, one) * a))
    }
}

#[inline(always)]
fn activate_at<S: Simd>(
    simd: S,
    formula: impl Formula,
    positive: f32,
    negatives: &[f32],
    logits: &mut [f32],
    slopes: &mut [f32],
) {
    let smallest = f32x16::splat(simd, SMALLEST_ACTIVATION as f32);
    let (zero, half) = (f32x16::splat(simd, 0.0), f32x16::splat(simd, 0.5));
    for at in (0..negatives.len()).step_by(LANES) {
        let x = (load_row(simd, negatives, at, positive) - f32x16::splat(simd, positive)) * half;
        let (a, slope) = formula.at(simd, x);
        store_row(ln(simd, smallest.max(a)), logits, at);
        store_row(a.simd_gt(smallest).select(half * slope, zero), slopes, at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::simd::at_every_level;
    use crate::test_data::{close, score_rows, widen};
    use crate::{Activation, Real, scalar};

    const ALL: [Activation; 3] = [Activation::Relu, Activation::Tanh, Activation::Atan];

    proptest! {
        #[test]
        fn agrees_with_the_scalar_reference((scores, _) in score_rows(), positive in -1.0f32..1.0) {
            for activation in ALL {
                let (mut exact, mut exact_slopes) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
                scalar::activate(activation, positive.into(), &widen(&scores), &mut exact, &mut exact_slopes);
                at_every_level(|| {
                    let (mut logits, mut slopes) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
                    f32::activate(activation, positive, &scores, &mut logits, &mut slopes);
                    for j in 0..scores.len() {
                        // Near d = -2 the logarithm magnifies the rounding of the difference.
                        let scale = 1.0 + exact_slopes[j];
                        assert!(close(logits[j], exact[j], scale), "{} {}", logits[j], exact[j]);
                        assert!(close(slopes[j], exact_slopes[j], scale * scale), "{} {}", slopes[j], exact_slopes[j]);
                    }
                });
            }
        }
    }

    /// Scores that are dot products are unbounded.
    #[test]
    fn large_differences_give_finite_results() {
        at_every_level(|| {
            for activation in ALL {
                let (mut logits, mut slopes) = ([0.0f32; 4], [0.0f32; 4]);
                f32::activate(activation, 0.0, &[-1e30, -200.0, 200.0, 1e30], &mut logits, &mut slopes);
                assert!(
                    logits.iter().chain(&slopes).all(|x| x.is_finite()),
                    "{activation:?} {logits:?} {slopes:?}"
                );
                assert_eq!(slopes[..2], [0.0; 2], "{activation:?}");
            }
        });
    }
}
