//! The k highest scores of a row, in any precision.

use std::cmp::Ordering;

use crate::Real;

/// How a row of scores is scanned.
#[derive(Clone, Copy)]
pub(crate) struct Scan<T> {
    /// A number that at least k of the scores reach, and preferably not many more. May write to the buffer, which is as long as
    /// the row.
    pub lower_bound: fn(&[T], usize, &mut [T]) -> T,
    /// Writes the scores that are at least as high as a threshold, in their order and each with its place, and returns how
    /// many there are.
    pub at_least: fn(T, &[T], &mut [[T; 2]]) -> usize,
    /// The k-th highest of at least k scores, which it may reorder.
    pub kth_highest: fn(&mut [T], usize) -> T,
}

/// See [`Real::top_k`].
///
/// Only scores that reach the lower bound are selected from: a few dozen instead of all.
pub(crate) fn top_k<'a, T: Real>(scores: &[T], k: usize, scan: Scan<T>, buffer: &'a mut [T]) -> &'a [[T; 2]] {
    let (values, candidates) = buffer[..3 * scores.len()].split_at_mut(scores.len());
    let candidates = candidates.as_chunks_mut::<2>().0;
    let bound = (scan.lower_bound)(scores, k, values);
    let n = (scan.at_least)(bound, scores, candidates);
    let candidates = &mut candidates[..n];
    if n <= k {
        return candidates;
    }
    let values = &mut values[..n];
    values.iter_mut().zip(&*candidates).for_each(|(value, [score, _])| *value = *score);
    let lowest = (scan.kth_highest)(values, k);
    let mut ties = k - candidates.iter().filter(|[score, _]| *score > lowest).count();
    let mut kept = 0;
    for at in 0..n {
        let candidate = candidates[at];
        let tie = candidate[0] == lowest && ties > 0;
        ties -= usize::from(tie);
        candidates[kept] = candidate;
        kept += usize::from(tie || candidate[0] > lowest);
    }
    &candidates[..kept]
}

pub(crate) fn select_kth_highest<T: Real>(scores: &mut [T], k: usize) -> T {
    *scores.select_nth_unstable_by(k - 1, |a, b| b.partial_cmp(a).unwrap_or(Ordering::Equal)).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Real;

    proptest! {
        /// Few distinct values, so that there are ties.
        #[test]
        fn agrees_with_sorting(scores in prop::collection::vec((-40i8..40).prop_map(f32::from), 1..400), k in 1usize..30) {
            let mut sorted: Vec<[f32; 2]> = scores.iter().zip(0..).map(|(score, place)| [*score, place as f32]).collect();
            sorted.sort_by(|a, b| b[0].total_cmp(&a[0]));
            sorted.truncate(k);
            sorted.sort_by(|a, b| a[1].total_cmp(&b[1]));
            let mut buffer = vec![0.0; 3 * scores.len()];
            prop_assert_eq!(f32::top_k(&scores, k, &mut buffer), &sorted);
            let scores: Vec<f64> = scores.into_iter().map(f64::from).collect();
            let mut buffer = vec![0.0; 3 * scores.len()];
            let found = f64::top_k(&scores, k, &mut buffer).iter().map(|pair| pair.map(|x| x as f32));
            prop_assert_eq!(found.collect::<Vec<_>>(), sorted);
        }
    }
}
