//! Elementary functions on vectors.

use fearless_simd::{Simd, dispatch, f32x16, i32x16, prelude::*};

use crate::LANES;
use crate::simd::{level, load_row, store_row};

/// `e^x` with an error of at most 2 ulp; 0 below -87.3 and infinite above 88.7.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    let splat = |c: f32| f32x16::splat(simd, c);
    // `x` is the second operand of both: x86 returns that one where an operand is NaN, so NaN is propagated.
    let clamped = splat(-87.336_54).max(splat(88.722_83).min(x));
    let n = (clamped * splat(LOG2_E)).round_ties_even();
    let r = n.mul_add(splat(-LN2_HIGH), clamped);
    let r = n.mul_add(splat(-LN2_LOW), r);
    // Taylor coefficients up to r^6, enough for |r| ≤ ln 2 / 2.
    let p = splat(1.0 / 720.0);
    let p = p.mul_add(r, splat(1.0 / 120.0));
    let p = p.mul_add(r, splat(1.0 / 24.0));
    let p = p.mul_add(r, splat(1.0 / 6.0));
    let p = p.mul_add(r, splat(0.5));
    let p = p.mul_add(r, splat(1.0));
    let p = p.mul_add(r, splat(1.0));
    // 2^n in two halves, since n = 128 alone would overflow the exponent before the product does.
    let n: i32x16<S> = n.to_int();
    let half = n >> 1;
    let power = |n: i32x16<S>| -> f32x16<S> { ((n + 127) << 23).bitcast() };
    let y = p * power(half) * power(n - half);
    let y = x.simd_lt(splat(-87.336_54)).select(splat(0.0), y);
    x.simd_gt(splat(88.722_83)).select(splat(f32::INFINITY), y)
}

/// Replaces each number by its exponential.
pub(crate) fn exponentials(numbers: &mut [f32]) {
    dispatch!(level(), simd => {
        for at in (0..numbers.len()).step_by(LANES) {
            store_row(exp(simd, load_row(simd, numbers, at, 0.0)), numbers, at);
        }
    });
}

/// The natural logarithm of positive normal numbers, with an error of at most 2 ulp.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let bits: i32x16<S> = x.bitcast();
    // x = 2^n · m with m in [√½, √2), where the series below converges fastest.
    let from_root = bits - 0x3f35_04f3;
    let n = from_root >> 23;
    let m: f32x16<S> = (bits - (n << 23)).bitcast();
    let n = simd.cvt_f32_i32x16(n);
    // ln m = 2 artanh(t) with t = (m - 1)/(m + 1), |t| < 0.1716.
    let one = f32x16::splat(simd, 1.0);
    let t = (m - one) / (m + one);
    let square = t * t;
    let p = f32x16::splat(simd, 2.0 / 9.0);
    let p = p.mul_add(square, f32x16::splat(simd, 2.0 / 7.0));
    let p = p.mul_add(square, f32x16::splat(simd, 2.0 / 5.0));
    let p = p.mul_add(square, f32x16::splat(simd, 2.0 / 3.0));
    let p = p.mul_add(square, f32x16::splat(simd, 2.0));
    let low = n.mul_add(f32x16::splat(simd, LN2_LOW), p * t);
    n.mul_add(f32x16::splat(simd, LN2_HIGH), low)
}

/// The arc tangent, with an error of at most 4 ulp.
#[inline(always)]
pub(crate) fn atan<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    // Beyond these bounds the result is constant in f32, and the square would overflow.
    let x = f32x16::splat(simd, -1e9).max(f32x16::splat(simd, 1e9).min(x));
    // Halving the angle twice brings the tangent below tan(π/8) < 0.4143, where the series converges fast.
    let t = tan_half(simd, tan_half(simd, x));
    let square = t * t;
    let p = f32x16::splat(simd, -1.0 / 15.0);
    let p = p.mul_add(square, f32x16::splat(simd, 1.0 / 13.0));
    let p = p.mul_add(square, f32x16::splat(simd, -1.0 / 11.0));
    let p = p.mul_add(square, f32x16::splat(simd, 1.0 / 9.0));
    let p = p.mul_add(square, f32x16::splat(simd, -1.0 / 7.0));
    let p = p.mul_add(square, f32x16::splat(simd, 1.0 / 5.0));
    let p = p.mul_add(square, f32x16::splat(simd, -1.0 / 3.0));
    let p = p.mul_add(square, f32x16::splat(simd, 1.0));
    p * t * f32x16::splat(simd, 4.0)
}

/// `tan(θ/2)` from `tan θ`.
#[inline(always)]
fn tan_half<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let one = f32x16::splat(simd, 1.0);
    x / (one + x.mul_add(x, one).sqrt())
}

/// ln 2 in two parts. The first has enough trailing zeros for its product with a small integer to be exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;
    use crate::simd::{at_every_level, level};

    fn exp_of(x: f32) -> f32 {
        dispatch!(level(), simd => {
            let y: [f32; 16] = exp(simd, f32x16::splat(simd, x)).into();
            y[3]
        })
    }

    #[test]
    fn exp_agrees_with_f64() {
        at_every_level(|| {
            for i in -8800..=8900 {
                let x = i as f32 * 0.01;
                let (y, exact) = (exp_of(x), f64::from(x).exp());
                if x > 88.722_83 {
                    assert_eq!(y, f32::INFINITY);
                } else if x < -87.336_54 {
                    assert_eq!(y, 0.0);
                } else {
                    let relative = (f64::from(y) - exact).abs() / exact;
                    assert!(relative < 2.5e-7, "exp({x}) = {y}, not {exact}: {relative:e}");
                }
            }
        });
    }

    #[test]
    fn ln_agrees_with_f64() {
        at_every_level(|| {
            let mut x = 1e-12f32;
            while x < 1e6 {
                let y = dispatch!(level(), simd => {
                    let y: [f32; 16] = ln(simd, f32x16::splat(simd, x)).into();
                    y[7]
                });
                let exact = f64::from(x).ln();
                assert!(
                    (f64::from(y) - exact).abs() <= 3e-7 * exact.abs() + 1e-9,
                    "ln({x}) = {y}, not {exact}"
                );
                x *= 1.003;
            }
        });
    }

    #[test]
    fn atan_agrees_with_f64() {
        at_every_level(|| {
            for i in -2000..=2000 {
                // From -22026 to 22026, finer near zero.
                let x = (f64::from(i) * 0.005).sinh() as f32;
                let y = dispatch!(level(), simd => {
                    let y: [f32; 16] = atan(simd, f32x16::splat(simd, x)).into();
                    y[5]
                });
                let exact = f64::from(x).atan();
                assert!((f64::from(y) - exact).abs() <= 5e-7 * exact.abs(), "atan({x}) = {y}, not {exact}");
            }
        });
    }

    #[test]
    fn exp_of_special_values() {
        at_every_level(|| {
            assert_eq!(exp_of(0.0), 1.0);
            assert_eq!(exp_of(f32::NEG_INFINITY), 0.0);
            assert!(exp_of(f32::NAN).is_nan());
        });
    }
}
