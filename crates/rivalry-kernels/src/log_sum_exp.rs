//! The scaled log-sum-exp over a row of any length, with its gradient, by SIMD.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::LANES;
use crate::math::exp;
use crate::simd::{level, load_row, store_row, sum};

/// See [`crate::Real::log_sum_exp`].
pub(crate) fn log_sum_exp(
    offset: f32,
    logits: &[f32],
    scale: Option<&[f32]>,
    slopes: Option<&[f32]>,
    sharpness: f32,
    weight: f32,
    grad: &mut [f32],
) -> (f32, f32) {
    let constants = Constants { offset, sharpness, weight };
    macro_rules! with {
        ($scale:expr, $slopes:expr) => {
            dispatch!(level(), simd => log_sum_exp_at(simd, constants, logits, $scale, $slopes, grad))
        };
    }
    match (scale, slopes) {
        (None, None) => with!(One, One),
        (Some(scale), None) => with!(Each(scale), One),
        (None, Some(slopes)) => with!(One, Each(slopes)),
        (Some(scale), Some(slopes)) => with!(Each(scale), Each(slopes)),
    }
}

/// What all elements of the row have in common.
#[derive(Clone, Copy)]
struct Constants {
    offset: f32,
    sharpness: f32,
    weight: f32,
}

/// A factor for each element: a row of factors, or one.
trait Factor: Copy {
    fn times<S: Simd>(self, simd: S, at: usize, x: f32x16<S>) -> f32x16<S>;
}

#[derive(Clone, Copy)]
struct One;

impl Factor for One {
    #[inline(always)]
    fn times<S: Simd>(self, _: S, _: usize, x: f32x16<S>) -> f32x16<S> {
        x
    }
}

#[derive(Clone, Copy)]
struct Each<'a>(&'a [f32]);

impl Factor for Each<'_> {
    #[inline(always)]
    fn times<S: Simd>(self, simd: S, at: usize, x: f32x16<S>) -> f32x16<S> {
        x * load_row(simd, self.0, at, 1.0)
    }
}

#[inline(always)]
fn log_sum_exp_at<S: Simd>(
    simd: S,
    Constants { offset, sharpness, weight }: Constants,
    logits: &[f32],
    scale: impl Factor,
    slopes: impl Factor,
    grad: &mut [f32],
) -> (f32, f32) {
    let n = logits.len();
    let grad = &mut grad[..n];
    let mut max = f32x16::splat(simd, f32::NEG_INFINITY);
    for at in (0..n).step_by(LANES) {
        let difference = load_row(simd, logits, at, f32::NEG_INFINITY) - f32x16::splat(simd, offset);
        let z = scale.times(simd, at, difference) * f32x16::splat(simd, sharpness);
        max = max.max(z);
        store_row(z, grad, at);
    }
    let max = max.reduce_max();
    let mut total = f32x16::splat(simd, 0.0);
    for at in (0..n).step_by(LANES) {
        let e = exp(simd, load_row(simd, grad, at, f32::NEG_INFINITY) - f32x16::splat(simd, max));
        total += e;
        store_row(e, grad, at);
    }
    let total = sum(total);
    let factor = f32x16::splat(simd, sharpness / total * weight);
    let mut grad_sum = f32x16::splat(simd, 0.0);
    for at in (0..n).step_by(LANES) {
        let g = slopes.times(simd, at, scale.times(simd, at, load_row(simd, grad, at, 0.0))) * factor;
        grad_sum += g;
        store_row(g, grad, at);
    }
    (max + total.ln(), sum(grad_sum))
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
            (scores, other) in score_rows(),
            positive in -1.0f32..1.0,
            tau in 0.05f32..1.0,
        ) {
            let factors: Vec<f32> = other.iter().map(|x| x + 1.5).collect();
            let (with, without) = (Some(&factors[..]), None);
            for (scale, slopes) in [(without, without), (with, without), (without, with), (with, with)] {
                let (wide_scale, wide_slopes) = (scale.map(widen), slopes.map(widen));
                let mut exact = vec![0.0; scores.len()];
                let (value, grad_sum) = scalar::log_sum_exp(
                    positive.into(),
                    &widen(&scores),
                    wide_scale.as_deref(),
                    wide_slopes.as_deref(),
                    1.0 / f64::from(tau),
                    0.7f32.into(),
                    &mut exact,
                );
                at_every_level(|| {
                    let mut grad = vec![0.0; scores.len()];
                    let (v, s) = f32::log_sum_exp(positive, &scores, scale, slopes, 1.0 / tau, 0.7, &mut grad);
                    assert!(close(v, value, 1.0) && close(s, grad_sum, 1.0), "{v} {value} {s} {grad_sum}");
                    for (g, e) in grad.iter().zip(&exact) {
                        assert!(close(*g, *e, 1.0), "{g} {e}");
                    }
                });
            }
        }
    }

    #[test]
    fn extreme_logits_do_not_overflow() {
        at_every_level(|| {
            let mut grad = [0.0; 19];
            let (value, grad_sum) = f32::log_sum_exp(-1.0, &[1.0; 19], None, None, 200.0, 1.0, &mut grad);
            assert!((value - (400.0 + 19f32.ln())).abs() < 1e-3 && (grad_sum - 200.0).abs() < 1e-3);
            let (value, grad_sum) = f32::log_sum_exp(1.0, &[-1.0; 19], None, None, 200.0, 1.0, &mut grad);
            assert!((value - (-400.0 + 19f32.ln())).abs() < 1e-3 && (grad_sum - 200.0).abs() < 1e-3);
        });
    }
}
