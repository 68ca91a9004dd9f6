//! An estimate of the memory that a training takes.

use crate::Result;
use crate::config::{Config, GradientConfig};
use crate::data::Dataset;
use crate::memory::MemoryLimit;
use crate::models::Kind;

/// Copies of both tables while a model trains: learned, gradients, two moments, scored, the best epoch.
const TRAINING: u64 = 6;
/// And while its checkpoint is written: three of them as they are in the file, and the file.
const SAVING: u64 = 6;
/// What an adversary adds: tables, gradients, moments, its scored tables, and its part of the checkpoint.
const ADVERSARY: u64 = 11;
/// Bytes for a candidate: its id as drawn and as grouped, score, feature, gradient, place, weight.
const CANDIDATE: u64 = 32;
/// Bytes for an interaction: all parts by user and by item, pairs in their order, the graph's edges both ways.
const PAIR: u64 = 32;
/// The program, its threads' stacks, the evaluation's blocks.
const BASE: u64 = 32 << 20;

/// The most bytes that a training of this config on these data is expected to take: close, and rather too high than too
/// low.
pub fn footprint(dataset: &Dataset, config: &Config, gradient: &GradientConfig) -> u64 {
    let train = &dataset.train;
    let row = 4 * config.model.dim().unwrap_or_default().next_multiple_of(16) as u64;
    let rows = |users: usize| (users + train.n_items()) as u64 * row;
    let users = config.model.users().table_rows(train.n_users());
    let backbone = match config.model.entry().build {
        Kind::Gradient(build) => build.extra_tables,
        Kind::ClosedForm(_) => 0,
    };
    let adversary = if gradient.loss.build().adversary_lr().is_some() { ADVERSARY } else { 0 };
    let pairs = dataset.parts().into_iter().map(|part| part.held_len() as u64).sum::<u64>();
    let batch = gradient.train.batch_size.min(train.len()) as u64;
    let candidates = batch.saturating_mul(gradient.train.negatives as u64);
    let parts = [
        rows(users).saturating_mul(TRAINING + SAVING + backbone),
        rows(train.n_users()).saturating_mul(adversary),
        pairs.saturating_mul(PAIR),
        candidates.saturating_mul(CANDIDATE),
        BASE,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Refuses a training that would not fit into memory. Who writes the model file reads what other processes have.
pub(super) fn check(
    dataset: &Dataset,
    config: &Config,
    gradient: &GradientConfig,
    (limit, writes): (MemoryLimit, bool),
) -> Result<()> {
    let elsewhere: usize = dataset.parts().into_iter().map(|part| part.len() - part.held_len()).sum();
    let elsewhere = if writes { (elsewhere as u64).saturating_mul(PAIR) } else { 0 };
    let bytes = footprint(dataset, config, gradient).saturating_add(elsewhere);
    limit.require(bytes, "this training").map_err(|refused| {
        refused
            .help("lower model.dim, train.batch_size or train.negatives, keep fewer users and items, or raise --max-memory")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::setting_layer;
    use crate::data::{DataConfig, LoadOptions, load};

    #[test]
    fn graphs_adversaries_dimensions_and_negatives_take_more() {
        let dataset = load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {}).unwrap();
        let with = |settings: &[&str]| {
            let layers: Vec<_> = settings.iter().map(|setting| setting_layer(setting).unwrap()).collect();
            let config = Config::from_layers(&layers).unwrap();
            footprint(&dataset, &config, config.gradient.as_ref().unwrap()) - BASE
        };
        let plain = with(&["loss.type=sl"]);
        for more in ["model.type=lightgcn", "model.type=xsimgcl", "model.dim=65", "train.negatives=2000"] {
            assert!(with(&["loss.type=sl", more]) > plain, "{more}");
        }
        assert!(with(&["loss.type=advinfonce"]) > plain);
        assert_eq!(with(&["loss.type=sl", "model.type=mf"]), plain);
        let fism = ["loss.type=sl", "model.type=fism"];
        assert!(with(&fism) < plain);
        assert_eq!(with(&[&fism[..], &["model.user_weight=0.5"]].concat()), plain);
    }
}
