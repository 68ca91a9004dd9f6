//! The plain twins of the row kernels, in any precision.

use std::cmp::Ordering;

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

/// See [`Real::competition`]. The buffer has room for three numbers a negative.
pub(crate) fn competition<T: Real>(
    scores: &[T],
    similarities: &[T],
    tau: T,
    slate: usize,
    buffer: &mut [T],
) -> T {
    let slate = hardest(scores, similarities, slate, buffer);
    let highest = slate.iter().fold(T::neg_infinity(), |highest, [f, _]| highest.max(*f));
    let (mut plain, mut tilted) = (T::zero(), T::zero());
    for [f, s] in slate {
        let weight = ((*f - highest) / tau).exp();
        plain = plain + weight;
        tilted = tilted + weight * shifted(*s).exp();
    }
    (tilted / plain).ln()
}

/// Scores whose maximum is taken together.
const CHUNK: usize = 32;

/// The highest scores, in no order, and the similarities that go with them.
///
/// The highest of each chunk are scores too, so the `size`-th of them is beaten or met by at least `size` scores, and
/// by not many more. Only those are put in order: a few dozen instead of all, and hardly a branch is guessed wrong.
fn hardest<'a, T: Real>(scores: &[T], similarities: &[T], size: usize, buffer: &'a mut [T]) -> &'a [[T; 2]] {
    let (highest, found) = buffer.split_at_mut(scores.len());
    let (found, chunks) = (found.as_chunks_mut::<2>().0, scores.as_chunks::<CHUNK>().0);
    let mut threshold = T::neg_infinity();
    if chunks.len() >= size {
        for (place, chunk) in highest.iter_mut().zip(chunks) {
            *place =
                chunk.iter().fold(T::neg_infinity(), |highest, f| if *f > highest { *f } else { highest });
        }
        threshold = *highest[..chunks.len()].select_nth_unstable_by(size - 1, |a, b| best_first(*a, *b)).1;
    }
    let mut n = 0;
    for (f, s) in scores.iter().zip(similarities) {
        // Written in any case and counted only if high enough: nothing to guess.
        found[n] = [*f, *s];
        n += usize::from(*f >= threshold);
    }
    if n > size {
        found[..n].select_nth_unstable_by(size - 1, |a, b| best_first(a[0], b[0]));
    }
    &found[..n.min(size)]
}

fn best_first<T: Real>(a: T, b: T) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}

/// A cosine moved to [0, 1].
fn shifted<T: Real>(similarity: T) -> T {
    (similarity + T::one()) * T::of(0.5)
}
