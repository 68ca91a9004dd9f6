//! Wilcoxon's signed-rank test.

use puruspe::erfc;
use serde::{Deserialize, Serialize};

/// The largest samples with an exact p, without and with ties or zeros; larger ones use the normal approximation. The limits
/// are SciPy's.
const EXACT: usize = 50;
const EXACT_WITH_TIES: usize = 13;

/// The result of a signed-rank test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SignedRank {
    /// The smaller of the sums of ranks of positive and of negative differences.
    pub statistic: f64,
    /// The number of non-zero differences.
    pub used: usize,
    /// The two-sided p value.
    pub p: f64,
}

/// Wilcoxon's signed-rank test for paired values, given their differences; two-sided.
///
/// Zeros are dropped, ties share their mean rank. Small samples get the exact p, larger ones the normal approximation
/// with correction for ties and none for continuity. Without non-zero differences p is 1.
///
/// ```
/// let test = rivalry_runs::stats::wilcoxon(&[1.0, 2.0, 3.0, 4.0, -5.0]);
/// assert_eq!((test.statistic, test.p), (5.0, 0.625));
/// ```
pub fn wilcoxon(differences: &[f64]) -> SignedRank {
    let mut kept: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    kept.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
    let n = kept.len();
    if n == 0 {
        return SignedRank { statistic: 0.0, used: 0, p: 1.0 };
    }
    // Twice the ranks, which are integers even for ties.
    let mut ranks = Vec::with_capacity(n);
    let mut ties = 0.0;
    for tied in kept.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() as u64 + 1;
        let size = tied.len() as u64;
        ranks.extend(std::iter::repeat_n(2 * first + size - 1, tied.len()));
        ties += (size * (size * size - 1)) as f64;
    }
    let total: u64 = ranks.iter().sum();
    let positive: u64 = kept.iter().zip(&ranks).filter(|(d, _)| **d > 0.0).map(|(_, rank)| rank).sum();
    let smaller = positive.min(total - positive);
    let clean = ties == 0.0 && n == differences.len();
    let p = if differences.len() <= if clean { EXACT } else { EXACT_WITH_TIES } {
        exact(&ranks, smaller)
    } else {
        approximate(n as f64, smaller as f64 / 2.0, ties)
    };
    SignedRank { statistic: smaller as f64 / 2.0, used: n, p }
}

/// The exact two-sided p: the share of all assignments of signs whose sum of ranks is at most `smaller`, or as extreme on
/// the other side.
fn exact(ranks: &[u64], smaller: u64) -> f64 {
    let total: u64 = ranks.iter().sum();
    let mut ways = vec![0.0; total as usize + 1];
    ways[0] = 1.0;
    let mut reached = 0;
    for &rank in ranks {
        let rank = rank as usize;
        for sum in (0..=reached).rev() {
            ways[sum + rank] += ways[sum];
        }
        reached += rank;
    }
    let tail: f64 = ways[..=smaller as usize].iter().sum();
    (2.0 * tail / (ranks.len() as f64).exp2()).min(1.0)
}

/// The normal approximation; each group of `t` ties reduces the variance by `(t³ - t)/48`.
fn approximate(n: f64, statistic: f64, ties: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - ties / 2.0) / 24.0;
    erfc((statistic - mean).abs() / (2.0 * variance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_rank_is_no_evidence() {
        assert_eq!(wilcoxon(&[]).p, 1.0);
        assert_eq!(wilcoxon(&[0.0; 100]), SignedRank { statistic: 0.0, used: 0, p: 1.0 });
        assert_eq!(wilcoxon(&[0.3]).p, 1.0);
    }

    #[test]
    fn small_samples_are_counted_out() {
        // Of the 2⁵ choices of signs two are as extreme as all positive.
        assert_eq!(wilcoxon(&[1.0, 2.0, 3.0, 4.0, 5.0]).p, 2.0 / 32.0);
        // Ranks 1.5, 1.5, 3: a sum of at most 1.5 has none, or one of the first two.
        assert_eq!(wilcoxon(&[1.0, -1.0, 2.0]).p, 2.0 * 3.0 / 8.0);
    }

    #[test]
    fn zeros_are_dropped_and_the_sign_of_all_does_not_matter() {
        let differences: Vec<f64> = (0..90).map(|n| ((n * 37 % 50) as f64 - 20.0) / 8.0).collect();
        let found = wilcoxon(&differences);
        let turned: Vec<f64> = differences.iter().map(|d| -d).collect();
        assert_eq!(found, wilcoxon(&turned));
        assert_eq!(found.used, differences.iter().filter(|d| **d != 0.0).count());
    }
}
