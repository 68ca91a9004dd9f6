//! The softmax family's row kernels by SIMD, for rows of any length.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::LANES;
use crate::simd::{exp, level, sum};

/// See [`crate::Real::softmax`].
pub(crate) fn softmax(
    offset: f32,
    logits: &[f32],
    scale: Option<&[f32]>,
    slopes: Option<&[f32]>,
    sharpness: f32,
    weight: f32,
    grad: &mut [f32],
) -> (f32, f32) {
    macro_rules! with {
        ($scale:expr, $slopes:expr) => {
            dispatch!(level(), simd => softmax_at(simd, offset, logits, $scale, $slopes, [sharpness, weight], grad))
        };
    }
    match (scale, slopes) {
        (None, None) => with!(One, One),
        (Some(scale), None) => with!(Each(scale), One),
        (None, Some(slopes)) => with!(One, Each(slopes)),
        (Some(scale), Some(slopes)) => with!(Each(scale), Each(slopes)),
    }
}

/// The factor of each negative: a row of weights, or one.
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
        x * read(simd, self.0, at, 1.0)
    }
}

#[inline(always)]
fn softmax_at<S: Simd>(
    simd: S,
    offset: f32,
    logits: &[f32],
    scale: impl Factor,
    slopes: impl Factor,
    [sharpness, weight]: [f32; 2],
    grad: &mut [f32],
) -> (f32, f32) {
    let n = logits.len();
    let grad = &mut grad[..n];
    let mut highest = f32x16::splat(simd, f32::NEG_INFINITY);
    for at in (0..n).step_by(LANES) {
        let difference = read(simd, logits, at, f32::NEG_INFINITY) - f32x16::splat(simd, offset);
        let z = scale.times(simd, at, difference) * f32x16::splat(simd, sharpness);
        highest = highest.max(z);
        write(z, grad, at);
    }
    let highest = highest.reduce_max();
    let mut total = f32x16::splat(simd, 0.0);
    for at in (0..n).step_by(LANES) {
        let share = exp(simd, read(simd, grad, at, f32::NEG_INFINITY) - f32x16::splat(simd, highest));
        total += share;
        write(share, grad, at);
    }
    let total = sum(total);
    let unit = f32x16::splat(simd, sharpness / total * weight);
    let mut mass = f32x16::splat(simd, 0.0);
    for at in (0..n).step_by(LANES) {
        let g = slopes.times(simd, at, scale.times(simd, at, read(simd, grad, at, 0.0))) * unit;
        mass += g;
        write(g, grad, at);
    }
    (highest + total.ln(), sum(mass))
}

/// See [`crate::Real::kappa`].
pub(crate) fn kappa(
    scores: &[f32],
    similarities: &[f32],
    beta: f32,
    floor: f32,
    drift_control: bool,
    out: &mut [f32],
) {
    dispatch!(level(), simd => kappa_at(simd, scores, similarities, beta, floor, drift_control, out));
}

#[inline(always)]
fn kappa_at<S: Simd>(
    simd: S,
    scores: &[f32],
    similarities: &[f32],
    beta: f32,
    floor: f32,
    drift_control: bool,
    out: &mut [f32],
) {
    let n = scores.len();
    let splat = |x: f32| f32x16::splat(simd, x);
    let mut total = splat(0.0);
    for at in (0..n).step_by(LANES) {
        let shifted = (read(simd, similarities, at, 0.0) + splat(1.0)) * splat(0.5);
        let k = exp(simd, read(simd, scores, at, f32::NEG_INFINITY) + shifted);
        total += k;
        write(k, out, at);
    }
    let share = splat(n as f32 / sum(total));
    let mut inverses = splat(0.0);
    for at in (0..n).step_by(LANES) {
        let k = read(simd, out, at, 0.0) * share;
        let k = ((k - splat(1.0)).mul_add(splat(beta), splat(1.0))).max(splat(floor));
        write(k, out, at);
        // Read back with infinities beyond the end: these add nothing to the sum of inverses.
        inverses += splat(1.0) / read(simd, out, at, f32::INFINITY);
    }
    if drift_control {
        let rescale = splat(sum(inverses) / n as f32);
        for at in (0..n).step_by(LANES) {
            write(read(simd, out, at, 0.0) * rescale, out, at);
        }
    }
}

