//! The loss where none is chosen, with the settings that go with it.
//!
//! `dsl-ca` with a popularity prior. The more training pairs there are, the lower the temperature that they support, and the less
//! the prior adds to what they say: `docs/src/auto.md` has the measurements.

/// The loss where none is chosen.
pub(super) const DEFAULT_LOSS: &str = "dsl-ca";

/// Training sets of more pairs than this have the lower temperature and the weaker prior.
const MANY_PAIRS: usize = 300_000;

/// The settings that go with the default loss, for a training set of so many pairs: section, key, value.
pub(super) fn default_settings(pairs: usize) -> [(&'static str, &'static str, f64); 3] {
    let [tau, alpha, prior] = if pairs > MANY_PAIRS { [0.125, 2.0, 0.05] } else { [0.2, 3.0, 0.2] };
    [("loss", "tau", tau), ("loss", "alpha", alpha), ("model", "popularity_weight", prior)]
}
