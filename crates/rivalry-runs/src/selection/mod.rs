//! Which runs are comparable, and which setting is the best.
//!
//! [`compare`](crate::compare), [`sweep`](crate::sweep) and reports all decide by this module:
//!
//! - Two runs are comparable if they have the same [`Protocol`].
//! - Two runs have the same setting if their configs differ in nothing but the seed, the data and the protocol
//!   ([`setting_of`], [`by_setting`]).
//! - The best setting is the one with the highest mean validation value over the seeds that all settings share
//!   ([`best_setting`]). The test set is never used.

mod best;
mod protocol;

pub use best::{SeedValue, best_setting, mean_on_shared_seeds};
pub use protocol::{Protocol, check_comparable};

use rivalry::config::Config;

use crate::settings::Settings;

/// The settings that make one configuration of a model different from another: all but the seed, the data, the
/// evaluation and how the epoch is selected.
pub fn setting_of(config: &Config) -> Settings {
    Settings::of(config).filter(is_hyperparameter)
}

/// Whether a key belongs to the setting: neither data nor protocol nor seed.
pub fn is_hyperparameter(key: &str) -> bool {
    let task = key.starts_with("data.") || key.starts_with("eval.");
    !task && !["train.seed", "train.select"].contains(&key)
}

/// Groups runs by their setting, in the order of each setting's first run.
pub fn by_setting<T>(
    runs: impl IntoIterator<Item = T>,
    config: impl Fn(&T) -> &Config,
) -> Vec<(Settings, Vec<T>)> {
    let mut grouped: Vec<(Settings, Vec<T>)> = Vec::new();
    for run in runs {
        let setting = setting_of(config(&run));
        match grouped.iter_mut().find(|(known, _)| *known == setting) {
            Some((_, runs)) => runs.push(run),
            None => grouped.push((setting, vec![run])),
        }
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::from_layers(&[text.parse().unwrap()]).unwrap()
    }

    #[test]
    fn seed_and_protocol_are_not_part_of_the_setting_but_a_temperature_is() {
        let configs = [
            config("loss = { type = 'sl', tau = 0.1 }"),
            config("loss = { type = 'sl', tau = 0.2 }"),
            config("loss = { type = 'sl', tau = 0.1 }\ntrain.seed = 3\neval.mask = 'train'"),
        ];
        let grouped = by_setting(&configs, |config| config);
        let sizes: Vec<usize> = grouped.iter().map(|(_, runs)| runs.len()).collect();
        assert_eq!(sizes, [2, 1]);
        assert_eq!(grouped[0].0.first_difference(&grouped[1].0).unwrap(), "loss.tau");
    }
}
