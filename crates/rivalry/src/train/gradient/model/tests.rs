//! What a step sees, what an evaluation sees, and which way the tables move.

use rivalry_kernels::Matrix;

use super::*;
use crate::data::Interactions;
use crate::models::{MODELS, ModelConfig};
use crate::optim::{OPTIMIZERS, OptimConfig, Size, Touched};

/// All users, and any item.
const ALL: Touched<'static> = Touched { users: Some(&[0, 1, 2, 3, 4]), items: None };

fn start() -> Embeddings {
    let table =
        |rows, seed| Matrix::from_fn(rows, 6, |r, c| ((r * 7 + c * 3 + seed) as f32 * 0.61).sin() + 0.1);
    Embeddings { users: table(5, 1), items: table(8, 2) }
}

fn model(section: &str, score: Score) -> EmbeddingModel {
    let pairs = (0..5).flat_map(|u| (0..8).filter(move |i| (u + i * i) % 3 == 0).map(move |i| (u, i)));
    let train = Interactions::from_pairs(5, 8, pairs);
    let config = ModelConfig::from_table("model", MODELS, &section.parse().unwrap()).unwrap();
    EmbeddingModel::new(config.backbone(&train).unwrap(), score, start())
}

fn optimizer(section: &str) -> Box<dyn Optimizer> {
    let config = OptimConfig::from_table("optim", OPTIMIZERS, &section.parse().unwrap()).unwrap();
    config.build(Size { users: 5, items: 8, dim: 6 })
}

/// A step for two of the users.
fn step(seed: u64, number: u64) -> Step<'static> {
    Step { touched: Touched { users: Some(&[1, 3]), items: None }, seed, number }
}

/// Plain gradient descent by Adam: with β = 0 and a huge ε, its step is `-lr/ε · g`.
fn descend(model: &mut EmbeddingModel, grads: &Embeddings) {
    let mut adam = optimizer("type = 'adam'\nlr = 1e12\nbeta1 = 0\nbeta2 = 0\nepsilon = 1e12");
    model.apply(&mut grads.clone(), ALL, &mut *adam);
}

#[test]
fn without_layers_a_graph_is_matrix_factorisation_to_the_bit() {
    for score in [Score::Cosine, Score::Dot] {
        for name in ["lightgcn", "lightgcn++"] {
            let mut none = model(&format!("type = '{name}'\nlayers = 0"), score);
            let mut mf = model("type = 'mf'", score);
            for model in [&mut none, &mut mf] {
                descend(model, &start());
            }
            assert_eq!(none.embeddings(), mf.embeddings());
            assert_eq!(none.learned(), mf.learned());
        }
    }
}

#[test]
fn a_step_sees_noise_and_an_evaluation_does_not() {
    let mut noisy = model("type = 'xsimgcl'", Score::Cosine);
    let evaluated = noisy.embeddings().clone();
    noisy.forward(step(1, 1));
    let first = noisy.scored().clone();
    assert!(noisy.auxiliary_loss(&[0, 1], &[2, 3]) > 0.0);
    noisy.forward(step(1, 2));
    assert!(evaluated != first && first != *noisy.scored());
    assert_eq!(*noisy.embeddings(), evaluated);

    let mut plain = model("type = 'lightgcn'", Score::Cosine);
    let before = plain.embeddings().clone();
    plain.forward(step(1, 1));
    assert_eq!(plain.auxiliary_loss(&[0], &[0]), 0.0);
    assert_eq!(*plain.embeddings(), before);
}

/// There is no way to see the rows of a step, or of a step ago, in an evaluation.
#[test]
fn an_evaluation_after_a_step_sees_what_was_learned() {
    for name in ["lightgcn", "lightgcn++", "xsimgcl"] {
        let section = format!("type = '{name}'");
        let mut trained = model(&section, Score::Cosine);
        trained.forward(step(1, 1));
        descend(&mut trained, &start());
        trained.forward(step(1, 2));
        let mut fresh = model(&section, Score::Cosine);
        fresh.learned = trained.learned().clone();
        fresh.refresh();
        assert_eq!(trained.embeddings(), fresh.embeddings(), "{name}");
        assert_eq!(trained.propagated(), fresh.propagated(), "{name}");
    }
}

