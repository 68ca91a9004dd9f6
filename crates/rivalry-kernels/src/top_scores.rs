//! The k highest scores of a row, in any precision.

use std::cmp::Ordering;

use crate::Real;

/// The number of scores whose maximum is taken together.
pub(crate) const CHUNK: usize = 32;

/// How a row of scores is scanned.
#[derive(Clone, Copy)]
pub(crate) struct Scan<T> {
    /// Writes the maximum of each whole chunk of [`CHUNK`] scores.
    pub maxima: fn(&[T], &mut [T]),
    /// Writes the scores that are at least as high as a threshold, in their order and each with its place, and returns how
    /// many there are.
    pub at_least: fn(T, &[T], &mut [[T; 2]]) -> usize,
}

/// See [`Real::top_k`].
///
/// The k-th highest of the chunk maxima is a lower bound of the k-th highest score, and not many scores reach it. Only
/// those are selected from: a few dozen instead of all.
pub(crate) fn top_k<'a, T: Real>(scores: &[T], k: usize, scan: Scan<T>, buffer: &'a mut [T]) -> &'a [[T; 2]] {
    let (maxima, candidates) = buffer[..3 * scores.len()].split_at_mut(scores.len());
    let candidates = candidates.as_chunks_mut::<2>().0;
    let (chunks, mut threshold) = (scores.len() / CHUNK, T::neg_infinity());
    if chunks >= k {
        (scan.maxima)(scores, &mut maxima[..chunks]);
        threshold = *maxima[..chunks].select_nth_unstable_by(k - 1, |a, b| descending(*a, *b)).1;
    }
    let n = (scan.at_least)(threshold, scores, candidates);
    if n > k {
        candidates[..n].select_nth_unstable_by(k - 1, |a, b| descending(a[0], b[0]));
    }
    &candidates[..n.min(k)]
}

fn descending<T: Real>(a: T, b: T) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}
