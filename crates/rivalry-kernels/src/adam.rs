//! The Adam update of a range of parameters.

use fearless_simd::{Simd, dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{level, load, store};

/// The constants of one Adam step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamStep {
    /// The decay rate of the first moment.
    pub beta1: f32,
    /// The decay rate of the second moment.
    pub beta2: f32,
    /// Added to the denominator.
    pub epsilon: f32,
    /// The L2 penalty: this times the parameter is added to the gradient (not decoupled as in AdamW).
    pub weight_decay: f32,
    /// The learning rate divided by the bias correction of the first moment.
    pub rate: f32,
    /// One over the square root of the bias correction of the second moment.
    pub second_correction: f32,
}

/// One Adam step: updates parameters and both moments.
pub fn adam(step: &AdamStep, params: &mut [Lane], first: &mut [Lane], second: &mut [Lane], grads: &[Lane]) {
    dispatch!(level(), simd => {
        for (((p, m), v), g) in params.iter_mut().zip(first).zip(second).zip(grads) {
            update(simd, step, p, m, v, load(simd, g));
        }
    });
}

/// One Adam step with a zero gradient: the same bits as [`adam`] with a gradient of zeros, without reading one.
pub fn adam_zero_grad(step: &AdamStep, params: &mut [Lane], first: &mut [Lane], second: &mut [Lane]) {
    dispatch!(level(), simd => {
        for ((p, m), v) in params.iter_mut().zip(first).zip(second) {
            update(simd, step, p, m, v, f32x16::splat(simd, 0.0));
        }
    });
}

/// Several Adam steps with zero gradients as one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamCatchUp {
    /// Times `m/(√v + ε)`: what is subtracted from a parameter.
    pub update: f32,
    /// The decay of the first moment over these steps.
    pub first_decay: f32,
    /// The decay of the second moment over these steps.
    pub second_decay: f32,
    /// Added to the denominator.
    pub epsilon: f32,
}

/// Several Adam steps with zero gradients and without weight decay, as one update.
pub fn adam_catch_up(catch_up: &AdamCatchUp, params: &mut [Lane], first: &mut [Lane], second: &mut [Lane]) {
    dispatch!(level(), simd => {
        let splat = |x: f32| f32x16::splat(simd, x);
        for ((x, m), v) in params.iter_mut().zip(first).zip(second) {
            let (first, second) = (load(simd, m), load(simd, v));
            let denominator = second.sqrt() + splat(catch_up.epsilon);
            store(load(simd, x) - splat(catch_up.update) * first / denominator, x);
            store(first * splat(catch_up.first_decay), m);
            store(second * splat(catch_up.second_decay), v);
        }
    });
}

#[inline(always)]
fn update<S: Simd>(
    simd: S,
    step: &AdamStep,
    param: &mut Lane,
    first: &mut Lane,
    second: &mut Lane,
    grad: f32x16<S>,
) {
    let splat = |x: f32| f32x16::splat(simd, x);
    let (x, m, v) = (load(simd, param), load(simd, first), load(simd, second));
    let grad = x.mul_add(splat(step.weight_decay), grad);
    let m = m.mul_add(splat(step.beta1), grad * splat(1.0 - step.beta1));
    let v = v.mul_add(splat(step.beta2), grad * grad * splat(1.0 - step.beta2));
    let denominator = v.sqrt().mul_add(splat(step.second_correction), splat(step.epsilon));
    store(x - splat(step.rate) * m / denominator, param);
    store(m, first);
    store(v, second);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;
    use crate::simd::at_every_level;
    use crate::test_data::fractions;

    #[test]
    fn two_steps_agree_with_the_scalar_formula() {
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
                let step = AdamStep {
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
            assert!(params.as_lanes()[0].0[3..].iter().all(|&padding| padding == 0.0));
        });
    }

    #[test]
    fn a_step_without_a_gradient_equals_one_with_zeros_to_the_bit() {
        let start =
            [fractions(3, 20, 0), fractions(3, 20, 7), Matrix::from_fn(3, 20, |r, c| (r + c) as f32 * 1e-3)];
        at_every_level(|| {
            for weight_decay in [0.0, 0.01] {
                let (rate, second_correction) = (0.3, 1.7);
                let step = AdamStep {
                    beta1: 0.9,
                    beta2: 0.999,
                    epsilon: 1e-8,
                    weight_decay,
                    rate,
                    second_correction,
                };
                let ([x, m, v], [zero_x, zero_m, zero_v]) = (&mut start.clone(), &mut start.clone());
                let zeros = Matrix::zeros(3, 20);
                for _ in 0..50 {
                    adam(&step, x.as_lanes_mut(), m.as_lanes_mut(), v.as_lanes_mut(), zeros.as_lanes());
                    adam_zero_grad(
                        &step,
                        zero_x.as_lanes_mut(),
                        zero_m.as_lanes_mut(),
                        zero_v.as_lanes_mut(),
                    );
                }
                let bits =
                    |table: &Matrix| table.to_dense().into_iter().map(f32::to_bits).collect::<Vec<_>>();
                assert_eq!([x, m, v].map(|t| bits(t)), [zero_x, zero_m, zero_v].map(|t| bits(t)));
            }
        });
    }
}
