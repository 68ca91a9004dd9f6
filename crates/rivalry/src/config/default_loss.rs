//! The loss where none is chosen, with the settings that go with it.
//!
//! `dsl-ca` with a popularity prior of the weight of its temperature. The more training pairs there are, the lower the
//! temperature that they support: `docs/src/auto.md` has the measurements.

/// The loss where none is chosen.
pub(super) const DEFAULT_LOSS: &str = "dsl-ca";

/// Training sets of more pairs than this have the lower temperature.
const MANY_PAIRS: usize = 300_000;

/// The settings that go with the default loss, for a training set of so many pairs: section, key, value.
pub(super) fn default_settings(pairs: usize) -> [(&'static str, &'static str, f64); 3] {
    let tau = if pairs > MANY_PAIRS { 0.15 } else { 0.2 };
    [("loss", "tau", tau), ("loss", "alpha", 3.0), ("model", "popularity_weight", tau)]
}
