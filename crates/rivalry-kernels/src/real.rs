//! Functions of a row of scores: by SIMD in `f32`, by plain loops in `f64`.
//!
//! Training runs in `f32`. The `f64` implementation is the reference: finite differences and golden values are checked
//! against it to many digits, and the SIMD implementation is tested against it.

use std::cell::RefCell;

use num_traits::{Float, FromPrimitive};

use crate::{
    activations, high_scores, hinge, importance, log_mean_exp, log_sum_exp, math, scalar, top_scores,
};

/// A positive, increasing function `a(x)` that can replace the exponential in a softmax over score differences; `x` is
/// half a difference, which is in [-1, 1] for cosines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x + 1, 0)`
    Relu,
    /// `tanh(x) + 1`
    Tanh,
    /// `atan(x) + 1`
    Atan,
}

/// An activation below this counts as zero: its logarithm is clamped and its gradient is zero.
pub(crate) const SMALLEST_ACTIVATION: f64 = 1e-12;

/// A smooth hinge of the probability `p = σ(f)` of a score: `log(1 + e^(sharpness · x))/sharpness` with
/// `x = (p - centre)² + slope · p - offset`.
#[derive(Clone, Copy, Debug)]
pub struct Hinge<T> {
    /// The probability at which the quadratic term is zero.
    pub centre: T,
    /// The slope of the linear term.
    pub slope: T,
    /// The threshold of the hinge.
    pub offset: T,
    /// The inverse width of the smoothing; the plain hinge `max(x, 0)` is the limit for large values.
    pub sharpness: T,
}

/// Sums over a row of scores, from [`Real::hinge`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HingeSums<T> {
    /// Of the hinge.
    pub value: T,
    /// Of the derivative of the hinge with respect to its argument x.
    pub slope: T,
    /// Of that derivative times p.
    pub slope_p: T,
}

/// A floating-point type, with functions of a row of scores.
pub trait Real: Float + FromPrimitive + Default + std::fmt::Debug + Send + Sync + 'static {
    /// The value nearest to `x`.
    fn of(x: f64) -> Self;

    /// Calls `work` with a scratch buffer of `len` numbers of unspecified value. Calls may be nested.
    fn with_buffer<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;

    /// Value and gradient of `log Σ_j exp(z_j)` with `z_j = c_j (x_j - offset) · sharpness`.
    ///
    /// The factor c is `scale`, or one; it is a constant in the gradient. `slopes`, or one, is the derivative of x with
    /// respect to the score that it is computed from. Writes `weight · softmax(z)_j c_j slope_j · sharpness` to `grad`
    /// and returns the (unweighted) value and the sum of `grad`.
    fn log_sum_exp(
        offset: Self,
        logits: &[Self],
        scale: Option<&[Self]>,
        slopes: Option<&[Self]>,
        sharpness: Self,
        weight: Self,
        grad: &mut [Self],
    ) -> (Self, Self);

    /// `log a(d_j/2)` of the differences `d_j = f_j - positive`, and its derivative with respect to `d_j`.
    fn activate(
        activation: Activation,
        positive: Self,
        negatives: &[Self],
        logits: &mut [Self],
        slopes: &mut [Self],
    );

    /// The smooth hinge of each score. Writes `weight` times its derivative with respect to the score to `grad`, and
    /// returns unweighted sums.
    fn hinge(hinge: Hinge<Self>, scores: &[Self], weight: Self, grad: &mut [Self]) -> HingeSums<Self>;

    /// Importance weights from a softmax over score plus similarity, interpolated with uniform weights:
    /// `out_j = max(1 + strength · (e_j / mean(e) - 1), floor)` with `e_j = exp(f_j + (s_j + 1)/2)`. With `normalise`
    /// they are then multiplied by `mean(1/out)`, so that their harmonic mean is 1.
    fn importance_weights(
        scores: &[Self],
        similarities: &[Self],
        strength: Self,
        floor: Self,
        normalise: bool,
        out: &mut [Self],
    );

    /// The `k` highest scores in the order of their places, each with its place; of equal scores those that come first. There may
    /// be at most 2²⁴ scores; the buffer holds at least three numbers for each.
    fn top_k<'a>(scores: &[Self], k: usize, buffer: &'a mut [Self]) -> &'a [[Self; 2]];

    /// Replaces each number by its exponential.
    fn exponentials(numbers: &mut [Self]);

    /// The logarithm of the softmax-weighted mean of `exp(s̄_j)`, `s̄_j = (s_j + 1)/2`, over the `k` highest scores:
    /// `lse(f_j/temperature + s̄_j) - lse(f_j/temperature)`.
    fn top_k_log_mean_exp(scores: &[Self], similarities: &[Self], temperature: Self, k: usize) -> Self {
        log_mean_exp::top_k_log_mean_exp(scores, similarities, temperature, k)
    }
}

