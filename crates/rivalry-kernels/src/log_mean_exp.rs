//! The log-mean-exp over the k highest scores, in any precision.

use std::cmp::Ordering;

use crate::Real;
use crate::scalar::cosine_to_unit;

/// See [`Real::top_k_log_mean_exp`]. The buffer holds three numbers for each score.
pub(crate) fn top_k_log_mean_exp<T: Real>(
    scores: &[T],
    similarities: &[T],
    temperature: T,
    k: usize,
    buffer: &mut [T],
) -> T {
    let top = top_k(scores, similarities, k, buffer);
    let max = top.iter().fold(T::neg_infinity(), |max, [f, _]| max.max(*f));
    let (mut weights, mut weighted) = (T::zero(), T::zero());
    for [f, s] in top {
        let weight = ((*f - max) / temperature).exp();
        weights = weights + weight;
        weighted = weighted + weight * cosine_to_unit(*s).exp();
    }
    (weighted / weights).ln()
}

/// The number of scores whose maximum is taken together.
const CHUNK: usize = 32;

/// The `k` highest scores in no particular order, each with its similarity.
///
/// The k-th highest of the chunk maxima is a lower bound of the k-th highest score, and not many scores reach it. Only
/// those are selected from: a few dozen instead of all, and without branches that are hard to predict.
fn top_k<'a, T: Real>(scores: &[T], similarities: &[T], k: usize, buffer: &'a mut [T]) -> &'a [[T; 2]] {
    let (maxima, candidates) = buffer.split_at_mut(scores.len());
    let (candidates, chunks) = (candidates.as_chunks_mut::<2>().0, scores.as_chunks::<CHUNK>().0);
    let mut threshold = T::neg_infinity();
    if chunks.len() >= k {
        for (max, chunk) in maxima.iter_mut().zip(chunks) {
            *max = chunk.iter().fold(T::neg_infinity(), |max, f| if *f > max { *f } else { max });
        }
        threshold = *maxima[..chunks.len()].select_nth_unstable_by(k - 1, |a, b| descending(*a, *b)).1;
    }
    let mut n = 0;
    for (f, s) in scores.iter().zip(similarities) {
        // Written unconditionally and counted only if high enough: no branch to mispredict.
        candidates[n] = [*f, *s];
        n += usize::from(*f >= threshold);
    }
    if n > k {
        candidates[..n].select_nth_unstable_by(k - 1, |a, b| descending(a[0], b[0]));
    }
    &candidates[..n.min(k)]
}

fn descending<T: Real>(a: T, b: T) -> Ordering {
    b.partial_cmp(&a).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Real;

    #[test]
    fn only_the_k_highest_scores_count() {
        let f = [0.9, 0.1, 0.8, -0.5];
        let s = [1.0, -1.0, 1.0, -1.0];
        assert!((f64::top_k_log_mean_exp(&f, &s, 0.2, 2) - 1.0).abs() < 1e-12);
        assert!(f64::top_k_log_mean_exp(&f, &s, 0.2, 9) < 1.0);
    }

    proptest! {
        #[test]
        fn selecting_agrees_with_sorting(
            pairs in prop::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 1..400),
            k in 1usize..12,
        ) {
            let (f, s): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let mut sorted = pairs;
            sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
            sorted.truncate(k);
            let weights: f64 = sorted.iter().map(|(f, _)| (f / 0.2).exp()).sum();
            let weighted: f64 = sorted.iter().map(|(f, s)| (f / 0.2 + (s + 1.0) / 2.0).exp()).sum();
            let found = f64::top_k_log_mean_exp(&f, &s, 0.2, k);
            prop_assert!((found - (weighted / weights).ln()).abs() < 1e-12, "{}", found);
        }
    }
}
