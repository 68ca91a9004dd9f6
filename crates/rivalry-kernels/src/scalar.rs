//! The plain twins of the row kernels, in any precision.

use crate::real::SMALLEST_ACTIVATION;
use crate::{Activation, Hinge, Real};

/// See [`Real::softmax`].
pub(crate) fn softmax<T: Real>(
    offset: T,
    logits: &[T],
    scale: Option<&[T]>,
    slopes: Option<&[T]>,
    sharpness: T,
    weight: T,
    grad: &mut [T],
) -> (T, T) {
    let factor = |row: Option<&[T]>, j: usize| row.map_or(T::one(), |row| row[j]);
    let mut highest = T::neg_infinity();
    for (j, (x, z)) in logits.iter().zip(&mut *grad).enumerate() {
        *z = factor(scale, j) * (*x - offset) * sharpness;
        highest = highest.max(*z);
    }
    let mut total = T::zero();
    for z in &mut *grad {
        *z = (*z - highest).exp();
        total = total + *z;
    }
    let mut mass = T::zero();
    for (j, g) in grad.iter_mut().enumerate() {
        *g = *g / total * factor(scale, j) * factor(slopes, j) * sharpness * weight;
        mass = mass + *g;
    }
    (highest + total.ln(), mass)
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
pub(crate) fn hinge<T: Real>(hinge: Hinge<T>, scores: &[T], weight: T, grad: &mut [T]) -> [T; 3] {
    let Hinge { centre, slope, offset, sharpness } = hinge;
    let (one, two) = (T::one(), T::of(2.0));
    let mut sums = [T::zero(); 3];
    for (f, g) in scores.iter().zip(grad) {
        let p = sigmoid(*f);
        let z = sharpness * ((p - centre) * (p - centre) + slope * p - offset);
        let (value, rise) = (softplus(z) / sharpness, sigmoid(z));
        *g = weight * rise * (two * (p - centre) + slope) * p * (one - p);
        sums = [sums[0] + value, sums[1] + rise, sums[2] + rise * p];
    }
    sums
}

/// `log(1 + e^x)`, finite wherever the result is.
pub fn softplus<T: Real>(x: T) -> T {
    x.max(T::zero()) + (-x.abs()).exp().ln_1p()
}

/// `1/(1 + e^-x)`.
pub fn sigmoid<T: Real>(x: T) -> T {
    (T::one() + (-x).exp()).recip()
}

/// See [`Real::kappa`].
pub(crate) fn kappa<T: Real>(
    scores: &[T],
    similarities: &[T],
    beta: T,
    floor: T,
    drift_control: bool,
    out: &mut [T],
) {
    let n = T::of(scores.len() as f64);
    let mut total = T::zero();
    for ((f, s), k) in scores.iter().zip(similarities).zip(&mut *out) {
        *k = (*f + shifted(*s)).exp();
        total = total + *k;
    }
    let mut inverses = T::zero();
    for k in &mut *out {
        *k = (T::one() + beta * (*k * n / total - T::one())).max(floor);
        inverses = inverses + k.recip();
    }
    if drift_control {
        for k in out {
            *k = *k * (inverses / n);
        }
    }
}

/// See [`Real::competition`]. The buffer has two places for each negative of the slate.
pub(crate) fn competition<T: Real>(scores: &[T], similarities: &[T], tau: T, buffer: &mut [T]) -> T {
    let (hardest, alike) = buffer.split_at_mut(buffer.len() / 2);
    slate(scores, similarities, hardest, alike);
    let (mut plain, mut tilted) = (T::zero(), T::zero());
    for (f, s) in hardest.iter().zip(alike) {
        let weight = ((*f - hardest[0]) / tau).exp();
        plain = plain + weight;
        tilted = tilted + weight * shifted(*s).exp();
    }
    (tilted / plain).ln()
}

/// The highest scores, best first, and the similarities that go with them.
fn slate<T: Real>(scores: &[T], similarities: &[T], hardest: &mut [T], alike: &mut [T]) {
    let size = hardest.len();
    hardest.fill(T::neg_infinity());
    for (f, s) in scores.iter().zip(similarities) {
        if *f > hardest[size - 1] {
            let mut place = size - 1;
            while place > 0 && *f > hardest[place - 1] {
                hardest[place] = hardest[place - 1];
                alike[place] = alike[place - 1];
                place -= 1;
            }
            hardest[place] = *f;
            alike[place] = *s;
        }
    }
}

/// A cosine moved to [0, 1].
fn shifted<T: Real>(similarity: T) -> T {
    (similarity + T::one()) * T::of(0.5)
}
