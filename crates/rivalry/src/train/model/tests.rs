//! What a step sees, what an evaluation sees, and which way the tables move.

use rivalry_kernels::Matrix;

use super::*;
use crate::backbone;
use crate::data::Interactions;
use crate::train::AdamConfig;

/// All users.
const ALL: [u32; 5] = [0, 1, 2, 3, 4];

fn start() -> Embeddings {
    let table =
        |rows, seed| Matrix::from_fn(rows, 6, |r, c| ((r * 7 + c * 3 + seed) as f32 * 0.61).sin() + 0.1);
    Embeddings { users: table(5, 1), items: table(8, 2) }
}

fn model(backbone: &str, score: Score) -> Model {
    let pairs = (0..5).flat_map(|u| (0..8).filter(move |i| (u + i * i) % 3 == 0).map(move |i| (u, i)));
    let train = Interactions::from_pairs(5, 8, pairs);
    Model::new(backbone::build(&backbone.parse().unwrap(), &train).unwrap(), score, start())
}

/// A step for two of the users.
fn step(seed: u64, number: u64) -> Step<'static> {
    Step { users: &[3, 1], seed, number }
}

/// Plain descent through Adam's door: with β = 0 and a huge ε, Adam's step is `-lr/ε · g`.
fn descend(model: &mut Model, grads: &Embeddings) {
    let mut optim = AdamState::new(5, 8, 6);
    let config =
        AdamConfig { lr: 1e12, weight_decay: 0.0, beta1: 0.0, beta2: 0.0, epsilon: 1e12, lazy: false };
    let step = optim.next(&config);
    model.update(&mut grads.clone(), &ALL, &mut optim, &step, config.lazy);
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
            assert_eq!((none.scored(), none.learned()), (mf.scored(), mf.learned()));
        }
    }
}

#[test]
fn a_step_sees_noise_and_an_evaluation_does_not() {
    let mut noisy = model("type = 'xsimgcl'", Score::Cosine);
    let settled = noisy.scored().clone();
    assert_eq!(noisy.own_loss(&[0, 1], &[2, 3]), 0.0, "no step has begun");
    noisy.begin_step(step(1, 1));
    let first = noisy.scored().clone();
    assert!(noisy.own_loss(&[0, 1], &[2, 3]) > 0.0);
    noisy.begin_step(step(1, 2));
    assert!(settled != first && first != *noisy.scored());
    noisy.settle();
    assert_eq!(*noisy.scored(), settled);

    let mut plain = model("type = 'lightgcn'", Score::Cosine);
    let before = plain.scored().clone();
    plain.begin_step(step(1, 1));
    assert_eq!(plain.own_loss(&[0], &[0]), 0.0);
    assert_eq!(*plain.scored(), before);
}

#[test]
fn an_evaluation_after_a_step_sees_what_was_learned() {
    for name in ["lightgcn", "lightgcn++", "xsimgcl"] {
        let backbone = format!("type = '{name}'");
        let mut trained = model(&backbone, Score::Cosine);
        trained.begin_step(step(1, 1));
        descend(&mut trained, &start());
        trained.begin_step(step(1, 2));
        trained.settle();
        let mut fresh = model(&backbone, Score::Cosine);
        fresh.learned = trained.learned().clone();
        fresh.refresh();
        assert_eq!((trained.scored(), trained.propagated()), (fresh.scored(), fresh.propagated()), "{name}");
    }
}

/// The own loss speaks of the propagated rows: whether these are normalised for the score is nothing to it.
#[test]
fn the_own_loss_moves_the_tables_alike_whatever_the_score() {
    let moved = |score| {
        let mut model = model("type = 'xsimgcl'\nlambda = 3.0", score);
        model.begin_step(step(1, 1));
        model.own_loss(&[0, 1, 3], &[2, 3, 5]);
        descend(&mut model, &Embeddings::zeros(5, 8, 6));
        model.learned().clone()
    };
    assert_ne!(moved(Score::Dot), start());
    assert_eq!(moved(Score::Cosine), moved(Score::Dot));
}

#[test]
fn lazy_adam_moves_the_rows_with_a_gradient_as_adam_does_and_no_others() {
    for score in [Score::Cosine, Score::Dot] {
        let two_steps = |lazy: bool| {
            let mut model = model("type = 'mf'", score);
            let mut optim = AdamState::new(5, 8, 6);
            let config = AdamConfig { lazy, ..AdamConfig::default() };
            let mut grads = start();
            let step = optim.next(&config);
            model.update(&mut grads, &ALL, &mut optim, &step, lazy);
            let between = model.learned().clone();
            grads.users.row_mut(2)[3] = 0.5;
            let step = optim.next(&config);
            model.update(&mut grads, &ALL, &mut optim, &step, lazy);
            assert_eq!(grads, Embeddings::zeros(5, 8, 6));
            (between, model.learned().clone(), model.scored().clone())
        };
        let (between, dense, dense_scored) = two_steps(false);
        let (same, lazy, lazy_scored) = two_steps(true);
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
        let config = AdamConfig { weight_decay, ..AdamConfig::default() };
        let after = |listed: fn(u32) -> Vec<u32>| {
            let mut model = model("type = 'mf'", score);
            let mut optim = AdamState::new(5, 8, 6);
            for t in 0..100 {
                let mut grads = Embeddings { users: Matrix::zeros(5, 6), items: start().items };
                grads.users.row_mut(t as usize % 4)[1] = (t as f32).sin();
                let step = optim.next(&config);
                model.update(&mut grads, &listed(t), &mut optim, &step, false);
                assert_eq!(grads, Embeddings::zeros(5, 8, 6));
            }
            (model.learned().clone(), model.scored().clone(), optim)
        };
        assert_eq!(after(|t| vec![t % 4]), after(|_| ALL.to_vec()));
    }
}
