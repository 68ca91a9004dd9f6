//! Where the time of a training step goes: milliseconds of each stage.
//!
//! `cargo bench -p rivalry --bench stages [-- DATA KEY=VALUE…]`, by default on random data of Gowalla's size with the shared
//! sampler. Each line is the median over the steps of a few seconds; the sum is what an epoch takes, evaluations aside.

#[path = "support/random.rs"]
mod random;

use std::time::Instant;

use rivalry::backbone::Embeddings;
use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::{Dataset, load};
use rivalry::loss::Phase;
use rivalry::sampler::TrainingSet;
use rivalry::train::gradient::{Batch, EmbeddingModel, GradientStep, OptimizedModel};
use rivalry_kernels::Matrix;

const STAGES: [&str; 6] = ["draw", "forward", "score", "loss", "gradients", "apply"];
const WARM_UP: usize = 20;
const STEPS: usize = 300;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let (settings, names): (Vec<_>, Vec<_>) = args.iter().partition(|arg| arg.contains('='));
    let mut layers = vec![setting_layer("loss.type=sl").unwrap()];
    if settings.is_empty() {
        layers.push(setting_layer("sampler.type=shared").unwrap());
    }
    layers.extend(settings.iter().map(|setting| setting_layer(setting).expect("a setting")));
    layers.extend(names.first().map(|name| source_layer(name)));
    let config = Config::from_layers(&layers).unwrap();
    let dataset = match names.is_empty() {
        true => random::dataset(29_858, 40_988, 25),
        false => load(&config.data, &Default::default(), &mut |_| {}).unwrap(),
    };
    let seconds = time(&dataset, &config);
    println!("{} threads, {} pairs", rayon::current_num_threads(), dataset.train.len());
    for (stage, seconds) in STAGES.iter().zip(seconds) {
        println!("{stage:<10} {:>8.3} ms", seconds * 1e3);
    }
    let step: f64 = seconds.iter().sum();
    let batch_size = config.gradient.as_ref().unwrap().train.batch_size;
    let epoch = step * dataset.train.len().div_ceil(batch_size) as f64;
    println!("{:<10} {:>8.3} ms, epoch {epoch:.2} s", "step", step * 1e3);
}

/// The median seconds of each stage.
fn time(dataset: &Dataset, config: &Config) -> [f64; 6] {
    let gradient = config.gradient.as_ref().expect("a gradient model");
    let (train, settings) = (&dataset.train, &gradient.train);
    let sampler = gradient.sampler.build(TrainingSet::from(dataset), settings.negatives).unwrap();
    let (score, dim) = (config.model.score().unwrap(), config.model.dim().unwrap());
    let table = |rows: usize| Matrix::from_fn(rows, dim, |row, col| ((row * 31 + col * 17) as f32).sin());
    let learned = Embeddings { users: table(train.n_users()), items: table(train.n_items()) };
    let model = EmbeddingModel::new(config.model.backbone(train).unwrap(), score, learned);
    let model = OptimizedModel::new(model, &gradient.optim);
    let mut step = GradientStep::new(gradient.loss.build(), model, None, &*sampler, settings.negatives);
    let mut pairs: Vec<(u32, u32)> = train.pairs().collect();
    // Any order that is not that of the users.
    pairs.sort_unstable_by_key(|&(user, item)| user.wrapping_mul(2_654_435_761) ^ item.wrapping_mul(40_503));
    let (users, items): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    let batches = users.chunks(settings.batch_size).zip(items.chunks(settings.batch_size));
    let mut seconds: [Vec<f64>; 6] = Default::default();
    for (batch, (users, items)) in batches.enumerate().cycle().take(WARM_UP + STEPS) {
        let batch = Batch { users, items, train, epoch: 0, batch, seed: 0 };
        let mut times = [Instant::now(); 7];
        let drawn = step.draw(batch, &*sampler);
        times[1] = Instant::now();
        let forward = drawn.forward(Phase::Model);
        times[2] = Instant::now();
        let scored = forward.score();
        times[3] = Instant::now();
        let loss = scored.loss().expect("a finite loss");
        times[4] = Instant::now();
        let gradients = loss.gradients();
        times[5] = Instant::now();
        step.apply(gradients);
        times[6] = Instant::now();
        for (seconds, time) in seconds.iter_mut().zip(times.windows(2)) {
            seconds.push(time[1].duration_since(time[0]).as_secs_f64());
        }
    }
    seconds.map(|mut seconds| {
        seconds.drain(..WARM_UP);
        seconds.sort_unstable_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    })
}
