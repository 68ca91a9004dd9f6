//! The choice of the instruction set at run time, and the vector helpers that all kernels share.
//!
//! Kernels are written for vectors of sixteen elements whatever the register width: one AVX-512 register, two AVX2
//! registers. Horizontal sums use a fixed tree. AVX2 and AVX-512 therefore give the same bits; the baseline does not,
//! because it has no fused multiply-add.

use std::sync::OnceLock;

use fearless_simd::{Level, Simd, f32x4, f32x16, f64x2, prelude::*};

use crate::{LANES, Lane};

/// The best instruction set of the machine, or the lower one that `RIVALRY_SIMD` asks for.
///
/// `RIVALRY_SIMD` may be `baseline`, `avx2` or `avx512`; a level that the machine lacks is ignored. The choice is made
/// once per process: all results of a process come from the same instructions.
pub(crate) fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    #[cfg(test)]
    if let Some(forced) = FORCED.get() {
        return forced;
    }
    *LEVEL.get_or_init(|| select(std::env::var("RIVALRY_SIMD").ok().as_deref()))
}

fn select(requested: Option<&str>) -> Level {
    let best = Level::new();
    #[cfg(target_arch = "x86_64")]
    match requested {
        Some("avx2") => {
            if let Some(avx2) = best.as_avx2() {
                return Level::Avx2(avx2);
            }
        }
        Some("baseline") => return Level::baseline(),
        _ => {}
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = requested;
    best
}

/// The name of the instruction set in use: `avx512`, `avx2` or `baseline`.
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

/// Runs a test as if `RIVALRY_SIMD` had this value.
#[cfg(test)]
pub(crate) fn at_level(name: &str, test: impl FnOnce()) {
    FORCED.set(Some(select(Some(name))));
    test();
    FORCED.set(None);
}

/// Runs a test once at each level that this machine has.
#[cfg(test)]
pub(crate) fn at_every_level(mut test: impl FnMut()) {
    for name in ["baseline", "avx2", "avx512"] {
        at_level(name, &mut test);
    }
}

/// Whether there are thirty-two registers of sixteen elements, so that tiles can be larger. A constant once inlined.
#[inline(always)]
pub(crate) fn has_many_registers<S: Simd>(simd: S) -> bool {
    #[cfg(target_arch = "x86_64")]
    return matches!(simd.level(), Level::Avx512(_));
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = simd;
        false
    }
}

/// Prefetches a slice into the first-level cache. A hint: it changes no result.
#[inline(always)]
pub fn prefetch<T>(slice: &[T]) {
    prefetch_lines(slice, |line| {
        // SAFETY: SSE is part of x86-64. The address is within a slice, and a prefetch is only a hint: without it (as on other
        // targets) the results are the same.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(line);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    });
}

/// Prefetches a slice into the second-level cache, which can wait for more lines at a time than the first-level cache: for rows
/// that are read in no order from a table larger than both. A hint, too.
#[inline(always)]
pub(crate) fn prefetch_second_level<T>(slice: &[T]) {
    prefetch_lines(slice, |line| {
        // SAFETY: as in `prefetch`.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(line);
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    });
}

/// Calls `hint` with the address of each cache line of a slice.
#[inline(always)]
fn prefetch_lines<T>(slice: &[T], hint: impl Fn(*const i8)) {
    for offset in (0..size_of_val(slice)).step_by(64) {
        hint(slice.as_ptr().cast::<i8>().wrapping_add(offset));
    }
}

#[inline(always)]
pub(crate) fn load<S: Simd>(simd: S, lane: &Lane) -> f32x16<S> {
    f32x16::simd_from(simd, lane.0)
}

#[inline(always)]
pub(crate) fn store<S: Simd>(value: f32x16<S>, lane: &mut Lane) {
    lane.0 = value.into();
}

/// Loads sixteen elements of a row of any length, starting at `at`; elements past the end are `fill`.
#[inline(always)]
pub(crate) fn load_row<S: Simd>(simd: S, row: &[f32], at: usize, fill: f32) -> f32x16<S> {
    match row[at..].first_chunk::<LANES>() {
        Some(chunk) => f32x16::simd_from(simd, *chunk),
        None => {
            let mut chunk = [fill; LANES];
            chunk[..row.len() - at].copy_from_slice(&row[at..]);
            f32x16::simd_from(simd, chunk)
        }
    }
}

/// Stores sixteen elements into a row of any length, starting at `at`; elements past the end are dropped.
#[inline(always)]
pub(crate) fn store_row<S: Simd>(x: f32x16<S>, row: &mut [f32], at: usize) {
    let x: [f32; LANES] = x.into();
    match row[at..].first_chunk_mut::<LANES>() {
        Some(chunk) => *chunk = x,
        None => {
            let rest = row.len() - at;
            row[at..].copy_from_slice(&x[..rest]);
        }
    }
}

/// The horizontal sum, in a fixed order.
#[inline(always)]
pub(crate) fn sum<S: Simd>(x: f32x16<S>) -> f32 {
    let q: [f32; 4] = fold_to_four(x).into();
    (q[0] + q[2]) + (q[1] + q[3])
}

/// Adds the four quarters of a vector, element by element.
#[inline(always)]
fn fold_to_four<S: Simd>(x: f32x16<S>) -> f32x4<S> {
    let (low, high) = x.split();
    let (low, high) = (low + high).split();
    low + high
}

/// `[x0, x1, x2, x3]` and `[y0, …]` become `[x0 + x2, y0 + y2, x1 + x3, y1 + y3]`.
#[inline(always)]
fn add_halves<S: Simd>(simd: S, x: f32x4<S>, y: f32x4<S>) -> f32x4<S> {
    simd.zip_low_f32x4(x, y) + simd.zip_high_f32x4(x, y)
}

/// The horizontal sums of four vectors, each in the order of [`sum`].
#[inline(always)]
pub(crate) fn sum_each<S: Simd>(simd: S, [a, b, c, d]: [f32x16<S>; 4]) -> [f32; 4] {
    let ab = add_halves(simd, fold_to_four(a), fold_to_four(b));
    let cd = add_halves(simd, fold_to_four(c), fold_to_four(d));
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

#[cfg(test)]
mod tests {
    use fearless_simd::dispatch;

    use super::*;

    #[test]
    fn four_sums_at_once_equal_single_sums_to_the_bit() {
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
    #[cfg(target_arch = "x86_64")]
    fn a_requested_level_is_used_and_an_unknown_one_is_ignored() {
        let best = level_name();
        at_level("baseline", || assert_eq!(level_name(), "baseline"));
        at_level("sse9", || assert_eq!(level_name(), best));
    }
}