macro_rules! with_buffer {
    () => {
        fn with_buffer<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
            // A stack of buffers, so that calls can be nested.
            thread_local!(static FREE: RefCell<Vec<Vec<$crate::real::Scratch>>> = const { RefCell::new(Vec::new()) });
            let mut buffer = FREE.with(|free| free.borrow_mut().pop()).unwrap_or_default();
            buffer.resize(buffer.len().max(len), 0.0);
            let result = work(&mut bytemuck::cast_slice_mut(&mut buffer)[..len]);
            FREE.with(|free| free.borrow_mut().push(buffer));
            result
        }
    };
}

type Scratch = f64;

impl Real for f64 {
    fn of(x: f64) -> Self {
        x
    }

    with_buffer!();

    fn log_sum_exp(
        offset: f64,
        logits: &[f64],
        scale: Option<&[f64]>,
        slopes: Option<&[f64]>,
        sharpness: f64,
        weight: f64,
        grad: &mut [f64],
    ) -> (f64, f64) {
        scalar::log_sum_exp(offset, logits, scale, slopes, sharpness, weight, grad)
    }

    fn activate(
        activation: Activation,
        positive: f64,
        negatives: &[f64],
        logits: &mut [f64],
        slopes: &mut [f64],
    ) {
        scalar::activate(activation, positive, negatives, logits, slopes);
    }

    fn hinge(hinge: Hinge<f64>, scores: &[f64], weight: f64, grad: &mut [f64]) -> HingeSums<f64> {
        scalar::hinge(hinge, scores, weight, grad)
    }

    fn importance_weights(
        scores: &[f64],
        similarities: &[f64],
        strength: f64,
        floor: f64,
        normalise: bool,
        out: &mut [f64],
    ) {
        scalar::importance_weights(scores, similarities, strength, floor, normalise, out);
    }

    fn top_k<'a>(scores: &[f64], k: usize, buffer: &'a mut [f64]) -> &'a [[f64; 2]] {
        top_scores::top_k(scores, k, scalar::scan(), buffer)
    }

    fn exponentials(numbers: &mut [f64]) {
        numbers.iter_mut().for_each(|x| *x = x.exp());
    }
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }

    with_buffer!();

    fn log_sum_exp(
        offset: f32,
        logits: &[f32],
        scale: Option<&[f32]>,
        slopes: Option<&[f32]>,
        sharpness: f32,
        weight: f32,
        grad: &mut [f32],
    ) -> (f32, f32) {
        log_sum_exp::log_sum_exp(offset, logits, scale, slopes, sharpness, weight, grad)
    }

    fn activate(
        activation: Activation,
        positive: f32,
        negatives: &[f32],
        logits: &mut [f32],
        slopes: &mut [f32],
    ) {
        activations::activate(activation, positive, negatives, logits, slopes);
    }

    fn hinge(hinge: Hinge<f32>, scores: &[f32], weight: f32, grad: &mut [f32]) -> HingeSums<f32> {
        hinge::hinge(hinge, scores, weight, grad)
    }

    fn importance_weights(
        scores: &[f32],
        similarities: &[f32],
        strength: f32,
        floor: f32,
        normalise: bool,
        out: &mut [f32],
    ) {
        importance::importance_weights(scores, similarities, strength, floor, normalise, out);
    }

    fn top_k<'a>(scores: &[f32], k: usize, buffer: &'a mut [f32]) -> &'a [[f32; 2]] {
        top_scores::top_k(scores, k, high_scores::SCAN, buffer)
    }

    fn exponentials(numbers: &mut [f32]) {
        math::exponentials(numbers);
    }
}
