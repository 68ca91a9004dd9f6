//! Single training steps on data made in memory.

use std::ops::ControlFlow;
use std::time::Instant;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::config::{Config, setting_layer};
use rivalry::data::{Dataset, Interactions};
use rivalry::train::{NoCheckpoints, TrainEvent, fit};

/// Random training pairs, so many for each user; items have a long tail. Nothing is held out.
pub fn random(n_users: usize, n_items: usize, per_user: usize) -> Dataset {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let pairs = (0..n_users * per_user).map(|pair| {
        let unit = rng.next_u32() as f64 / 2f64.powi(32);
        ((pair % n_users) as u32, (unit.powi(3) * n_items as f64) as u32)
    });
    let train = Interactions::from_pairs(n_users, n_items, pairs);
    let none = Interactions::empty(n_users, n_items);
    Dataset {
        name: "random".to_owned(),
        users: (0..n_users).map(|id| id.to_string()).collect(),
        items: (0..n_items).map(|id| id.to_string()).collect(),
        train,
        valid: none.clone(),
        test: none,
        checksum: String::new(),
        notes: Vec::new(),
        skipped: Default::default(),
    }
}

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
