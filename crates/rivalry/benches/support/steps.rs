//! Single training steps, timed.

use std::ops::ControlFlow;
use std::time::Instant;

use rivalry::config::{Config, setting_layer};
use rivalry::data::Dataset;
use rivalry::train::{NoCheckpoints, TrainEvent, fit};

/// The config with these settings, such as `loss.type=sl`. It is never evaluated: there is nothing to rank for.
pub fn config(settings: &[&str]) -> Config {
    let unranked = ["train.epochs=1000", "train.eval_every=1000"];
    let layers: Vec<_> =
        unranked.iter().chain(settings).map(|setting| setting_layer(setting).expect(setting)).collect();
    Config::from_layers(&layers).expect("the settings are legal")
}

/// Seconds of each training step after the first `skipped`, until `enough` says so of those timed.
///
/// # Panics
/// If the training can't be done.
pub fn timed(
    dataset: &Dataset,
    config: &Config,
    skipped: usize,
    mut enough: impl FnMut(&[f64]) -> bool,
) -> Vec<f64> {
    let (mut seconds, mut steps, mut last) = (Vec::new(), 0, Instant::now());
    let mut watch = |event: &TrainEvent<'_>| {
        let TrainEvent::Step { .. } = event else { return ControlFlow::Continue(()) };
        let now = Instant::now();
        steps += 1;
        if steps > skipped {
            seconds.push(now.duration_since(last).as_secs_f64());
        }
        last = now;
        if enough(&seconds) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    fit(dataset, config, None, &mut NoCheckpoints, &mut watch).expect("the training runs");
    seconds
}
