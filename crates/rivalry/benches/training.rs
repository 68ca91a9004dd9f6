//! What a user waits for: loading, an epoch, a full test ranking, and the memory it takes.
//!
//! `cargo bench -p rivalry --bench training [-- NAME…]` on the known data sets of those names (default: synthetic, and
//! amazon2014-health and gowalla where `RIVALRY_DATA` has them). Absolute times are this machine's; the columns that
//! compare are ratios within the run.

#[path = "support/memory.rs"]
mod memory;

use std::ops::ControlFlow;
use std::time::Instant;

use rivalry::backbone::{Embeddings, Score};
use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::{Dataset, load};
use rivalry::eval::{EvalOptions, EvalPart, evaluate};
use rivalry::scorer::EmbeddingScorer;
use rivalry::train::{Fitted, NoCheckpoints, TrainEvent, fit};

fn main() {
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let sets = if named.is_empty() { usual() } else { named };
    println!("{} threads", rayon::current_num_threads());
    println!(
        "{:<22} {:>9} {:>11} {:>11} {:>8} {:>10} {:>10}",
        "data", "load s", "SL s/epoch", "DSL s/epoch", "DSL/SL", "ranking s", "peak MB"
    );
    for name in sets {
        let began = Instant::now();
        let dataset = data(&config(&name, "sl"));
        let loading = began.elapsed().as_secs_f64();
        let (sl, dsl) = (epoch(&dataset, &name, "sl"), epoch(&dataset, &name, "dsl"));
        let ranking = ranking(&dataset);
        println!(
            "{name:<22} {loading:>9.3} {sl:>11.3} {dsl:>11.3} {:>8.2} {ranking:>10.3} {:>10}",
            dsl / sl,
            memory::peak().map_or("?".to_owned(), |bytes| (bytes / 1_000_000).to_string())
        );
    }
}

fn usual() -> Vec<String> {
    let at_hand = std::env::var_os("RIVALRY_DATA").is_some();
    let all = ["synthetic", "amazon2014-health", "gowalla"];
    all[..if at_hand { 3 } else { 1 }].iter().map(|&name| name.to_owned()).collect()
}

fn config(name: &str, loss: &str) -> Config {
    let settings = [&format!("loss.type={loss}"), "train.epochs=4", "train.eval_every=4", "eval.k=[20]"];
    let mut layers = vec![source_layer(name)];
    layers.extend(settings.iter().map(|setting| setting_layer(setting).unwrap()));
    Config::from_layers(&layers).unwrap()
}

fn data(config: &Config) -> Dataset {
    load(&config.data, &Default::default(), &mut |_| {}).unwrap()
}

/// Seconds an epoch: four of a small set, part of one of a large set (every step costs the same).
fn epoch(dataset: &Dataset, name: &str, loss: &str) -> f64 {
    let config = config(name, loss);
    let began = Instant::now();
    let (mut first, mut last, mut per_epoch) = (None, began, 0);
    let mut steps = 0;
    let mut stop_in_time = |event: &TrainEvent<'_>| match event {
        TrainEvent::Started { batches, .. } => {
            per_epoch = *batches;
            ControlFlow::Continue(())
        }
        TrainEvent::Step { .. } => {
            last = Instant::now();
            first.get_or_insert(last);
            steps += 1;
            if began.elapsed().as_secs() >= 8 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
        _ => ControlFlow::Continue(()),
    };
    let seconds = match fit(dataset, &config, None, &mut NoCheckpoints, &mut stop_in_time).unwrap() {
        Fitted::Done(fit) => return fit.outcome.training.map_or(f64::NAN, |training| training.epoch_seconds),
        Fitted::Stopped(_) => last.duration_since(first.unwrap_or(began)).as_secs_f64(),
    };
    seconds / f64::from(steps - 1) * per_epoch as f64
}

/// Seconds for a full test ranking, best of three. What stands in the embeddings does not matter for the time.
fn ranking(dataset: &Dataset) -> f64 {
    let size = |rows: usize, salt: usize| {
        rivalry::Matrix::from_fn(rows, 64, |r, c| ((r * 131 + c * 17 + salt) as f32 * 0.37).sin())
    };
    let embeddings = Embeddings { users: size(dataset.users.len(), 1), items: size(dataset.items.len(), 2) };
    let scorer = EmbeddingScorer::new(embeddings, Score::Dot);
    let once = || {
        let began = Instant::now();
        evaluate(&scorer, dataset, EvalPart::Test, &EvalOptions::default()).unwrap();
        began.elapsed().as_secs_f64()
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}
