//! The log-mean-exp over the k highest scores, in any precision.

use crate::Real;
use crate::scalar::cosine_to_unit;

/// See [`Real::top_k_log_mean_exp`].
pub(crate) fn top_k_log_mean_exp<T: Real>(scores: &[T], similarities: &[T], temperature: T, k: usize) -> T {
    T::with_buffer(5 * scores.len(), |buffer| {
        let (buffer, exponents) = buffer.split_at_mut(3 * scores.len());
        let top = T::top_k(scores, k, buffer);
        let max = top.iter().fold(T::neg_infinity(), |max, [f, _]| max.max(*f));
        let exponents = &mut exponents[..2 * top.len()];
        let (of_scores, of_similarities) = exponents.split_at_mut(top.len());
        for ((of_score, of_similarity), [f, place]) in of_scores.iter_mut().zip(of_similarities).zip(top) {
            *of_score = (*f - max) / temperature;
            *of_similarity = cosine_to_unit(place.to_usize().map_or(T::nan(), |place| similarities[place]));
        }
        T::exponentials(exponents);
        let (mut weights, mut weighted) = (T::zero(), T::zero());
        let (of_scores, of_similarities) = exponents.split_at(top.len());
        for (weight, similarity) in of_scores.iter().zip(of_similarities) {
            weights = weights + *weight;
            weighted = weighted + *weight * *similarity;
        }
        (weighted / weights).ln()
    })
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
