//! Estimated cost of a training, for the plan and to run cheap trainings first.
//!
//! The constants are rounded from `docs/src/performance.md`: seconds of one core with AVX2.

use rivalry::config::Config;
use rivalry::data::catalogue;
use rivalry::loss::NegativeFeatures;

/// A pair with one negative, where the catalogue is not much larger than the sample.
const SMALL_CATALOGUE: f64 = 18e-9;
/// And where it is.
const LARGE_CATALOGUE: f64 = 38e-9;
/// Where pairs share their negatives.
const SHARED: f64 = 9e-9;
/// One training pair once through a graph and back.
const EDGE: f64 = 100e-9;
/// What a step costs whatever it does.
const STEP: f64 = 1e-3;

/// Seconds of one core. Data that are not in the catalogue count as nothing.
pub(super) fn seconds(config: &Config) -> f64 {
    let counts =
        catalogue().iter().find(|entry| entry.name == config.data.source).and_then(|entry| entry.counts);
    let Some(counts) = counts else { return 0.0 };
    let Some(gradient) = &config.gradient else { return 0.0 };
    let negatives = gradient.train.negatives;
    let rate = match gradient.sampler.name() {
        "shared" => SHARED,
        _ if counts.items <= 2 * negatives => SMALL_CATALOGUE,
        _ => LARGE_CATALOGUE,
    };
    let loss = match gradient.loss.build().negative_features() {
        NegativeFeatures::None => 1.0,
        NegativeFeatures::Similarities | NegativeFeatures::AdversaryScores => 1.4,
    };
    let pairs = counts.train as f64;
    let steps = pairs / gradient.train.batch_size as f64;
    let graph = if config.model.uses_graph() { steps * pairs * EDGE } else { 0.0 };
    gradient.train.epochs as f64 * (pairs * negatives as f64 * rate * loss + graph + steps * STEP)
}
