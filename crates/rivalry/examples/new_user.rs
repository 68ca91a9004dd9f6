//! Recommendations for a user that the model has never seen, from the items they like.
//!
//! `cargo run --release -p rivalry --example new_user`

use std::error::Error;

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, Interactions, LoadOptions};
use rivalry::ranker::{Filter, Ranker};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

fn main() -> Result<(), Box<dyn Error>> {
    // For production: no test set, everything is training data.
    let settings = "train = { epochs = 5, negatives = 50 }\ndata.prepare.split.type = 'none'".parse()?;
    let config = Config::from_layers(&[source_layer("synthetic"), settings])?;
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    let ranker = Ranker::new(fit.into_model(&dataset, config))?;

    let items = &ranker.model().items;
    let liked: Vec<u32> =
        ["item-0012", "item-0040", "item-0101"].iter().filter_map(|id| items.dense(id)).collect();
    let history = Interactions::from_pairs(1, items.len(), liked.iter().map(|&item| (0, item)));
    let lists = ranker.recommend_new(&history, 5, &Filter::default())?;
    for (&item, score) in lists.items(0).iter().zip(lists.scores(0)) {
        println!("{:10} {score:.4}", items.original(item));
    }
    assert!(liked.iter().all(|item| !lists.items(0).contains(item)), "known items are left out");
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
