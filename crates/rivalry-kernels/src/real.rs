//! The row functions of the losses, for `f32` by SIMD and for `f64` as plain loops.
//!
//! Training runs in `f32`. The `f64` twin is the reference: finite differences and golden values are checked on
//! it to many digits, and the SIMD version is checked against it.

use std::cell::RefCell;

use num_traits::{Float, FromPrimitive};

use crate::{activations, hinge, rows, scalar};

/// What stands in the exponential's place in a softmax over score differences; `x` is half a difference, which
/// cosines keep in [-1, 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// `max(x + 1, 0)`
    Relu,
    /// `tanh(x) + 1`
    Tanh,
    /// `atan(x) + 1`
    Atan,
}

/// Below this an activation counts as zero: its logarithm stays finite and nothing flows through it.
pub(crate) const SMALLEST_ACTIVATION: f64 = 1e-12;

/// A smoothed hinge over the probability `p = σ(f)` of a score: `log(1 + e^(sharpness · x))/sharpness` with
/// `x = (p - centre)² + slope · p - offset`.
#[derive(Clone, Copy, Debug)]
pub struct Hinge<T> {
    /// Where the square is zero.
    pub centre: T,
    /// Of the linear part.
    pub slope: T,
    /// What opens the hinge.
    pub offset: T,
    /// How close to the plain hinge.
    pub sharpness: T,
}

/// A number the losses can be computed in.
pub trait Real: Float + FromPrimitive + Default + std::fmt::Debug + Send + Sync + 'static {
    /// The number nearest to `x`.
    fn of(x: f64) -> Self;

    /// Lends a scratch row of `len` numbers of no particular value.
    fn with_buffer<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R;

    /// Value and gradient of `log Σ_j exp(z_j)`, `z_j = κ_j (x_j - offset) · sharpness`, where κ is `scale` (or 1)
    /// and a constant in the gradient, and x has the slope `slopes` (or 1) in the score it comes from.
    ///
    /// Writes `weight · softmax(z)_j κ_j slope_j · sharpness` and returns the (unweighted) value and the sum of what
    /// was written.
    fn softmax(
        offset: Self,
        logits: &[Self],
        scale: Option<&[Self]>,
        slopes: Option<&[Self]>,
        sharpness: Self,
        weight: Self,
        grad: &mut [Self],
    ) -> (Self, Self);

    /// For the differences `d_j = f_j - positive`: `log a(d_j/2)` and its slope in `d_j`.
    fn activate(
        activation: Activation,
        positive: Self,
        negatives: &[Self],
        logits: &mut [Self],
        slopes: &mut [Self],
    );

    /// For each score: writes `weight` times the slope of the hinge in it. Returns the sums of three numbers: the
    /// hinge, its slope in x, and that slope times p.
    fn hinge(hinge: Hinge<Self>, scores: &[Self], weight: Self, grad: &mut [Self]) -> [Self; 3];

    /// `out_j = max(1 + β (e_j / mean(e) - 1), floor)` with `e_j = exp(f_j + (s_j + 1)/2)`, then with drift
    /// control times `mean(1/out)`.
    fn kappa(
        scores: &[Self],
        similarities: &[Self],
        beta: Self,
        floor: Self,
        drift_control: bool,
        out: &mut [Self],
    );

    /// Over the `slate` negatives of the highest score, `lse(f_j/τ + s̄_j) - lse(f_j/τ)`.
    fn competition(scores: &[Self], similarities: &[Self], tau: Self, slate: usize) -> Self {
        Self::with_buffer(3 * scores.len(), |buffer| {
            scalar::competition(scores, similarities, tau, slate, buffer)
        })
    }
}

macro_rules! with_buffer {
    () => {
        fn with_buffer<R>(len: usize, work: impl FnOnce(&mut [Self]) -> R) -> R {
            // A stack of buffers, so that a function holding one may call another that needs its own.
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

    fn softmax(
        offset: f64,
        logits: &[f64],
        scale: Option<&[f64]>,
        slopes: Option<&[f64]>,
        sharpness: f64,
        weight: f64,
        grad: &mut [f64],
    ) -> (f64, f64) {
        scalar::softmax(offset, logits, scale, slopes, sharpness, weight, grad)
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

    fn hinge(hinge: Hinge<f64>, scores: &[f64], weight: f64, grad: &mut [f64]) -> [f64; 3] {
        scalar::hinge(hinge, scores, weight, grad)
    }

    fn kappa(
        scores: &[f64],
        similarities: &[f64],
        beta: f64,
        floor: f64,
        drift_control: bool,
        out: &mut [f64],
    ) {
        scalar::kappa(scores, similarities, beta, floor, drift_control, out);
    }
}

impl Real for f32 {
    fn of(x: f64) -> Self {
        x as f32
    }

    with_buffer!();

    fn softmax(
        offset: f32,
        logits: &[f32],
        scale: Option<&[f32]>,
        slopes: Option<&[f32]>,
        sharpness: f32,
        weight: f32,
        grad: &mut [f32],
    ) -> (f32, f32) {
        rows::softmax(offset, logits, scale, slopes, sharpness, weight, grad)
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

    fn hinge(hinge: Hinge<f32>, scores: &[f32], weight: f32, grad: &mut [f32]) -> [f32; 3] {
        hinge::hinge(hinge, scores, weight, grad)
    }

    fn kappa(
        scores: &[f32],
        similarities: &[f32],
        beta: f32,
        floor: f32,
        drift_control: bool,
        out: &mut [f32],
    ) {
        rows::kappa(scores, similarities, beta, floor, drift_control, out);
    }
}