/// Sixteen numbers from `at` on; `beyond` stands for those past the end.
#[inline(always)]
pub(crate) fn read<S: Simd>(simd: S, row: &[f32], at: usize, beyond: f32) -> f32x16<S> {
    match row[at..].first_chunk::<LANES>() {
        Some(whole) => f32x16::simd_from(simd, *whole),
        None => {
            let mut part = [beyond; LANES];
            part[..row.len() - at].copy_from_slice(&row[at..]);
            f32x16::simd_from(simd, part)
        }
    }
}

/// The numbers from `at` on, as many as there are places for.
#[inline(always)]
pub(crate) fn write<S: Simd>(x: f32x16<S>, row: &mut [f32], at: usize) {
    let x: [f32; LANES] = x.into();
    match row[at..].first_chunk_mut::<LANES>() {
        Some(whole) => *whole = x,
        None => {
            let left = row.len() - at;
            row[at..].copy_from_slice(&x[..left]);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use crate::simd::at_every_level;
    use crate::{Real, scalar};

    pub(crate) fn widen(row: &[f32]) -> Vec<f64> {
        row.iter().map(|&x| x.into()).collect()
    }

    pub(crate) fn close(a: f32, b: f64, scale: f64) -> bool {
        (f64::from(a) - b).abs() <= 2e-5 * (b.abs() + scale)
    }

    prop_compose! {
        pub(crate) fn rows()(n in 1usize..70)(
            scores in prop::collection::vec(-1.0f32..1.0, n),
            similarities in prop::collection::vec(-1.0f32..1.0, n),
        ) -> (Vec<f32>, Vec<f32>) {
            (scores, similarities)
        }
    }

    proptest! {
        #[test]
        fn softmax_agrees_with_its_twin((scores, other) in rows(), positive in -1.0f32..1.0, tau in 0.05f32..1.0) {
            let factors: Vec<f32> = other.iter().map(|x| x + 1.5).collect();
            let (with, without) = (Some(&factors[..]), None);
            for (scale, slopes) in [(without, without), (with, without), (without, with), (with, with)] {
                let (wide_scale, wide_slopes) = (scale.map(widen), slopes.map(widen));
                let mut exact = vec![0.0; scores.len()];
                let (value, mass) = scalar::softmax(
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
                    let (v, m) = f32::softmax(positive, &scores, scale, slopes, 1.0 / tau, 0.7, &mut grad);
                    assert!(close(v, value, 1.0) && close(m, mass, 1.0), "{v} {value} {m} {mass}");
                    for (g, e) in grad.iter().zip(&exact) {
                        assert!(close(*g, *e, 1.0), "{g} {e}");
                    }
                });
            }
        }

        #[test]
        fn kappa_agrees_with_its_twin((f, s) in rows(), beta in 0.0f32..3.0, drift in any::<bool>()) {
            let mut exact = vec![0.0; f.len()];
            scalar::kappa(&widen(&f), &widen(&s), beta.into(), 0.05f32.into(), drift, &mut exact);
            at_every_level(|| {
                let mut out = vec![0.0; f.len()];
                f32::kappa(&f, &s, beta, 0.05, drift, &mut out);
                for (k, e) in out.iter().zip(&exact) {
                    assert!(close(*k, *e, 1.0), "{k} {e}");
                }
            });
        }

        #[test]
        fn kappa_without_strength_is_one_to_the_bit((f, s) in rows()) {
            at_every_level(|| {
                let mut out = vec![0.0; f.len()];
                f32::kappa(&f, &s, 0.0, 0.05, true, &mut out);
                assert_eq!(out, vec![1.0; f.len()]);
            });
        }
    }

    #[test]
    fn softmax_is_finite_at_the_extremes() {
        at_every_level(|| {
            let mut grad = [0.0; 19];
            let (value, mass) = f32::softmax(-1.0, &[1.0; 19], None, None, 200.0, 1.0, &mut grad);
            assert!((value - (400.0 + 19f32.ln())).abs() < 1e-3 && (mass - 200.0).abs() < 1e-3);
            let (value, mass) = f32::softmax(1.0, &[-1.0; 19], None, None, 200.0, 1.0, &mut grad);
            assert!((value - (-400.0 + 19f32.ln())).abs() < 1e-3 && (mass - 200.0).abs() < 1e-3);
        });
    }

    #[test]
    fn competition_sees_only_the_slate() {
        let f = [0.9, 0.1, 0.8, -0.5];
        let s = [1.0, -1.0, 1.0, -1.0];
        assert!((f64::competition(&f, &s, 0.2, 2) - 1.0).abs() < 1e-12);
        assert!(f64::competition(&f, &s, 0.2, 9) < 1.0);
    }
}
