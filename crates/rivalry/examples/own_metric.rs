//! A metric of your own, measured on the lists of a model: the share of users whose first item is right.
//!
//! `cargo run --release -p rivalry --example own_metric`

use std::error::Error;

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, LoadOptions};
use rivalry::eval::{Judged, MetricEntry};
use rivalry::ranker::{Filter, Known, Ranker};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

// ANCHOR: metric
const FIRST: MetricEntry = MetricEntry {
    name: "first",
    label: "First",
    summary: "1 if the first item is right, else 0",
    measure: |list: &Judged<'_>| f64::from(list.hits.first() == Some(&true)),
};
// ANCHOR_END: metric

fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::from_layers(&[source_layer("synthetic"), "model.type = 'ease'".parse()?])?;
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    let ranker = Ranker::new(fit.into_model(&dataset, config))?;

    // ANCHOR: measure
    let users: Vec<u32> =
        (0..dataset.users.len() as u32).filter(|&u| !dataset.test.items_of(u).is_empty()).collect();
    // Training and validation items are left out, as in an evaluation; test items must stay candidates.
    let filter = Filter { known: Known::TrainValid, ..Filter::default() };
    let lists = ranker.recommend(&users, 20, &filter)?;
    let values = users.iter().enumerate().map(|(n, &user)| {
        let hits: Vec<bool> = lists.items(n).iter().map(|&item| dataset.test.contains(user, item)).collect();
        (FIRST.measure)(&Judged { hits: &hits, held_out: dataset.test.items_of(user).len(), k: 20 })
    });
    println!("{} {:.4}", FIRST.label, values.sum::<f64>() / users.len() as f64);
    // ANCHOR_END: measure
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
