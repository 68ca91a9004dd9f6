use std::ops::ControlFlow;

use super::*;
use crate::collective::threads::together;
use crate::models::tests::{golden, small_training_set as train};
use crate::models::{MODELS, ModelConfig};
use crate::scorer::Query;

fn model(settings: &str) -> Ials {
    let table = format!("type = 'ials'\n{settings}").parse().unwrap();
    Ials::new(ModelConfig::from_table("model", MODELS, &table).unwrap().params())
}

fn fitted(model: &Ials, train: &Interactions) -> Embeddings {
    let mut progress = |_, _| ControlFlow::Continue(());
    model
        .factors(train, &mut FitContext { seed: 1, progress: &mut progress, collective: &Alone })
        .unwrap()
        .unwrap()
}

/// The objective, as it is written.
fn objective(factors: &Embeddings, train: &Interactions, penalty: Penalty) -> f64 {
    let by_item = train.transposed();
    let dot = |u: usize, i: usize| -> f64 {
        let terms = factors.users.row(u).iter().zip(factors.items.row(i));
        terms.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    };
    let observed: f64 = train.pairs().map(|(u, i)| (dot(u as usize, i as usize) - 1.0).powi(2)).sum();
    let all: f64 = (0..20).map(|u| (0..12).map(|i| dot(u, i).powi(2)).sum::<f64>()).sum();
    let norms = |table: &Matrix, rows: &Interactions| -> f64 {
        (0..table.rows())
            .map(|r| {
                let frequency = |pairs: f64| pairs + penalty.unobserved * rows.n_items() as f64;
                let mean = frequency(rows.len() as f64 / rows.n_users() as f64);
                let frequency = frequency(rows.items_of(r as u32).len() as f64) / mean;
                let norm: f64 = table.row(r).iter().map(|&x| f64::from(x).powi(2)).sum();
                frequency.powf(penalty.exponent) * norm
            })
            .sum()
    };
    let norms = norms(&factors.users, train) + norms(&factors.items, &by_item);
    observed + penalty.unobserved * all + penalty.regularization * norms
}

#[test]
fn every_sweep_lowers_the_objective_and_blocks_reach_the_same_minimum_as_exact_solutions() {
    let train = train();
    let value = |settings: &str| {
        let model = model(settings);
        objective(&fitted(&model, &train), &train, model.penalty)
    };
    let mut before = f64::INFINITY;
    for iterations in [1, 2, 4, 8, 16, 32] {
        let now =
            value(&format!("dim = 40\nregularization = 0.2\nblock_size = 16\niterations = {iterations}"));
        assert!(now < before * (1.0 + 1e-6), "{iterations}: {now} after {before}");
        before = now;
    }
    let exact = value("dim = 40\nregularization = 0.2\nblock_size = 64\niterations = 200");
    let blocks = value("dim = 40\nregularization = 0.2\nblock_size = 16\niterations = 200");
    assert!((exact - blocks).abs() < 1e-4 * exact, "{exact} {blocks}");
}

#[test]
fn a_known_user_is_folded_in_where_the_fit_has_put_them() {
    let train = train();
    let model = model("dim = 8\niterations = 300\nregularization = 0.3\nregularization_exp = 0.5");
    let mut tensors = Tensors::default();
    let factors = fitted(&model, &train);
    tensors.put_embeddings(FACTORS, &factors);
    let scorer = model.scorer(&tensors, &train).unwrap();
    let Query::Vectors(folded) = scorer.fold_in(&train) else { panic!() };
    for user in 0..20 {
        for (folded, fitted) in folded.row(user).iter().zip(factors.users.row(user)) {
            assert!((folded - fitted).abs() < 1e-3, "user {user}: {folded} {fitted}");
        }
    }
    assert!(folded.row(1).iter().all(|&x| x == 0.0), "a user without items");
}

/// Values of `tests/golden/models.py`.
#[test]
fn one_exact_sweep_agrees_with_numpy() {
    let train = train();
    let model = model("dim = 3\niterations = 1\nregularization = 0.4\nunobserved_weight = 0.2\nstddev = 0.3");
    let by_item = train.transposed();
    let start = |rows: usize, shift: usize| {
        Matrix::from_fn(rows, 3, |r, c| (((r * 7 + c * 5 + shift) % 11) as f32 - 5.0) / 10.0)
    };
    let (mut users, mut items) = (start(20, 0), start(12, 3));
    let sweep = HalfSweep { penalty: model.penalty, block_lanes: 1 };
    assert!(sweep.run(&mut users, 0..20, &mut items, &train));
    assert!(sweep.run(&mut items, 0..12, &mut users, &by_item));
    // The coordinates are others, which changes neither products nor lengths.
    let (expected_users, expected_items) = (golden("ials_users"), golden("ials_items"));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let exact = |row: &[f32]| row.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    for (user, expected_user) in expected_users.iter().enumerate() {
        let of_user = exact(users.row(user));
        assert!((dot(&of_user, &of_user) - dot(expected_user, expected_user)).abs() < 2e-5, "user {user}");
        for (item, expected_item) in expected_items.iter().enumerate() {
            let (found, expected) =
                (dot(&of_user, &exact(items.row(item))), dot(expected_user, expected_item));
            assert!((found - expected).abs() < 2e-5, "{user} {item}: {found} {expected}");
        }
    }
}

#[test]
fn the_tables_for_a_gradient_model_are_those_of_the_defaults() {
    let train = train();
    assert_eq!(als_tables(&train, 8, 1, 3).unwrap(), fitted(&model("dim = 8\niterations = 3"), &train));
}

#[test]
fn weights_that_overflow_are_refused_and_a_fit_can_be_stopped() {
    let train = train();
    let mut progress = |_, _| ControlFlow::Continue(());
    for settings in ["unobserved_weight = 1e300", "regularization = 1e39", "stddev = 1e30"] {
        let error = model(settings)
            .factors(&train, &mut FitContext { seed: 1, progress: &mut progress, collective: &Alone });
        assert!(error.unwrap_err().to_string().contains("single precision"), "{settings}");
    }
    let mut stop = |done, _| if done == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let stopped =
        model("").factors(&train, &mut FitContext { seed: 1, progress: &mut stop, collective: &Alone });
    assert!(stopped.unwrap().is_none());
}

#[test]
fn any_number_of_processes_gives_the_same_bits() {
    let train = train();
    for settings in ["dim = 8", "dim = 40\nblock_size = 16"] {
        let model = model(settings);
        let fit = |collective: &dyn Collective| {
            let mut progress = |_, _| ControlFlow::Continue(());
            let context = &mut FitContext { seed: 1, progress: &mut progress, collective };
            model.factors(&train, context).unwrap().unwrap()
        };
        let alone = fit(&Alone);
        for ranks in [2, 3, 8] {
            assert!(together(ranks, fit).iter().all(|factors| *factors == alone), "{ranks} processes");
        }
    }
}
