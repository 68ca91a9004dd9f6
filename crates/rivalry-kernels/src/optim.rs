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
    let splat = |x: f32| f32x16::splat(simd, x);
    let (beta1, beta2) = (splat(step.beta1), splat(step.beta2));
    let (rest1, rest2) = (splat(1.0 - step.beta1), splat(1.0 - step.beta2));
    let (decay, rate) = (splat(step.weight_decay), splat(step.rate));
    let (correction, epsilon) = (splat(step.second_correction), splat(step.epsilon));
    for (((p, m), v), g) in params.iter_mut().zip(first).zip(second).zip(grads) {
        let x = load(simd, p);
        let grad = x.mul_add(decay, load(simd, g));
        let moment = load(simd, m).mul_add(beta1, grad * rest1);
        let square = load(simd, v).mul_add(beta2, grad * grad * rest2);
        let denominator = square.sqrt().mul_add(correction, epsilon);
        store(x - rate * moment / denominator, p);
        store(moment, m);
        store(square, v);
    }
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
