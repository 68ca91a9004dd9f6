//! Steps of a model with a prior: its scores, and the gradients of its loss.

use super::{Batch, GradientStep};
use crate::Matrix;
use crate::backbone::{Embeddings, Score, plain};
use crate::data::{Dataset, Interactions, Parts};
use crate::loss::{LOSSES, LossConfig, Phase};
use crate::optim::{OPTIMIZERS, OptimConfig};
use crate::sampler::{SAMPLERS, SamplerConfig};
use crate::train::gradient::{EmbeddingModel, OptimizedModel};

const PRIOR: [f32; 9] = [0.9, -0.4, 0.3, 0.0, 0.7, -0.2, 0.1, -0.8, 0.5];

fn table(rows: usize, salt: usize) -> Matrix {
    Matrix::from_fn(rows, 5, |r, c| ((r * 7 + c * 3 + salt) as f32 * 0.61).sin() + 0.1)
}

fn dataset() -> Dataset {
    let train =
        Interactions::from_pairs(4, 9, [(0, 0), (0, 4), (1, 2), (1, 7), (2, 4), (2, 8), (3, 0), (3, 5)]);
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
    let empty = || Interactions::empty(4, 9);
    Dataset::new("test", ids(4), ids(9), Parts { train, valid: empty(), test: empty() }, vec![]).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// One negative for each pair, by every way to score it: the loss is that of the definition, and a step of plain descent goes
/// along its gradient.
#[test]
fn the_prior_is_in_the_scores_and_has_no_gradient() {
    let (data, tau) = (dataset(), 0.3);
    let (users, items) = ([0, 1, 2, 3], [4, 2, 8, 0]);
    let batch = Batch { users: &users, items: &items, train: &data.train, epoch: 0, batch: 0, seed: 0 };
    let negatives = [1, 3, 5, 6];
    let start = Embeddings { users: table(4, 1), items: table(9, 6) };
    let value = |tables: &Embeddings| -> f64 {
        let score = |user: u32, item: u32| {
            cosine(tables.users.row(user as usize), tables.items.row(item as usize))
                + f64::from(PRIOR[item as usize])
        };
        let loss = |row: usize| (score(users[row], negatives[row]) - score(users[row], items[row])) / tau;
        (0..4).map(loss).sum::<f64>() / 4.0
    };
    let descent = "type = 'adam'\nlr = 1e12\nbeta1 = 0\nbeta2 = 0\nepsilon = 1e12".parse().unwrap();
    let descent = OptimConfig::from_table("optim", OPTIMIZERS, &descent).unwrap();
    let loss = LossConfig::from_table("loss", LOSSES, &format!("type = 'sl'\ntau = {tau}").parse().unwrap())
        .unwrap();
    let sampler = SamplerConfig::named("sampler", SAMPLERS, "uniform").build(&data, 1).unwrap();
    let model = EmbeddingModel::new(plain(), Score::Cosine, start.clone()).with_prior(Some(PRIOR.to_vec()));
    let mut step = GradientStep::new(loss.build(), OptimizedModel::new(model, &descent), None, &*sampler, 1);
    let draw = |row: usize, out: &mut [u32]| out.fill(negatives[row]);
    let found = step.draw_with(batch, &*sampler, &draw).forward(Phase::Model).score().loss().unwrap().mean();
    assert!((found - value(&start)).abs() < 1e-5, "{found} {}", value(&start));
    step.step_with(batch, &*sampler, &draw).unwrap();
    let after = step.model().model().learned();
    for (which, (table, after)) in start.tables().into_iter().zip(after.tables()).enumerate() {
        for (row, c) in (0..table.rows()).flat_map(|row| (0..5).map(move |c| (row, c))) {
            let shifted = |h: f32| {
                let mut tables = start.clone();
                tables.tables_mut()[which].row_mut(row)[c] += h;
                value(&tables)
            };
            let slope = (shifted(1e-2) - shifted(-1e-2)) / 2e-2;
            let found = f64::from(table.row(row)[c] - after.row(row)[c]);
            assert!((found - slope).abs() < 2e-3, "{which} {row} {c}: {found} {slope}");
        }
    }
}

/// Quantiles of SL@K are of scores with the prior: with one that outweighs all cosines, the prior alone decides them.
#[test]
fn quantiles_have_the_prior() {
    let data = dataset();
    let (users, items) = ([0, 2], [4, 8]);
    let batch = Batch { users: &users, items: &items, train: &data.train, epoch: 0, batch: 0, seed: 0 };
    let loss = "type = 'sl@k'\nk = 1\nrefresh_every = 1".parse().unwrap();
    let loss = LossConfig::from_table("loss", LOSSES, &loss).unwrap();
    let sampler = SamplerConfig::named("sampler", SAMPLERS, "uniform").build(&data, 1).unwrap();
    let prior: Vec<f32> = (0..9).map(|item| 100.0 * item as f32).collect();
    let model =
        EmbeddingModel::new(plain(), Score::Cosine, Embeddings { users: table(4, 1), items: table(9, 6) });
    let optim = OptimConfig::named("optim", OPTIMIZERS, "adam");
    let model = OptimizedModel::new(model.with_prior(Some(prior)), &optim);
    let mut step = GradientStep::new(loss.build(), model, None, &*sampler, 1);
    // User 0 has item 4 and draws 1, user 2 has items 4 and 8 and draws 7.
    step.step_with(batch, &*sampler, &|row, out| out.fill([1, 7][row])).unwrap();
    let state = step.loss_state();
    let quantiles = &state["quantiles"];
    assert!((quantiles[0] - 400.0).abs() < 2.0 && (quantiles[2] - 800.0).abs() < 2.0, "{quantiles:?}");
}
