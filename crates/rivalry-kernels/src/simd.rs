//! Which instructions to use, found out once at run time, and the few vector functions all kernels share.
//!
//! Everything is written for sixteen lanes, whatever the machine's own width: one AVX-512 register, two AVX2
//! registers. Sums are taken lane by lane in a fixed tree. AVX2 and AVX-512 therefore give the same bits.

use std::sync::OnceLock;

use fearless_simd::{Level, Simd, f32x4, f32x16, f64x2, i32x16, prelude::*};

use crate::Lane;

/// The instruction level in use: the best the machine has, or less if `RIVALRY_SIMD` says so.
///
/// `RIVALRY_SIMD` may be `baseline`, `avx2` or `avx512`; a level the machine lacks is passed over.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    #[cfg(test)]
    if let Some(forced) = FORCED.get() {
        return forced;
    }
    *LEVEL.get_or_init(|| choose(std::env::var("RIVALRY_SIMD").ok().as_deref()))
}

fn choose(wanted: Option<&str>) -> Level {
    let best = Level::new();
    #[cfg(target_arch = "x86_64")]
    match wanted {
        Some("avx2") => return best.as_avx2().map_or(best, Level::Avx2),
        Some("baseline") => return Level::baseline(),
        _ => {}
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = wanted;
    best
}

/// The name of a level, for run records.
pub fn level_name() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    return match level() {
        Level::Avx512(_) => "avx512",
        Level::Avx2(_) => "avx2",
        _ => "baseline",
    };
    #[cfg(not(target_arch = "x86_64"))]
    "baseline"
}

#[cfg(test)]
thread_local!(static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) });

/// Runs a test once at each level this machine has.
#[cfg(test)]
pub(crate) fn at_every_level(mut test: impl FnMut()) {
    for name in ["baseline", "avx2", "avx512"] {
        FORCED.set(Some(choose(Some(name))));
        test();
    }
    FORCED.set(None);
}

/// Asks for memory that will be needed soon.
#[inline(always)]
pub(crate) fn prefetch<T>(soon: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(soon)).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is within the slice, and asking for memory reads nothing a program could see.
        unsafe { _mm_prefetch(soon.as_ptr().cast::<i8>().add(line), _MM_HINT_T0) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, lane: &Lane) -> f32x16<S> {
    f32x16::simd_from(simd, lane.0)
}

#[inline(always)]
pub(crate) fn store<S: Simd>(value: f32x16<S>, lane: &mut Lane) {
    lane.0 = value.into();
}

/// The sum of the lanes, always in the same order.
#[inline(always)]
pub(crate) fn sum<S: Simd>(x: f32x16<S>) -> f32 {
    let q: [f32; 4] = quarter(x).into();
    (q[0] + q[2]) + (q[1] + q[3])
}

/// `[x0, x1, x2, x3]` and `[y0, …]` become `[x0 + x2, y0 + y2, x1 + x3, y1 + y3]`.
#[inline(always)]
fn halve<S: Simd>(simd: S, x: f32x4<S>, y: f32x4<S>) -> f32x4<S> {
    simd.zip_low_f32x4(x, y) + simd.zip_high_f32x4(x, y)
}

#[inline(always)]
fn quarter<S: Simd>(x: f32x16<S>) -> f32x4<S> {
    let (low, high) = x.split();
    let (low, high) = (low + high).split();
    low + high
}

/// [`sum`] of four vectors at once, each in the same order as there.
#[inline(always)]
pub(crate) fn sum_each<S: Simd>(simd: S, [a, b, c, d]: [f32x16<S>; 4]) -> [f32; 4] {
    let (ab, cd) = (halve(simd, quarter(a), quarter(b)), halve(simd, quarter(c), quarter(d)));
    let (ab, cd): (f64x2<S>, f64x2<S>) = (ab.bitcast(), cd.bitcast());
    let (even, odd): (f32x4<S>, f32x4<S>) =
        (simd.zip_low_f64x2(ab, cd).bitcast(), simd.zip_high_f64x2(ab, cd).bitcast());
    (even + odd).into()
}

#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: &[Lane], b: &[Lane]) -> f32 {
    let mut acc = f32x16::splat(simd, 0.0);
    for (a, b) in a.iter().zip(b) {
        acc = load(simd, a).mul_add(load(simd, b), acc);
    }
    sum(acc)
}

/// `e^x` to within 2 units in the last place; 0 below -87.3 and infinite above 88.7.
#[inline(always)]
pub(crate) fn exp<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    const LOG2_E: f32 = std::f32::consts::LOG2_E;
    let splat = |c: f32| f32x16::splat(simd, c);
    // The operand in doubt comes last: x86 answers with that one where it is not a number.
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

/// The natural logarithm of positive normal numbers, to within 2 units in the last place.
#[inline(always)]
pub(crate) fn ln<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let bits: i32x16<S> = x.bitcast();
    // x = 2^n · m with m in [√½, √2): there the series below converges fastest.
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

/// The arc tangent, to within 4 units in the last place.
#[inline(always)]
pub(crate) fn atan<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    // Beyond the bounds nothing changes in f32, but the square would overflow.
    let x = f32x16::splat(simd, -1e9).max(f32x16::splat(simd, 1e9).min(x));
    // Two halvings of the angle bring the tangent below tan(π/8) < 0.4143, where the series converges fast.
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

/// The tangent of half the angle that has this tangent.
#[inline(always)]
fn tan_half<S: Simd>(simd: S, x: f32x16<S>) -> f32x16<S> {
    let one = f32x16::splat(simd, 1.0);
    x / (one + x.mul_add(x, one).sqrt())
}

/// ln 2 in two parts: the first has enough trailing zeros for a small whole number times it to be exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;

    fn exp_of(x: f32) -> f32 {
        dispatch!(level(), simd => {
            let y: [f32; 16] = exp(simd, f32x16::splat(simd, x)).into();
            y[3]
        })
    }

    #[test]
    fn four_sums_at_once_are_the_single_sums_to_the_bit() {
        at_every_level(|| {
            let numbers = |k: usize| std::array::from_fn(|l| ((k * 16 + l) as f32 * 0.7).sin());
            let (each, single) = dispatch!(level(), simd => {
                let vectors: [_; 4] = std::array::from_fn(|k| f32x16::simd_from(simd, numbers(k)));
                (sum_each(simd, vectors), vectors.map(sum))
            });
            assert_eq!(each, single);
        });
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
    fn exp_keeps_its_fixed_points() {
        at_every_level(|| {
            assert_eq!(exp_of(0.0), 1.0);
            assert_eq!(exp_of(f32::NEG_INFINITY), 0.0);
            assert!(exp_of(f32::NAN).is_nan());
        });
    }
}
