//! The scalar reference implementations of the row functions, in any precision.

use crate::real::SMALLEST_ACTIVATION;
use crate::top_scores::{Scan, select_kth_highest};
use crate::{Activation, Hinge, HingeSums, Real};

/// See [`Real::log_sum_exp`].
pub(crate) fn log_sum_exp<T: Real>(
    offset: T,
    logits: &[T],
    scale: Option<&[T]>,
    slopes: Option<&[T]>,
    sharpness: T,
    weight: T,
    grad: &mut [T],
) -> (T, T) {
    let factor = |row: Option<&[T]>, j: usize| row.map_or(T::one(), |row| row[j]);
    let mut max = T::neg_infinity();
    for (j, (x, z)) in logits.iter().zip(&mut *grad).enumerate() {
        *z = factor(scale, j) * (*x - offset) * sharpness;
        max = max.max(*z);
    }
    let mut total = T::zero();
    for z in &mut *grad {
        *z = (*z - max).exp();
        total = total + *z;
    }
    let mut grad_sum = T::zero();
    for (j, g) in grad.iter_mut().enumerate() {
        *g = *g / total * factor(scale, j) * factor(slopes, j) * sharpness * weight;
        grad_sum = grad_sum + *g;
    }
    (max + total.ln(), grad_sum)
}

/// See [`Real::activate`].
pub(crate) fn activate<T: Real>(
    activation: Activation,
    positive: T,
    negatives: &[T],
    logits: &mut [T],
    slopes: &mut [T],
) {
    let (half, one, smallest) = (T::of(0.5), T::one(), T::of(SMALLEST_ACTIVATION));
    for ((f, logit), slope) in negatives.iter().zip(logits).zip(slopes) {
        let x = (*f - positive) * half;
        let (a, derivative) = match activation {
            Activation::Relu => (x + one, one),
            Activation::Tanh => (x.tanh() + one, one - x.tanh() * x.tanh()),
            Activation::Atan => (x.atan() + one, one / (one + x * x)),
        };
        *logit = a.max(smallest).ln();
        *slope = if a > smallest { half * derivative / a } else { T::zero() };
    }
}

/// See [`Real::hinge`].
pub(crate) fn hinge<T: Real>(hinge: Hinge<T>, scores: &[T], weight: T, grad: &mut [T]) -> HingeSums<T> {
    let Hinge { centre, slope, offset, sharpness } = hinge;
    let (one, two) = (T::one(), T::of(2.0));
    let mut sums = HingeSums::default();
    for (f, g) in scores.iter().zip(grad) {
        let p = sigmoid(*f);
        let z = sharpness * ((p - centre) * (p - centre) + slope * p - offset);
        let (value, derivative) = (softplus(z) / sharpness, sigmoid(z));
        *g = weight * derivative * (two * (p - centre) + slope) * p * (one - p);
        sums.value = sums.value + value;
        sums.slope = sums.slope + derivative;
        sums.slope_p = sums.slope_p + derivative * p;
    }
    sums
}

/// See [`Real::importance_weights`].
pub(crate) fn importance_weights<T: Real>(
    scores: &[T],
    similarities: &[T],
    strength: T,
    floor: T,
    normalise: bool,
    out: &mut [T],
) {
    let n = T::of(scores.len() as f64);
    let mut total = T::zero();
    for ((f, s), w) in scores.iter().zip(similarities).zip(&mut *out) {
        *w = (*f + cosine_to_unit(*s)).exp();
        total = total + *w;
    }
    let mut inverses = T::zero();
    for w in &mut *out {
        *w = (T::one() + strength * (*w * n / total - T::one())).max(floor);
        inverses = inverses + w.recip();
    }
    if normalise {
        for w in out {
            *w = *w * (inverses / n);
        }
    }
}

/// The scan of a row for its highest scores.
pub(crate) fn scan<T: Real>() -> Scan<T> {
    Scan {
        lower_bound: |_, _, _| T::neg_infinity(),
        at_least: |threshold, scores, out| {
            let high = scores.iter().enumerate().filter(|(_, score)| **score >= threshold);
            let pairs = out.iter_mut().zip(high);
            pairs.map(|(pair, (place, score))| *pair = [*score, T::of(place as f64)]).count()
        },
        kth_highest: select_kth_highest,
    }
}

/// Maps a cosine from [-1, 1] to [0, 1].
pub(crate) fn cosine_to_unit<T: Real>(cosine: T) -> T {
    (cosine + T::one()) * T::of(0.5)
}

/// `log(1 + e^x)`, finite wherever the result is representable.
pub fn softplus<T: Real>(x: T) -> T {
    x.max(T::zero()) + (-x.abs()).exp().ln_1p()
}

/// `1/(1 + e^-x)`.
pub fn sigmoid<T: Real>(x: T) -> T {
    (T::one() + (-x).exp()).recip()
}
