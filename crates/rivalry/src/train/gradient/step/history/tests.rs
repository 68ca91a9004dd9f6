//! Queries of pairs and their gradients, against loops in `f64` and finite differences; the same through whole steps.

use super::*;
use crate::backbone::{Users, plain};
use crate::data::{Dataset, Parts};
use crate::loss::{LOSSES, LossConfig, Phase};
use crate::optim::{OPTIMIZERS, OptimConfig};
use crate::sampler::{SAMPLERS, SamplerConfig};
use crate::train::gradient::{EmbeddingModel, GradientStep, OptimizedModel};

const DIM: usize = 6;

/// User 3 has one item, user 5 none; item 8 has no user.
fn train() -> Interactions {
    let pairs = (0..5).flat_map(|u| (0..8).filter(move |i| (u * 3 + i * 5) % 4 < 2).map(move |i| (u, i)));
    let pairs = pairs.filter(|&(user, item)| user != 3 || item == 1).chain([(3, 1)]);
    Interactions::from_pairs(6, 9, pairs)
}

fn tables(salt: usize) -> Embeddings {
    let table =
        |rows, salt| Matrix::from_fn(rows, DIM, |r, c| ((r * 7 + c * 3 + salt) as f32 * 0.61).sin() + 0.1);
    Embeddings { users: table(6, salt), items: table(9, salt + 5) }
}

fn f64s(table: &Matrix) -> Vec<Vec<f64>> {
    (0..table.rows()).map(|row| table.row(row).iter().map(|&x| x.into()).collect()).collect()
}

/// The query of a pair by its definition.
fn query(users: &[Vec<f64>], items: &[Vec<f64>], pair: (u32, u32), weight: f64, score: Score) -> Vec<f64> {
    let train = train();
    let others: Vec<u32> = train.items_of(pair.0).iter().copied().filter(|&item| item != pair.1).collect();
    let mut query: Vec<f64> = users[pair.0 as usize].iter().map(|x| weight * x).collect();
    if !others.is_empty() {
        for (c, x) in query.iter_mut().enumerate() {
            *x += others.iter().map(|&item| items[item as usize][c]).sum::<f64>() / others.len() as f64;
            *x -= items.iter().map(|row| row[c]).sum::<f64>() / items.len() as f64;
        }
    }
    let length = query.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length = if score == Score::Cosine && length > 0.0 { length } else { 1.0 };
    query.into_iter().map(|x| x / length).collect()
}

#[test]
fn queries_and_gradients_agree_with_the_definition() {
    let train = train();
    // A user twice with different items, one without others, and an item that is not the user's.
    let (users, items) = ([2, 0, 2, 3, 4, 0], [2, 1, 6, 1, 4, 8]);
    assert!(
        !train.contains(0, 8) && users.iter().zip(items).filter(|(u, i)| train.contains(**u, *i)).count() > 3
    );
    let batch = Batch { users: &users, items: &items, train: &train, epoch: 0, batch: 0, seed: 0 };
    let (scored, wanted) = (tables(1), Matrix::from_fn(6, DIM, |r, c| ((r * 5 + c) as f32 * 0.37).cos()));
    for (score, weight) in [(Score::Cosine, 0.0), (Score::Cosine, 0.7), (Score::Dot, 0.0), (Score::Dot, 0.7)]
    {
        let mut history = History::new(score, weight);
        let pairs = || users.into_iter().zip(items);
        let value = |users: &[Vec<f64>], items: &[Vec<f64>]| -> f64 {
            let queries = pairs().map(|pair| query(users, items, pair, f64::from(weight), score));
            let products = queries.zip(f64s(&wanted)).flat_map(|(q, y)| q.into_iter().zip(y));
            products.map(|(q, y)| q * y).sum()
        };
        let mut rows = BatchRows::default();
        rows.set(batch, 0, false);
        assert_eq!(rows.distinct_users, [0, 2, 3, 4]);
        history.forward(&scored, &rows, batch);
        let (of_users, of_items) = (f64s(&scored.users), f64s(&scored.items));
        for (row, pair) in pairs().enumerate() {
            let expected = query(&of_users, &of_items, pair, f64::from(weight), score);
            let found = history.queries(&scored.items).of.row(row);
            assert!(found.iter().zip(&expected).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6), "{row}");
        }
        let (mut grads, mut query_grads) = (Embeddings::zeros(6, 9, DIM), wanted.clone());
        history.backward(&rows, batch, 0.5, &mut query_grads, &mut grads);
        for (which, table) in grads.tables().into_iter().enumerate() {
            for row in 0..table.rows() {
                for c in 0..DIM {
                    let shifted = |h: f64| {
                        let mut tables = [of_users.clone(), of_items.clone()];
                        tables[which][row][c] += h;
                        value(&tables[0], &tables[1])
                    };
                    let expected = 0.5 * (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                    let found = f64::from(table.row(row)[c]);
                    assert!((found - expected).abs() < 1e-5, "{score:?} {weight}: {found} {expected}");
                }
            }
        }
    }
}

