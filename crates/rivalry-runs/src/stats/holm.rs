//! Holm's correction for multiple comparisons.

/// The corrected p values, in the order given: the smallest times their number, the next times one less, and so on, made
/// monotone and at most 1.
///
/// S. Holm: *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics 6(2), 1979.
///
/// ```
/// assert_eq!(rivalry_runs::stats::holm(&[0.25, 0.0625, 0.125]), [0.25, 0.1875, 0.25]);
/// ```
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![0.0; p.len()];
    let mut least: f64 = 0.0;
    for (done, &place) in order.iter().enumerate() {
        least = least.max(p[place] * (p.len() - done) as f64).min(1.0);
        corrected[place] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_stays_and_none_exceeds_one() {
        assert_eq!(holm(&[]), [0.0; 0]);
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(holm(&[0.75, 0.5, 0.5]), [1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_order_of_the_values_is_kept() {
        // 0.01 · 4, 0.02 · 3, 0.03 · 2, and the largest is raised to the one before it.
        let corrected = holm(&[0.03, 0.01, 0.045, 0.02]);
        for (found, expected) in corrected.iter().zip([0.06, 0.04, 0.06, 0.06]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
    }
}
