//! Selection of the k best of a stream of scores.

/// The number of scores that are compared with the threshold together. Most chunks have none above it and cost one
/// vectorised comparison per score.
const CHUNK: usize = 32;

/// Selects the `k` best of the scores pushed into it; of equal scores, those pushed first.
///
/// Scores above the threshold are buffered. When `2k` are buffered, the better half is kept and the threshold becomes
/// the worst of it, so a candidate costs amortised constant time, however large `k` is.
///
/// ```
/// use rivalry_kernels::TopKSelector;
/// let mut top = TopKSelector::new(2);
/// top.push_block(&[0.5, f32::NEG_INFINITY, 2.0], 0);
/// top.push_block(&[1.0, 2.0], 3);
/// assert_eq!(top.sorted().unwrap(), [(2.0, 2), (2.0, 4)]);
/// ```
#[derive(Clone, Debug)]
pub struct TopKSelector {
    k: usize,
    candidates: Vec<(f32, u32)>,
    threshold: f32,
    nan: bool,
}

impl TopKSelector {
    /// An empty selection of at most `k`.
    pub fn new(k: usize) -> Self {
        Self { k, candidates: Vec::with_capacity(2 * k), threshold: f32::NEG_INFINITY, nan: false }
    }

    /// Removes everything pushed and keeps the allocation.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.threshold = f32::NEG_INFINITY;
        self.nan = false;
    }

    /// Pushes a block of scores with positions `first`, `first + 1`, …
    ///
    /// Blocks must come in ascending order of position. Minus infinity marks a masked score, which is never selected.
    pub fn push_block(&mut self, scores: &[f32], first: u32) {
        if self.k == 0 {
            return;
        }
        for (chunk, start) in scores.chunks(CHUNK).zip((first..).step_by(CHUNK)) {
            // `!(x <= threshold)` instead of `x > threshold`, so that NaN takes the slow path too. No early exit, so that
            // the loop is vectorised.
            let threshold = self.threshold;
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "must be true for NaN")]
            let any = chunk.iter().fold(false, |any, &x| any | !(x <= threshold));
            if any {
                self.push_chunk(chunk, start);
            }
        }
    }

    #[inline(never)]
    fn push_chunk(&mut self, chunk: &[f32], start: u32) {
        for (&score, position) in chunk.iter().zip(start..) {
            // A score equal to the threshold loses: the one that set the threshold came first.
            if score > self.threshold {
                // Adding zero turns -0 into +0, so that the total order used below sees the tie.
                self.candidates.push((score + 0.0, position));
                if self.candidates.len() == 2 * self.k {
                    self.keep_best();
                }
            }
            self.nan |= score.is_nan();
        }
    }

    fn keep_best(&mut self) {
        let (_, worst, _) = self.candidates.select_nth_unstable_by(self.k - 1, best_first);
        self.threshold = worst.0;
        self.candidates.truncate(self.k);
    }

    /// The selected scores with their positions, best first; fewer than `k` if fewer unmasked scores were pushed.
    /// `None` if a NaN was pushed, since then there is no order.
    pub fn sorted(&mut self) -> Option<&[(f32, u32)]> {
        if self.candidates.len() > self.k {
            self.keep_best();
        }
        self.candidates.sort_unstable_by(best_first);
        (!self.nan).then_some(&self.candidates)
    }
}

/// Descending scores, then ascending positions: a total order, so the result does not depend on the algorithm.
fn best_first(a: &(f32, u32), b: &(f32, u32)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(scores: &[f32], k: usize) -> Vec<(f32, u32)> {
        let mut all: Vec<(f32, u32)> =
            scores.iter().copied().zip(0..).filter(|x| x.0 != f32::NEG_INFINITY).collect();
        all.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap()); // stable: ties keep the order of their positions
        all.truncate(k);
        all
    }

    /// Few distinct values, so that there are many ties; among them masked scores and both zeros.
    fn tied_scores() -> impl Strategy<Value = Vec<f32>> {
        let score = prop_oneof![
            1 => Just(f32::NEG_INFINITY),
            1 => Just(-0.0f32),
            8 => (-3i8..4).prop_map(f32::from),
            4 => -3.0f32..4.0,
        ];
        proptest::collection::vec(score, 0..400)
    }

    proptest! {
        #[test]
        fn agrees_with_sorting(scores in tied_scores(), k in 0usize..50, block in 1usize..130) {
            let mut top = TopKSelector::new(k);
            for round in 0..2 {
                for (b, scores) in scores.chunks(block).enumerate() {
                    top.push_block(scores, (b * block) as u32);
                }
                prop_assert_eq!(top.sorted().unwrap(), naive(&scores, k), "round {}", round);
                top.clear();
            }
        }

        #[test]
        fn a_nan_is_always_reported(mut scores in tied_scores(), at: prop::sample::Index, k in 1usize..50) {
            scores.push(0.0);
            let at = at.index(scores.len());
            scores[at] = f32::NAN;
            let mut top = TopKSelector::new(k);
            top.push_block(&scores, 0);
            prop_assert!(top.sorted().is_none());
        }
    }
}
