//! What happens to each row once a step: the gradient of the normalisation, Adam, the new normalised row.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{dot, level, load, store};

/// The constants of one Adam step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Added to the denominator.
    pub epsilon: f32,
    /// Added to the gradient, times the parameter (the classic form, not the decoupled one).
    pub weight_decay: f32,
    /// Learning rate over the bias correction of the first moment.
    pub rate: f32,
    /// One over the square root of the bias correction of the second moment.
    pub second_correction: f32,
}

/// One Adam step on a stretch of parameters.
pub fn adam(step: &Adam, params: &mut [Lane], first: &mut [Lane], second: &mut [Lane], grads: &[Lane]) {
    dispatch!(level(), simd => adam_at(simd, step, params, first, second, grads));
}

#[inline(always)]
fn adam_at<S: Simd>(
    simd: S,
    step: &Adam,
    params: &mut [Lane],
    first: &mut [Lane],
    second: &mut [Lane],
    grads: &[Lane],
) {
    for (((p, m), v), g) in params.iter_mut().zip(first).zip(second).zip(grads) {
        let held = [load(simd, p), load(simd, m), load(simd, v)];
        let [x, moment, square] = adam_lane(simd, step, held, load(simd, g));
        store(x, p);
        store(moment, m);
        store(square, v);
    }
}

/// One Adam step on a stretch of parameters without a gradient: the same bits as [`adam`] with one of zeros.
pub fn adam_at_rest(step: &Adam, params: &mut [Lane], first: &mut [Lane], second: &mut [Lane]) {
    dispatch!(level(), simd => {
        for ((p, m), v) in params.iter_mut().zip(first).zip(second) {
            let held = [load(simd, p), load(simd, m), load(simd, v)];
            let [x, moment, square] = adam_lane(simd, step, held, f32x16::splat(simd, 0.0));
            store(x, p);
            store(moment, m);
            store(square, v);
        }
    });
}

/// One step of a parameter and its two moments.
#[inline(always)]
fn adam_lane<S: Simd>(simd: S, step: &Adam, [x, m, v]: [f32x16<S>; 3], g: f32x16<S>) -> [f32x16<S>; 3] {
    let splat = |x: f32| f32x16::splat(simd, x);
    let grad = x.mul_add(splat(step.weight_decay), g);
    let moment = m.mul_add(splat(step.beta1), grad * splat(1.0 - step.beta1));
    let square = v.mul_add(splat(step.beta2), grad * grad * splat(1.0 - step.beta2));
    let denominator = square.sqrt().mul_add(splat(step.second_correction), splat(step.epsilon));
    [x - splat(step.rate) * moment / denominator, moment, square]
}

/// Rows scaled to length one. A row shorter than `1e-12` becomes zero, and its inverse length too, so that
/// nothing flows back through it.
pub fn normalise(rows: &[Lane], lanes: usize, out: &mut [Lane], inverse_lengths: &mut [f32]) {
    dispatch!(level(), simd => {
        let rows = rows.chunks_exact(lanes).zip(out.chunks_exact_mut(lanes)).zip(inverse_lengths);
        for ((row, out), inverse) in rows {
            let length = dot(simd, row, row).sqrt();
            *inverse = if length < 1e-12 { 0.0 } else { 1.0 / length };
            let scale = f32x16::splat(simd, *inverse);
            for (x, out) in row.iter().zip(out) {
                store(load(simd, x) * scale, out);
            }
        }
    });
}

