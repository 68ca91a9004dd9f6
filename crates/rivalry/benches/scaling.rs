//! How the time of a training step grows with negatives, dimensions, items and threads: a Markdown table.
//!
//! `cargo bench -p rivalry --bench scaling`, about two minutes. SL on random data; each figure is the middle one of a
//! few steps. The last column would be the same number all the way down if a step were its multiply-adds alone.

#[path = "support/random.rs"]
mod random;
#[path = "support/steps.rs"]
mod steps;

use rayon::{ThreadPool, ThreadPoolBuilder};
use rivalry::data::Dataset;

const USERS: usize = 10_000;
const BATCH: usize = 1024;
const THREADS: [usize; 2] = [1, 2];

fn main() {
    println!("SL, batch {BATCH}, {USERS} users");
    println!();
    println!(
        "| items | negatives | dimensions | 1 thread, ms | 2 threads, ms | speed-up | ps a multiply-add |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|");
    let pools = THREADS.map(|n| ThreadPoolBuilder::new().num_threads(n).build().expect("threads start"));
    for items in [10_000, 100_000, 1_000_000] {
        let dataset = random::dataset(USERS, items, 20);
        for negatives in [100, 300, 1000, 3000] {
            row(&dataset, negatives, 64, &pools);
        }
        if items == 100_000 {
            for dim in [32, 128, 256] {
                row(&dataset, 1000, dim, &pools);
            }
        }
    }
}

fn row(dataset: &Dataset, negatives: usize, dim: usize, pools: &[ThreadPool; 2]) {
    let [one, two] = [0, 1].map(|n| pools[n].install(|| step(dataset, negatives, dim)));
    let products = (BATCH * negatives * 3 * dim) as f64;
    println!(
        "| {} | {negatives} | {dim} | {:.1} | {:.1} | {:.2} | {:.0} |",
        dataset.items.len(),
        one * 1e3,
        two * 1e3,
        one / two,
        two / products * 1e12
    );
}

/// Seconds of a step: the middle one of at least five, and of a second's worth.
fn step(dataset: &Dataset, negatives: usize, dim: usize) -> f64 {
    let settings = [
        "loss.type=sl".to_owned(),
        format!("train.batch_size={BATCH}"),
        format!("train.negatives={negatives}"),
        format!("model.dim={dim}"),
    ];
    let config = steps::config(&settings.each_ref().map(String::as_str));
    let mut seconds =
        steps::timed(dataset, &config, 2, |timed| timed.len() >= 5 && timed.iter().sum::<f64>() > 1.0);
    seconds.sort_unstable_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
