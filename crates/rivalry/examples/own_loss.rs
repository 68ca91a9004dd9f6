//! A loss of your own, in your own crate: the squared hinge `mean_j max(0, margin + f_j - f_i)²`.
//!
//! `cargo run --release -p rivalry --example own_loss`

use std::error::Error;

use rivalry::Real;
use rivalry::config::{Config, source_layer};
use rivalry::data::{self, LoadOptions};
use rivalry::loss::{
    About, Build, Defaults, Entry, GradientBuffers, Loss, LossConfig, Phase, Row, RowGradient, RowLoss,
};
use rivalry::params::{Param, Range, Search, Value};
use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};

// ANCHOR: loss
const MARGIN: Param = Param {
    name: "margin",
    doc: "how far the positive should be above each negative",
    default: Value::Number(0.5),
    range: Range::Positive,
    search: Search::listed(&[0.25, 0.5, 1.0]),
};

const SQUARED_HINGE: Entry = Entry {
    name: "squared-hinge",
    summary: "squared hinge: pairs that are apart by the margin have no gradient",
    params: &[MARGIN],
    build: Build {
        loss: |params| Box::new(SquaredHinge { margin: params.number(MARGIN.name) }),
        defaults: Defaults::COSINE,
        about: About {
            formula: "mean_j max(0, margin + f_j - f_i)²",
            use_when: "to see how a loss is written",
        },
    },
};

struct SquaredHinge {
    margin: f64,
}

// For any precision: training runs in f32, checks run in f64.
impl<T: Real> RowLoss<T> for SquaredHinge {
    fn gradient(&self, _: Phase, row: Row<'_, T>, _: T, grads: GradientBuffers<'_, T>) -> RowGradient<T> {
        let share = T::of(1.0 / row.negatives.len() as f64);
        let mut sum = RowGradient { value: T::zero(), positive: T::zero() };
        for (&f, grad) in row.negatives.iter().zip(grads.negatives) {
            let missing = (T::of(self.margin) + f - row.positive).max(T::zero());
            *grad = T::of(2.0) * share * missing;
            sum.value = sum.value + share * missing * missing;
            sum.positive = sum.positive - *grad;
        }
        sum
    }
}

impl Loss for SquaredHinge {}
// ANCHOR_END: loss

// ANCHOR: use
/// A list of your own takes the place of `rivalry::loss::LOSSES`.
static LOSSES: &[Entry] = &[SQUARED_HINGE];

fn main() -> Result<(), Box<dyn Error>> {
    let layers = [source_layer("synthetic"), "train = { epochs = 5, negatives = 50 }".parse()?];
    let mut config = Config::from_layers(&layers)?;
    if let Some(gradient) = &mut config.gradient {
        let section = "type = 'squared-hinge'\nmargin = 0.5".parse()?;
        gradient.loss = LossConfig::from_table("loss", LOSSES, &section)?;
    }
    let dataset = data::load(&config.data, &LoadOptions::default(), &mut |_| {})?;
    let fitted = train::fit(&dataset, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
    let Fitted::Done(fit) = fitted else { return Ok(()) };
    println!("validation NDCG@20 {:.4}", fit.outcome.valid.as_ref().map_or(0.0, |valid| valid["NDCG@20"]));
    println!("test       NDCG@20 {:.4}", fit.outcome.test["NDCG@20"]);
    Ok(())
}
// ANCHOR_END: use

// ANCHOR: check
/// The gradient agrees with finite differences.
#[test]
fn gradient() {
    let loss = SquaredHinge { margin: 0.5 };
    let value = |scores: &[f64], grads: &mut [f64]| {
        let row =
            Row { user: 0, positive: scores[0], negatives: &scores[1..], features: &[], log_probs: &[] };
        loss.gradient(Phase::Model, row, 1.0, GradientBuffers { negatives: grads, params: &mut [] })
    };
    let scores = [0.3, 0.1, -0.4, 0.6];
    let mut grads = [0.0; 3];
    let positive = value(&scores, &mut grads).positive;
    for (n, gradient) in [positive].into_iter().chain(grads).enumerate() {
        let moved = |by: f64| {
            let mut scores = scores;
            scores[n] += by;
            value(&scores, &mut [0.0; 3]).value
        };
        assert!(((moved(1e-6) - moved(-1e-6)) / 2e-6 - gradient).abs() < 1e-8, "score {n}");
    }
}
// ANCHOR_END: check

#[test]
fn runs() {
    main().unwrap();
}
