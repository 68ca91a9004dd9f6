//! The best K of a stream of scores.

/// Scores looked at together: nearly all chunks hold nothing above the threshold and cost one comparison a score.
const CHUNK: usize = 32;

/// Keeps the `k` best of the scores pushed into it; of equal scores, those pushed first.
///
/// Scores that beat the threshold are only collected. When `2k` have come together the better half stays and the
/// threshold rises to the worst of it, so a candidate costs constant time on average, however large `k` is.
///
/// ```
/// use rivalry_kernels::TopK;
/// let mut top = TopK::new(2);
/// top.push_block(&[0.5, f32::NEG_INFINITY, 2.0], 0);
/// top.push_block(&[1.0, 2.0], 3);
/// assert_eq!(top.sorted().unwrap(), [(2.0, 2), (2.0, 4)]);
/// ```
#[derive(Clone, Debug)]
pub struct TopK {
    k: usize,
    candidates: Vec<(f32, u32)>,
    threshold: f32,
    nan: bool,
}

impl TopK {
    /// An empty list of at most `k`.
    pub fn new(k: usize) -> Self {
        Self { k, candidates: Vec::with_capacity(2 * k), threshold: f32::NEG_INFINITY, nan: false }
    }

    /// Forgets everything pushed; the room is kept for the next list.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.threshold = f32::NEG_INFINITY;
        self.nan = false;
    }

    /// Offers a block of scores whose positions are `first`, `first + 1`, …
    ///
    /// Blocks come in ascending order of position. Minus infinity means masked: it is never kept.
    pub fn push_block(&mut self, scores: &[f32], first: u32) {
        if self.k == 0 {
            return;
        }
        for (chunk, start) in scores.chunks(CHUNK).zip((first..).step_by(CHUNK)) {
            // Not `x > threshold`: this way a NaN stops the fast path too. No early exit, so that it vectorises.
            let threshold = self.threshold;
            #[expect(clippy::neg_cmp_op_on_partial_ord, reason = "true for NaN is the point")]
            let some = chunk.iter().fold(false, |some, &x| some | !(x <= threshold));
            if some {
                self.push_chunk(chunk, start);
            }
        }
    }

    #[inline(never)]
    fn push_chunk(&mut self, chunk: &[f32], start: u32) {
        for (&score, position) in chunk.iter().zip(start..) {
            // Equal to the threshold is not enough: the one that set it came first.
            if score > self.threshold {
                // Adding zero makes -0 a +0, so that the total order used below sees the tie.
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

    /// The best with their positions, best first: fewer than `k` if fewer were offered unmasked.
    /// `None` if a NaN was among the scores: then there is no order.
    pub fn sorted(&mut self) -> Option<&[(f32, u32)]> {
        if self.candidates.len() > self.k {
            self.keep_best();
        }
        self.candidates.sort_unstable_by(best_first);
        (!self.nan).then_some(&self.candidates)
    }
}

/// Descending scores, then ascending positions: a total order, so the outcome never depends on the algorithm.
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
        all.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap()); // stable: ties stay in order of position
        all.truncate(k);
        all
    }

    /// A handful of distinct values, masked ones and both zeros among them: ties everywhere.
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
        fn it_agrees_with_sorting(scores in tied_scores(), k in 0usize..50, block in 1usize..130) {
            let mut top = TopK::new(k);
            for round in 0..2 {
                for (b, scores) in scores.chunks(block).enumerate() {
                    top.push_block(scores, (b * block) as u32);
                }
                prop_assert_eq!(top.sorted().unwrap(), naive(&scores, k), "round {}", round);
                top.clear();
            }
        }

        #[test]
        fn a_nan_never_passes(mut scores in tied_scores(), at: prop::sample::Index, k in 1usize..50) {
            scores.push(0.0);
            let at = at.index(scores.len());
            scores[at] = f32::NAN;
            let mut top = TopK::new(k);
            top.push_block(&scores, 0);
            prop_assert!(top.sorted().is_none());
        }
    }
}
