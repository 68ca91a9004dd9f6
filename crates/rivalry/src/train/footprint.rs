//! How much memory a training takes, before any of it is taken.

use crate::config::Config;
use crate::data::{Dataset, Interactions};
use crate::memory::MemoryLimit;
use crate::{Result, backbone, loss};

/// Copies of both tables while a model trains: learned, gradients, two moments, what is scored, the best epoch.
const TRAINING: u64 = 6;
/// And while its checkpoint is written: three of them as they are in the file, and the file.
const SAVING: u64 = 6;
/// What a graph adds: propagated tables, their gradients, two layers on the way.
const GRAPH: u64 = 4;
/// What a rival adds: tables, gradients, moments and what of it is scored, and its part of the checkpoint.
const RIVAL: u64 = 11;
/// Bytes for a negative: its number as drawn and as grouped, score, similarity, gradient, place, weight.
const NEGATIVE: u64 = 32;
/// Bytes for an interaction: all parts by user and by item, pairs in their order, the graph's edges both ways.
const PAIR: u64 = 32;
/// The program, its threads' own memory, the evaluation's blocks.
const BASE: u64 = 32 << 20;

/// The most bytes that a training of this config on these data is expected to take. Meant to be near, and rather too
/// high than too low.
pub fn footprint(dataset: &Dataset, config: &Config) -> u64 {
    let rows = (dataset.train.n_users() + dataset.train.n_items()) as u64;
    let table = rows * 4 * config.model.dim.next_multiple_of(16) as u64;
    // Asked without data: what kind it is does not depend on them, and costs nothing to find out.
    let nobody = Interactions::from_pairs(0, 0, []);
    let backbone = backbone::build(&config.backbone, &nobody);
    let graph = backbone.map_or(0, |backbone| if backbone.is_identity() { 0 } else { GRAPH });
    let rival = loss::build(&config.loss).map_or(0, |loss| if loss.rival().is_some() { RIVAL } else { 0 });
    let pairs = (dataset.train.len() + dataset.valid.len() + dataset.test.len()) as u64;
    let batch = config.train.batch_size.min(dataset.train.len()) as u64;
    let negatives = batch.saturating_mul(config.train.negatives() as u64);
    let parts = [
        table.saturating_mul(TRAINING + SAVING + graph + rival),
        pairs.saturating_mul(PAIR),
        negatives.saturating_mul(NEGATIVE),
        BASE,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// Refuses a training that would not fit into the [memory](crate::memory) there may be.
pub(super) fn check(dataset: &Dataset, config: &Config) -> Result<()> {
    MemoryLimit::default().require(footprint(dataset, config), "this training").map_err(|refused| {
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
    fn graphs_and_rivals_take_more_and_so_do_dimensions_and_negatives() {
        let dataset = load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {}).unwrap();
        let with = |settings: &[&str]| {
            let layers: Vec<_> = settings.iter().map(|setting| setting_layer(setting).unwrap()).collect();
            footprint(&dataset, &Config::from_layers(&layers).unwrap()) - BASE
        };
        let plain = with(&["loss.type=sl"]);
        for more in
            ["backbone.type=lightgcn", "backbone.type=xsimgcl", "model.dim=65", "train.negatives=2000"]
        {
            assert!(with(&["loss.type=sl", more]) > plain, "{more}");
        }
        assert!(with(&["loss.type=advinfonce"]) > plain);
        assert_eq!(with(&["loss.type=sl", "backbone.type=mf"]), plain);
    }
}
