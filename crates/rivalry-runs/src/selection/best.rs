//! The best setting, by the validation set.

use std::collections::BTreeSet;

use crate::stats::mean;

/// The validation value of a run with a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedValue {
    /// The seed of the run.
    pub seed: u64,
    /// Its selection metric on the validation set; `None` if there is no validation set.
    pub valid: Option<f64>,
}

/// The index of the setting with the highest mean validation value over the seeds that all settings share; of equal
/// settings the first. A single setting needs no values. `None` if there are several and one of them lacks a value.
///
/// ```
/// use rivalry_runs::selection::{SeedValue, best_setting};
/// let run = |seed, valid| SeedValue { seed, valid: Some(valid) };
/// // The second setting is better on seed 0, the only seed that both were run with.
/// assert_eq!(best_setting(&[vec![run(0, 0.10), run(1, 0.20)], vec![run(0, 0.12)]]), Some(1));
/// ```
pub fn best_setting(settings: &[Vec<SeedValue>]) -> Option<usize> {
    if settings.len() == 1 {
        return Some(0);
    }
    let means: Option<Vec<f64>> = mean_on_shared_seeds(settings).into_iter().collect();
    let means = means?;
    (0..means.len()).max_by(|&a, &b| means[a].total_cmp(&means[b]).then(b.cmp(&a)))
}

/// The mean validation value of each setting over the seeds that all settings share, so that no setting profits from
/// seeds that the others were not run with. If they share none, over all seeds of the setting. `None` if a value is
/// missing.
pub fn mean_on_shared_seeds(settings: &[Vec<SeedValue>]) -> Vec<Option<f64>> {
    let seeds = settings.iter().map(|runs| runs.iter().map(|run| run.seed).collect::<BTreeSet<_>>());
    let shared = seeds.reduce(|all, some| &all & &some).unwrap_or_default();
    let mean_of = |runs: &Vec<SeedValue>| {
        let counted = runs.iter().filter(|run| shared.is_empty() || shared.contains(&run.seed));
        let values: Option<Vec<f64>> = counted.map(|run| run.valid).collect();
        values.filter(|values| !values.is_empty()).map(|values| mean(&values))
    };
    settings.iter().map(mean_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[(u64, f64)]) -> Vec<SeedValue> {
        values.iter().map(|&(seed, valid)| SeedValue { seed, valid: Some(valid) }).collect()
    }

    #[test]
    fn the_first_of_equal_settings_wins() {
        assert_eq!(best_setting(&[runs(&[(0, 0.1)]), runs(&[(0, 0.2)]), runs(&[(0, 0.2)])]), Some(1));
        assert_eq!(best_setting(&[]), None);
    }

    #[test]
    fn without_validation_values_only_a_single_setting_can_be_selected() {
        let blind = vec![SeedValue { seed: 0, valid: None }];
        assert_eq!(best_setting(std::slice::from_ref(&blind)), Some(0));
        assert_eq!(best_setting(&[blind, runs(&[(0, 0.2)])]), None);
    }

    #[test]
    fn without_shared_seeds_every_setting_counts_with_its_own() {
        let settings = [runs(&[(0, 0.1), (1, 0.3)]), runs(&[(2, 0.25)])];
        assert_eq!(mean_on_shared_seeds(&settings), [Some(0.2), Some(0.25)]);
        assert_eq!(best_setting(&settings), Some(1));
    }
}
