//! A million users, a million items, twenty million interactions: what a step costs there.
//!
//! `cargo bench -p rivalry --bench million`, about five minutes. A few steps are timed after warm-up and **scaled to the
//! epoch**. Each row has a process of its own, so that its peak memory is its own too. The part of a step that any
//! number of negatives costs (Adam and normalisation of all rows) is what the step takes with a single negative. Lazy
//! Adam changes results; deferred Adam changes their rounding.

#[path = "support/memory.rs"]
mod memory;
#[path = "support/random.rs"]
mod random;
#[path = "support/steps.rs"]
mod steps;

use std::process::{Command, exit};

const USERS: usize = 1_000_000;
const ITEMS: usize = 1_000_000;
const PER_USER: usize = 20;
const BATCH: usize = 1024;
const WARM_UP: usize = 3;
const TIMED: usize = 30;

/// Kinds of Adam, each with its setting.
const ADAMS: [(&str, &str); 3] = [
    ("dense", "optim.deferred=false"),
    ("deferred", "optim.deferred=true"),
    ("lazy", "optim.type=lazy-adam"),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if let [loss, adam] = &args[..] {
        let (_, settings) = ADAMS.iter().find(|(name, _)| name == adam).expect("dense, deferred or lazy");
        return row(loss, adam, settings);
    }
    println!("{} threads, batch {BATCH}, 64 dimensions", rayon::current_num_threads());
    println!();
    println!(
        "| loss | Adam | pairs | step with 1000 negatives, ms | with 1, ms | epoch, s (scaled) | peak memory, GB |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|");
    for (adam, _) in ADAMS {
        for loss in ["sl", "dsl"] {
            let again =
                std::env::current_exe().and_then(|program| Command::new(program).args([loss, adam]).status());
            if !again.is_ok_and(|status| status.success()) {
                eprintln!("the run with {loss} failed");
                exit(1);
            }
        }
    }
}

fn row(loss: &str, adam: &str, optim: &str) {
    let dataset = random::dataset(USERS, ITEMS, PER_USER);
    let pairs = dataset.train.len();
    let mut peak = None;
    let mut step = |negatives: usize, timed: usize| {
        let settings =
            [format!("loss.type={loss}"), format!("train.negatives={negatives}"), optim.to_owned()];
        let config = steps::config(&settings.each_ref().map(String::as_str));
        let seconds = steps::timed(&dataset, &config, WARM_UP, |seconds| {
            // Asked before the training is stopped: handing its tables over takes memory that steps don't.
            peak = peak.or_else(|| (seconds.len() == timed).then(memory::peak));
            seconds.len() >= timed
        });
        seconds.iter().sum::<f64>() / seconds.len() as f64
    };
    let (many, one) = (step(1000, TIMED), step(1, TIMED / 2));
    let peak = peak.flatten().map_or("?".to_owned(), |bytes| format!("{:.2}", bytes as f64 / 1e9));
    println!(
        "| {} | {} | {pairs} | {:.0} | {:.0} | {:.0} | {peak} |",
        loss.to_uppercase(),
        adam,
        many * 1e3,
        one * 1e3,
        many * pairs as f64 / BATCH as f64
    );
}