/// The way back through [`normalise`]: gradients with respect to the unit rows become, in place, gradients with
/// respect to the rows: `(g - (g·x̂) x̂) / ‖x‖`.
pub fn normalise_backward(unit: &[Lane], lanes: usize, inverse_lengths: &[f32], grads: &mut [Lane]) {
    dispatch!(level(), simd => {
        let rows = unit.chunks_exact(lanes).zip(grads.chunks_exact_mut(lanes)).zip(inverse_lengths);
        for ((unit, grad), inverse) in rows {
            let along = f32x16::splat(simd, -dot(simd, unit, grad));
            let scale = f32x16::splat(simd, *inverse);
            for (x, g) in unit.iter().zip(grad) {
                store(load(simd, x).mul_add(along, load(simd, g)) * scale, g);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;

    #[test]
    fn two_adam_steps_by_hand() {
        at_every_level(|| {
            let (mut x, mut m, mut v) = (1.0f64, 0.0f64, 0.0f64);
            let mut params = Matrix::from_fn(1, 3, |_, _| 1.0);
            let (mut first, mut second) = (Matrix::zeros(1, 3), Matrix::zeros(1, 3));
            for (t, g) in [(1, 0.5f64), (2, -0.25)] {
                let (c1, c2) = (1.0 - 0.9f64.powi(t), 1.0 - 0.999f64.powi(t));
                let grad = g + 0.1 * x;
                m = 0.9 * m + 0.1 * grad;
                v = 0.999 * v + 0.001 * grad * grad;
                x -= 0.1 * (m / c1) / ((v / c2).sqrt() + 1e-8);
                let step = Adam {
                    beta1: 0.9,
                    beta2: 0.999,
                    epsilon: 1e-8,
                    weight_decay: 0.1,
                    rate: (0.1 / c1) as f32,
                    second_correction: (1.0 / c2.sqrt()) as f32,
                };
                let grads = Matrix::from_fn(1, 3, |_, _| g as f32);
                let lanes = (params.as_lanes_mut(), first.as_lanes_mut(), second.as_lanes_mut());
                adam(&step, lanes.0, lanes.1, lanes.2, grads.as_lanes());
            }
            assert!((f64::from(params.row(0)[2]) - x).abs() < 1e-6, "{:?} {x}", params.row(0));
            assert!(params.as_lanes()[0].0[3..].iter().all(|&pad| pad == 0.0));
        });
    }

    #[test]
    fn a_step_at_rest_is_one_along_a_gradient_of_zeros_to_the_bit() {
        let number = |salt: usize| Matrix::from_fn(3, 20, |r, c| ((r * 20 + c + salt) as f32).sin());
        let start = [number(0), number(7), Matrix::from_fn(3, 20, |r, c| (r + c) as f32 * 1e-3)];
        at_every_level(|| {
            for weight_decay in [0.0, 0.01] {
                let (rate, second_correction) = (0.3, 1.7);
                let step =
                    Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay, rate, second_correction };
                let ([x, m, v], [rest_x, rest_m, rest_v]) = (&mut start.clone(), &mut start.clone());
                for _ in 0..50 {
                    let none = Matrix::zeros(3, 20);
                    adam(&step, x.as_lanes_mut(), m.as_lanes_mut(), v.as_lanes_mut(), none.as_lanes());
                    adam_at_rest(&step, rest_x.as_lanes_mut(), rest_m.as_lanes_mut(), rest_v.as_lanes_mut());
                }
                let bits =
                    |table: &Matrix| table.to_dense().into_iter().map(f32::to_bits).collect::<Vec<_>>();
                assert_eq!([x, m, v].map(|t| bits(t)), [rest_x, rest_m, rest_v].map(|t| bits(t)));
            }
        });
    }

    #[test]
    fn the_way_back_through_normalisation_agrees_with_differences() {
        let raw = Matrix::from_fn(2, 20, |r, c| if r == 0 { (c as f32 * 0.37).sin() * 3.0 } else { 0.0 });
        let out_grad = |c: usize| (c as f64 * 0.11).cos();
        let value = |shift: usize, h: f64| -> f64 {
            let x: Vec<f64> =
                (0..20).map(|c| f64::from(raw.row(0)[c]) + if c == shift { h } else { 0.0 }).collect();
            let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().enumerate().map(|(c, x)| x / length * out_grad(c)).sum()
        };
        at_every_level(|| {
            let (mut unit, mut inverse) = (Matrix::zeros(2, 20), [0.0; 2]);
            normalise(raw.as_lanes(), 2, unit.as_lanes_mut(), &mut inverse);
            let mut grads = Matrix::from_fn(2, 20, |_, c| out_grad(c) as f32);
            normalise_backward(unit.as_lanes(), 2, &inverse, grads.as_lanes_mut());
            for c in 0..20 {
                let difference = (value(c, 1e-5) - value(c, -1e-5)) / 2e-5;
                assert!((f64::from(grads.row(0)[c]) - difference).abs() < 1e-5);
            }
            assert_eq!(unit.row(1), [0.0; 20], "a row without length stays zero");
            assert_eq!(grads.row(1), [0.0; 20], "and nothing flows back through it");
        });
    }
}