/// The auxiliary loss is one of the propagated rows: whether these are normalised for the score makes no difference.
#[test]
fn the_auxiliary_loss_moves_the_tables_alike_whatever_the_score() {
    let moved = |score| {
        let mut model = model("type = 'xsimgcl'\nlambda = 3.0", score);
        model.forward(step(1, 1));
        model.auxiliary_loss(&[0, 1, 3], &[2, 3, 5]);
        descend(&mut model, &Embeddings::zeros(5, 8, 6));
        model.learned().clone()
    };
    assert_ne!(moved(Score::Dot), start());
    assert_eq!(moved(Score::Cosine), moved(Score::Dot));
}

#[test]
fn lazy_adam_moves_the_rows_with_a_gradient_as_adam_does_and_no_others() {
    for score in [Score::Cosine, Score::Dot] {
        let two_steps = |name: &str| {
            let mut model = model("type = 'mf'", score);
            let mut adam = optimizer(&format!("type = '{name}'"));
            let mut grads = start();
            model.apply(&mut grads, ALL, &mut *adam);
            let between = model.learned().clone();
            grads.users.row_mut(2)[3] = 0.5;
            model.apply(&mut grads, ALL, &mut *adam);
            assert_eq!(grads, Embeddings::zeros(5, 8, 6));
            (between, model.learned().clone(), model.embeddings().clone())
        };
        let (between, dense, dense_scored) = two_steps("adam");
        let (same, lazy, lazy_scored) = two_steps("lazy-adam");
        assert_eq!(between, same, "every row had a gradient in the first step");
        for user in 0..5 {
            assert_ne!(dense.users.row(user), between.users.row(user), "momentum moves user {user}");
            let expected = if user == 2 { &dense } else { &between };
            assert_eq!(lazy.users.row(user), expected.users.row(user));
        }
        assert_eq!(lazy.items, between.items);
        assert_eq!(lazy_scored.users.row(2), dense_scored.users.row(2));
    }
}

/// Over many steps in which other users have a gradient: whoever is not listed moves as with a gradient of zeros.
#[test]
fn users_that_are_not_listed_move_as_with_a_gradient_of_zeros_to_the_bit() {
    for (score, weight_decay) in [(Score::Cosine, 0.0), (Score::Cosine, 0.01), (Score::Dot, 0.01)] {
        let after = |listed: fn(u32) -> Vec<u32>| {
            let mut model = model("type = 'mf'", score);
            let mut adam = optimizer(&format!("type = 'adam'\nweight_decay = {weight_decay}"));
            for t in 0..100 {
                let mut grads = Embeddings { users: Matrix::zeros(5, 6), items: start().items };
                grads.users.row_mut(t as usize % 4)[1] = (t as f32).sin();
                let touched = Touched { users: Some(&listed(t)), items: None };
                model.apply(&mut grads, touched, &mut *adam);
                assert_eq!(grads, Embeddings::zeros(5, 8, 6));
            }
            (model.learned().clone(), model.embeddings().clone(), adam.state().to_owned())
        };
        assert_eq!(after(|t| vec![t % 4]), after(|_| vec![0, 1, 2, 3, 4]));
    }
}

