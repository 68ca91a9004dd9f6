//! A model of your own without gradients: items by how often they occur together with those of the user.
//!
//! `cargo run --release -p rivalry --example own_model`

use std::error::Error;

use rivalry::config::{Config, source_layer};
use rivalry::data::{self, Interactions, LoadOptions};
use rivalry::models::{ClosedForm, Entry, FitContext, Kind, ModelConfig};
use rivalry::scorer::{ItemBlock, Query, ReferenceScores, Scorer};
use rivalry::tensors::Tensors;
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};
use rivalry::{Matrix, Result};

// ANCHOR: model
const TOGETHER: Entry = Entry {
    name: "together",
    summary: "items that occur together with those of the user, counted",
    params: &[],
    build: Kind::ClosedForm(|_| Box::new(Together)),
};

struct Together;

impl ClosedForm for Together {
    fn memory(&self, train: &Interactions) -> u64 {
        (train.n_items() as u64).pow(2) * 4
    }

    fn fit(&self, train: &Interactions, context: &mut FitContext<'_>) -> Result<Option<Tensors>> {
        let mut counts = Matrix::zeros(train.n_items(), train.n_items());
        for user in 0..train.n_users() {
            let items = train.items_of(user as u32);
            for &item in items {
                let row = counts.row_mut(item as usize);
                items.iter().filter(|&&other| other != item).for_each(|&other| row[other as usize] += 1.0);
            }
            if !context.go_on(user + 1, train.n_users()) {
                return Ok(None);
            }
        }
        let mut tensors = Tensors::default();
        tensors.put_matrix("counts", &counts);
        Ok(Some(tensors))
    }

    fn scorer(&self, tensors: &Tensors, train: &Interactions) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(TogetherScorer { counts: tensors.get_matrix("counts")?, train: train.clone() }))
    }
}

struct TogetherScorer {
    counts: Matrix,
    train: Interactions,
}

impl Scorer for TogetherScorer {
    fn n_users(&self) -> usize {
        self.train.n_users()
    }

    fn n_items(&self) -> usize {
        self.counts.rows()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Histories(self.train.gather_users(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        Query::Histories(histories.clone())
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        let Query::Histories(histories) = query else { panic!("a query of another model") };
        out.resize(histories.n_users(), items.len());
        for user in 0..histories.n_users() {
            let known = histories.items_of(user as u32);
            for (score, item) in out.row_mut(user).iter_mut().zip(items.iter()) {
                *score = known.iter().map(|&other| self.counts.row(item as usize)[other as usize]).sum();
            }
        }
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let known = self.train.items_of(user);
        let count =
            |item: usize| known.iter().map(|&other| f64::from(self.counts.row(item)[other as usize])).sum();
        // Sums of whole numbers below 2²⁴ are exact in f32.
        ReferenceScores { scores: (0..self.n_items()).map(count).collect(), rounding: 0.0 }
    }
}
// ANCHOR_END: model

static MODELS: &[Entry] = &[TOGETHER];

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let layers = [source_layer("synthetic"), "model.type = 'popularity'".parse()?];
    let popularity = Config::from_layers(&layers)?;
    let together = Config { model: ModelConfig::named("model", MODELS, TOGETHER.name), ..popularity.clone() };
    let dataset = data::load(&popularity.data, &LoadOptions::default(), &mut |_| {})?;
    for config in [popularity, together] {
        let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
        let Fitted::Done(fit) = fitted else { return Ok(()) };
        println!("{:10} test NDCG@20 {:.4}", config.model.name(), fit.outcome.test["NDCG@20"]);
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