/// The loss of a step along a line through the learned tables has the slope that the gradients say, however negatives are
/// scored.
#[test]
fn steps_descend_along_the_gradient_of_their_loss() {
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
    let empty = || Interactions::empty(6, 9);
    let parts = Parts { train: train(), valid: empty(), test: empty() };
    let data = Dataset::new("test", ids(6), ids(9), parts, vec![]).unwrap();
    let (users, items) = ([2, 0, 2, 3, 4, 0], [2, 1, 6, 1, 4, 4]);
    let batch = Batch { users: &users, items: &items, train: &data.train, epoch: 0, batch: 0, seed: 3 };
    let (start, along) = (tables(1), tables(9));
    let descent = "type = 'adam'\nlr = 1e12\nbeta1 = 0\nbeta2 = 0\nepsilon = 1e12".parse().unwrap();
    let descent = OptimConfig::from_table("optim", OPTIMIZERS, &descent).unwrap();
    let prior = || Some((0..9).map(|item| item as f32 * 0.1).collect());
    for (score, user_weight, prior) in
        [(Score::Cosine, 0.0, None), (Score::Cosine, 0.7, prior()), (Score::Dot, 0.7, None)]
    {
        for (sampler, n) in [("uniform", 2), ("uniform", 8), ("shared", 4)] {
            let sampler = SamplerConfig::named("sampler", SAMPLERS, sampler).build(&data, n).unwrap();
            let step = |h: f32| {
                let moved = |start: &Matrix, along: &Matrix| {
                    Matrix::from_fn(start.rows(), DIM, |r, c| start.row(r)[c] + h * along.row(r)[c])
                };
                let mut learned = Embeddings {
                    users: moved(&start.users, &along.users),
                    items: moved(&start.items, &along.items),
                };
                if user_weight == 0.0 {
                    learned.users = Matrix::zeros(0, DIM);
                }
                let model = EmbeddingModel::new(plain(), score, learned);
                let model = model.with_users(Users::Items { user_weight }).with_prior(prior.clone());
                let model = OptimizedModel::new(model, &descent);
                let loss = LossConfig::named("loss", LOSSES, "sl").build();
                GradientStep::new(loss, model, None, &*sampler, n)
            };
            let loss =
                |h: f32| step(h).draw(batch, &*sampler).forward(Phase::Model).score().loss().unwrap().mean();
            let h = 2e-3;
            let slope = (loss(h) - loss(-h)) / (2.0 * f64::from(h));
            let mut moved = step(0.0);
            moved.step(batch, &*sampler).unwrap();
            let after = moved.model().model().learned();
            let tables = start.tables().into_iter().zip(after.tables()).zip(along.tables());
            let products =
                tables.filter(|((_, after), _)| after.rows() > 0).flat_map(|((before, after), along)| {
                    before.to_dense().into_iter().zip(after.to_dense()).zip(along.to_dense())
                });
            let expected: f64 = products.map(|((b, a), v)| f64::from(b - a) * f64::from(v)).sum();
            assert!(
                (slope - expected).abs() < 1e-2 * (1.0 + slope.abs()),
                "{score:?} {n}: {slope} {expected}"
            );
        }
    }
}
