//! L2 normalisation of rows, and its backward pass.

use fearless_simd::{dispatch, f32x16, prelude::*};

use crate::Lane;
use crate::simd::{dot, level, load, store};

/// Divides each row by its L2 norm and writes the inverse norms.
///
/// A row with a norm below `1e-12` becomes zero, and so does its inverse norm: no gradient flows through it.
pub fn normalise(rows: &[Lane], lanes: usize, out: &mut [Lane], inverse_norms: &mut [f32]) {
    dispatch!(level(), simd => {
        let rows = rows.chunks_exact(lanes).zip(out.chunks_exact_mut(lanes)).zip(inverse_norms);
        for ((row, out), inverse) in rows {
            let norm = dot(simd, row, row).sqrt();
            *inverse = if norm < 1e-12 { 0.0 } else { 1.0 / norm };
            let scale = f32x16::splat(simd, *inverse);
            for (x, out) in row.iter().zip(out) {
                store(load(simd, x) * scale, out);
            }
        }
    });
}

/// The backward pass of [`normalise`]: turns gradients with respect to the unit rows, in place, into gradients with
/// respect to the original rows, `(g - (g·x̂) x̂) / ‖x‖`.
pub fn normalise_backward(unit: &[Lane], lanes: usize, inverse_norms: &[f32], grads: &mut [Lane]) {
    dispatch!(level(), simd => {
        let rows = unit.chunks_exact(lanes).zip(grads.chunks_exact_mut(lanes)).zip(inverse_norms);
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
    fn the_backward_pass_agrees_with_finite_differences() {
        let raw = Matrix::from_fn(2, 20, |r, c| if r == 0 { (c as f32 * 0.37).sin() * 3.0 } else { 0.0 });
        let out_grad = |c: usize| (c as f64 * 0.11).cos();
        let value = |shift: usize, h: f64| -> f64 {
            let x: Vec<f64> =
                (0..20).map(|c| f64::from(raw.row(0)[c]) + if c == shift { h } else { 0.0 }).collect();
            let norm = x.iter().map(|x| x * x).sum::<f64>().sqrt();
            x.iter().enumerate().map(|(c, x)| x / norm * out_grad(c)).sum()
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
            assert_eq!(unit.row(1), [0.0; 20], "a zero row stays zero");
            assert_eq!(grads.row(1), [0.0; 20], "no gradient flows through a zero row");
        });
    }
}
