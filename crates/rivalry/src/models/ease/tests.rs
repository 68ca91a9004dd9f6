use std::ops::ControlFlow;

use super::*;
use crate::collective::Alone;
use crate::rng::{below, seeded};

/// A symmetric positive definite matrix: `n` items of `2 n` users, each with a seventh of them.
fn random(n: usize) -> Interactions {
    let mut rng = seeded(n as u64);
    let pairs = (0..2 * n * n / 7).map(|_| (below(&mut rng, 2 * n as u32), below(&mut rng, n as u32)));
    Interactions::from_pairs(2 * n, n, pairs.collect::<Vec<_>>())
}

fn weights(train: &Interactions, regularization: f64) -> Arc<Vec<f32>> {
    let mut progress = |_, _| ControlFlow::Continue(());
    let mut context = FitContext { seed: 0, progress: &mut progress, collective: &Alone };
    let tensors = Ease { regularization }.fit(train, &mut context).unwrap().unwrap();
    tensors.get_square(WEIGHTS, train.n_items()).unwrap()
}

/// For each item j, the others' weights solve `(G + λI) b = g_j` without row j; the diagonal is zero.
#[test]
fn the_weights_solve_the_normal_equations_for_one_block_or_several() {
    for (n, regularization) in [(1, 1.0), (2, 0.5), (90, 10.0), (256, 30.0), (300, 3.0), (700, 50.0)] {
        let train = random(n);
        let weights = weights(&train, regularization);
        let counts = gram(&train, 0.0);
        let count = |i: usize, j: usize| f64::from(counts[i.max(j) * n + i.min(j)]);
        for j in (0..n).step_by(1 + n / 10) {
            assert_eq!(weights[j * n + j], 0.0);
            for i in (0..n).filter(|&i| i != j).step_by(1 + n / 20) {
                let sum: f64 = (0..n).map(|k| count(i, k) * f64::from(weights[k * n + j])).sum();
                let left = sum + regularization * f64::from(weights[i * n + j]);
                assert!(
                    (left - count(i, j)).abs() < 2e-3 * (1.0 + count(i, i)),
                    "{n}: {left} {}",
                    count(i, j)
                );
            }
        }
    }
}

#[test]
fn what_cannot_be_inverted_is_refused_and_an_inversion_can_be_stopped() {
    let train = random(300);
    let fit = |regularization: f64, last: usize| {
        let mut progress = |done, _| match done == last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        Ease { regularization }
            .fit(&train, &mut FitContext { seed: 0, progress: &mut progress, collective: &Alone })
    };
    for regularization in [1e39, 1e300] {
        let error = fit(regularization, 9).unwrap_err().to_string();
        assert!(error.starts_with("model.regularization: XᵀX + "), "{error}");
    }
    assert!(fit(1.0, 1).unwrap().is_none());
}

#[test]
fn the_memory_is_that_of_one_matrix() {
    let of = |items: usize| Ease { regularization: 1.0 }.memory(&Interactions::empty(10, items));
    assert!(of(40_988) < 8 << 30);
    assert!(of(200_000) > 148 << 30);
}