/// Rows catch up before they get a gradient, and at the end: the trajectory is Adam's, over a thousand steps.
#[test]
fn deferred_adam_keeps_the_trajectory_of_adam() {
    for (score, schedule) in [(Score::Cosine, "constant"), (Score::Dot, "cosine")] {
        let after = |deferred: bool, gathered: bool, restored_at: Option<usize>| {
            let section = format!("type = 'adam'\nlr = 0.01\nschedule = '{schedule}'\ndeferred = {deferred}");
            let mut model = model("type = 'mf'", score);
            let mut adam = optimizer(&section);
            for t in 0..1000usize {
                if restored_at == Some(t) {
                    let state = adam.state().to_owned();
                    adam = optimizer(&section);
                    assert!(adam.restore(state));
                }
                // Rows are touched after very different numbers of steps, the last ones only once.
                let touched = |n: usize| -> Vec<u32> {
                    (0..n).filter(|row| t % (row * row * 7 + 1) == row % 5).map(|row| row as u32).collect()
                };
                let (users, items) = (touched(5), touched(8));
                let touched = Touched { users: Some(&users), items: Some(&items) };
                let mut grads = Embeddings::zeros(5, 8, 6);
                adam.scale_lr(if t < 500 { 1.0 } else { 0.5 });
                match gathered {
                    true => model.gather(&mut grads, [&users, &items], &mut *adam),
                    false => model.catch_up(&mut grads, touched, &mut *adam),
                }
                for (table, rows) in grads.tables_mut().into_iter().zip([&users, &items]) {
                    for (place, &row) in rows.iter().enumerate() {
                        let wave = |c: usize| ((t * 13 + row as usize * 5 + c) as f32 * 0.7).sin() + 0.3;
                        let place = if gathered { place } else { row as usize };
                        table.row_mut(place).iter_mut().enumerate().for_each(|(c, g)| *g = wave(c));
                    }
                }
                if gathered {
                    model.apply_gathered(&mut grads, [&users, &items], &mut *adam);
                } else {
                    model.apply(&mut grads, touched, &mut *adam);
                    assert_eq!(grads, Embeddings::zeros(5, 8, 6));
                }
                if t % 300 == 299 {
                    model.catch_up(&mut Embeddings::zeros(5, 8, 6), Touched::default(), &mut *adam);
                }
            }
            model.catch_up(&mut Embeddings::zeros(5, 8, 6), Touched::default(), &mut *adam);
            (model.learned().clone(), model.embeddings().clone(), adam.state().to_owned())
        };
        let (dense, deferred) = (after(false, false, None), after(true, false, None));
        assert_eq!(deferred, after(true, false, Some(250)), "a restored state goes on with the same bits");
        assert_eq!(deferred, after(true, true, None), "rows that are gathered have the same bits");
        assert_eq!(deferred.2.steps, 1000);
        let tables = |run: &(Embeddings, Embeddings, crate::optim::OptimizerState)| {
            let state = run.2.tables.values().cloned();
            [run.0.clone(), run.1.clone()].into_iter().chain(state).collect::<Vec<_>>()
        };
        for (dense, deferred) in tables(&dense).iter().zip(&tables(&deferred)) {
            for (dense, deferred) in dense.tables().into_iter().zip(deferred.tables()) {
                for (a, b) in dense.to_dense().into_iter().zip(deferred.to_dense()) {
                    assert!((a - b).abs() < 2e-5 * a.abs().max(0.1), "{a} {b}");
                }
            }
        }
        assert_ne!(dense.0, start());
    }
}

#[test]
fn a_deferred_state_with_rows_behind_is_no_state_of_adam() {
    let mut model = model("type = 'mf'", Score::Cosine);
    let (mut deferred, mut dense) = (optimizer("type = 'adam'\ndeferred = true"), optimizer("type = 'adam'"));
    let mut grads = start();
    model.apply(&mut grads, Touched { users: Some(&[0, 1, 2, 3, 4]), items: None }, &mut *deferred);
    let touched = Touched { users: Some(&[1]), items: None };
    model.apply(&mut grads, touched, &mut *deferred);
    assert!(!dense.restore(deferred.state().to_owned()), "rows are behind");
    model.catch_up(&mut grads, Touched::default(), &mut *deferred);
    assert!(dense.restore(deferred.state().to_owned()), "all rows are up to date");
    assert!(deferred.restore(dense.state().to_owned()));
}
