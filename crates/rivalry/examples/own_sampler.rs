//! A negative sampler of your own: uniform over the more popular half of the items.
//!
//! `cargo run --release -p rivalry --example own_sampler`

use std::error::Error;

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, Interactions, LoadOptions};
use rivalry::rng::{Xoshiro256PlusPlus, below};
use rivalry::sampler::{Entry, Sampler, SamplerConfig};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

// ANCHOR: sampler
/// Uniform over the half of the items with the most training interactions.
struct PopularHalf<'a> {
    train: &'a Interactions,
    half: Vec<u32>,
}

const POPULAR_HALF: Entry = Entry {
    name: "popular-half",
    summary: "uniform over the more popular half of the items",
    params: &[],
    build: |_, data, _| {
        let counts = data.interactions.item_counts();
        let mut items: Vec<u32> = (0..counts.len() as u32).collect();
        items.sort_by_key(|&item| std::cmp::Reverse(counts[item as usize]));
        items.truncate(counts.len().div_ceil(2));
        items.sort_unstable();
        Ok(Box::new(PopularHalf { train: data.interactions, half: items }))
    },
};

impl Sampler for PopularHalf<'_> {
    // What is drawn may depend on the generator alone: then the bits don't depend on the number of threads.
    fn draw(&self, user: u32, rng: &mut Xoshiro256PlusPlus, out: &mut [u32]) {
        for place in out {
            *place = loop {
                let item = self.half[below(rng, self.half.len() as u32) as usize];
                if !self.train.contains(user, item) {
                    break item;
                }
            };
        }
    }

    fn log_probs(&self, user: u32, items: &[u32], out: &mut [f32]) {
        let taken = self.train.items_of(user).iter().filter(|item| self.half.binary_search(item).is_ok());
        let free = (self.half.len() - taken.count()) as f32;
        for (log_prob, item) in out.iter_mut().zip(items) {
            *log_prob = if self.half.binary_search(item).is_ok() { -free.ln() } else { f32::NEG_INFINITY };
        }
    }
}
// ANCHOR_END: sampler

static SAMPLERS: &[Entry] = &[POPULAR_HALF];

fn main() -> Result<(), Box<dyn Error>> {
    let layers = [source_layer("synthetic"), "train = { epochs = 5, negatives = 50 }".parse()?];
    let mut config = Config::from_layers(&layers)?;
    if let Some(gradient) = &mut config.gradient {
        gradient.sampler = SamplerConfig::named("sampler", SAMPLERS, POPULAR_HALF.name);
    }
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    println!("test NDCG@20 {:.4}", fit.outcome.test["NDCG@20"]);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
