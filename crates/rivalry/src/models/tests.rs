//! Weights of the item-to-item models against reference values and identities.

use std::ops::ControlFlow;

use super::{FitContext, Kind, MODELS, ModelConfig};
use crate::Result;
use crate::collective::Alone;
use crate::data::Interactions;
use crate::scorer::ItemBlock;
use crate::tensors::Tensors;

/// Twenty users and twelve items in two groups, one user with every item, one without any.
pub(super) fn small_training_set() -> Interactions {
    let pairs = (0..20u32).flat_map(|user| {
        (0..12u32)
            .filter(move |item| match user {
                0 => true,
                1 => false,
                _ => item % 2 == user % 2 && (item * user + 1) % 5 > 0,
            })
            .map(move |item| (user, item))
    });
    Interactions::from_pairs(20, 12, pairs)
}

/// Values of `tests/golden/models.py`.
pub(super) fn golden(name: &str) -> Vec<Vec<f64>> {
    let text = include_str!("../../../../tests/golden/models.json");
    let golden: serde_json::Value = serde_json::from_str(text).unwrap();
    serde_json::from_value(golden[name].clone()).unwrap()
}

fn fit(settings: &str, train: &Interactions) -> Result<Tensors> {
    let config = ModelConfig::from_table("model", MODELS, &settings.parse().unwrap())?;
    let Kind::ClosedForm(build) = config.entry().build else { panic!("{settings}") };
    let mut progress = |_, _| ControlFlow::Continue(());
    let fitted = build(config.params())
        .fit(train, &mut FitContext { seed: 0, progress: &mut progress, collective: &Alone })?;
    Ok(fitted.expect("nobody asked to stop"))
}

/// The item-to-item weights of a model, one row per item.
fn weights(settings: &str, train: &Interactions) -> Vec<Vec<f64>> {
    let config = ModelConfig::from_table("model", MODELS, &settings.parse().unwrap()).unwrap();
    let Kind::ClosedForm(build) = config.entry().build else { panic!("{settings}") };
    let scorer = build(config.params()).scorer(&fit(settings, train).unwrap(), train).unwrap();
    let similarity = scorer.item_similarity().unwrap();
    (0..train.n_items() as u32).map(|item| similarity.reference_scores(item).scores).collect()
}

fn assert_close(found: &[Vec<f64>], expected: &[Vec<f64>], what: &str) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (j, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() < 1e-5, "{what}, {i} {j}: {found} {expected}");
        }
    }
}

#[test]
fn the_weights_agree_with_numpy() {
    let train = small_training_set();
    for (name, settings) in [
        ("ease", "type = 'ease'\nregularization = 2"),
        ("cosine", "type = 'item-knn'\nshrinkage = 2"),
        ("tfidf", "type = 'item-knn'\nweighting = 'tfidf'\nshrinkage = 0"),
        ("bm25", "type = 'item-knn'\nweighting = 'bm25'\nshrinkage = 0"),
        ("rp3beta", "type = 'rp3beta'\nalpha = 0.8\nbeta = 0.4"),
        ("turbo-cf", "type = 'turbo-cf'\nalpha = 0.3\npower = 1.3"),
        // With all items as neighbours it is EASE.
        ("ease", "type = 'fs-slim'\nk = 4096\nregularization = 2"),
    ] {
        assert_close(&weights(settings, &train), &golden(name), settings);
    }
}

#[test]
fn walks_without_damping_are_probabilities() {
    let train = small_training_set();
    let walk = weights("type = 'rp3beta'\nalpha = 1\nbeta = 0", &train);
    for (item, row) in walk.iter().enumerate() {
        // The rest is the probability of a walk back.
        let users = train.transposed();
        let users = users.items_of(item as u32);
        let back: f64 = users.iter().map(|&u| 1.0 / train.items_of(u).len() as f64).sum();
        let sum = row.iter().sum::<f64>() + back / users.len() as f64;
        assert!((sum - 1.0).abs() < 1e-6, "{item}: {sum}");
    }
}

#[test]
fn the_largest_weights_are_kept() {
    let train = small_training_set();
    for name in ["item-knn", "rp3beta", "turbo-cf"] {
        let all = weights(&format!("type = '{name}'\nk = 1000"), &train);
        let three = weights(&format!("type = '{name}'\nk = 3"), &train);
        for (all, three) in all.iter().zip(&three) {
            let mut order: Vec<usize> = (0..all.len()).collect();
            order.sort_by(|&a, &b| all[b].total_cmp(&all[a]).then(a.cmp(&b)));
            for (place, &item) in order.iter().enumerate() {
                assert_eq!(three[item], if place < 3 { all[item] } else { 0.0 }, "{name}");
            }
        }
    }
}

#[test]
fn a_score_is_the_sum_of_the_weights_of_a_users_items_in_any_block() {
    let train = small_training_set();
    for name in ["ease", "item-knn"] {
        let settings = format!("type = '{name}'");
        let weights = weights(&settings, &train);
        let config = ModelConfig::from_table("model", MODELS, &settings.parse().unwrap()).unwrap();
        let Kind::ClosedForm(build) = config.entry().build else { panic!() };
        let scorer = build(config.params()).scorer(&fit(&settings, &train).unwrap(), &train).unwrap();
        for query in [scorer.query(&[0, 1, 7]), scorer.fold_in(&train.gather_users(&[0, 1, 7]))] {
            let (mut all, mut some) = (crate::Matrix::default(), crate::Matrix::default());
            scorer.score(&query, ItemBlock::Range(0..12), &mut all);
            scorer.score(&query, ItemBlock::Ids(&[2, 3, 11]), &mut some);
            for (row, user) in [0, 1, 7].into_iter().enumerate() {
                for (place, item) in [2, 3, 11].into_iter().enumerate() {
                    let own = train.items_of(user);
                    let sum: f64 = own.iter().map(|&other| weights[other as usize][item]).sum();
                    assert!((f64::from(all.row(row)[item]) - sum).abs() < 1e-5, "{name}");
                    assert_eq!(all.row(row)[item], some.row(row)[place], "{name}");
                }
            }
        }
    }
}

#[test]
fn parameters_out_of_range_and_weights_that_overflow_are_refused() {
    let train = small_training_set();
    for (settings, expected) in [
        ("type = 'ease'\nregularization = 0", "model.regularization: expected a number > 0, found 0"),
        ("type = 'ease'\nregularization = -3", "model.regularization: expected a number > 0"),
        ("type = 'fs-slim'\nregularization = 1e39", "model.regularization: XᵀX + "),
        ("type = 'item-knn'\nk = 0", "model.k: expected a whole number in [1, 1000000], found 0"),
        ("type = 'item-knn'\nweighting = 'bm26'", "did you mean 'bm25'?"),
        ("type = 'item-knn'\nk1 = 1e300\nb = 0\nweighting = 'bm25'", ""),
    ] {
        match (fit(settings, &train), expected) {
            (Ok(_), "") => {}
            (fitted, _) => {
                let error = fitted.err().unwrap_or_else(|| panic!("{settings}")).to_string();
                assert!(error.contains(expected), "{settings}: {error}");
            }
        }
    }
}
