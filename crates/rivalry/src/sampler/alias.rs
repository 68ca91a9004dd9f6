//! Walker's alias method: draws from any discrete distribution in constant time.

use rand_core::Rng;

use crate::rng::below;

/// A discrete distribution over `0..n`.
pub(super) struct AliasTable {
    /// For each cell the probability of its own outcome, scaled to `u32`, and the other outcome.
    cells: Vec<(u32, u32)>,
}

impl AliasTable {
    /// A table for these weights. Weights are finite, not negative, and not all zero.
    pub fn new(weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let n = weights.len();
        let mut share: Vec<f64> = weights.iter().map(|weight| weight / total * n as f64).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| share[i] < 1.0);
        let mut cells: Vec<(u32, u32)> = (0..n as u32).map(|i| (u32::MAX, i)).collect();
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            cells[low] = ((share[low] * 2f64.powi(32)) as u32, high as u32);
            share[high] -= 1.0 - share[low];
            if share[high] < 1.0 {
                large.pop();
                small.push(high);
            }
        }
        // What is left of `small` is one up to rounding, unless it has no weight at all.
        for low in small {
            if weights[low] == 0.0 {
                let heaviest = (0..n).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(low);
                cells[low] = (0, heaviest as u32);
            }
        }
        Self { cells }
    }

    /// One outcome.
    pub fn draw(&self, rng: &mut impl Rng) -> u32 {
        let cell = below(rng, self.cells.len() as u32);
        let (threshold, other) = self.cells[cell as usize];
        // The comparison is strict, so an outcome without weight is never drawn.
        if rng.next_u32() < threshold { cell } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::seeded;

    #[test]
    fn outcomes_come_as_often_as_their_weights_say() {
        let weights = [0.0, 1.0, 2.0, 4.0, 0.5, 0.0, 2.5];
        let table = AliasTable::new(&weights);
        let mut rng = seeded(5);
        let mut counts = [0u32; 7];
        let n = 200_000;
        (0..n).for_each(|_| counts[table.draw(&mut rng) as usize] += 1);
        for (count, weight) in counts.iter().zip(weights) {
            let expected = weight / 10.0;
            assert!((f64::from(*count) / f64::from(n) - expected).abs() < 0.004, "{counts:?}");
        }
        assert_eq!((counts[0], counts[5]), (0, 0));
        assert_eq!(AliasTable::new(&[3.0]).draw(&mut rng), 0);
    }
}
