//! Gradients against finite differences.

use super::*;

/// κ is a constant in the gradient although it follows the scores, so it is switched off here and has a test of its
/// own below. All else is differenced as it is: scores, the adversary's scores, the parameters of the loss.
#[test]
fn gradients_agree_with_finite_differences() {
    for activation in ["exp", "relu", "tanh", "atan"] {
        let settings = format!("tau = 0.3\nalpha = 0.9\nbeta = 0.0\nslate = 6\nactivation = '{activation}'");
        let settings = settings.replace("activation = 'exp'", "scale = 'kappa'\nweight = 'top-k'");
        for_each_loss(&settings, |name, mut loss| {
            loss.set_quantile(0, 0.3);
            let scores = scores(5, n_negatives(name, 24));
            for phase in phases(&*loss) {
                let measures = scores.measures(&*loss);
                for (b, &measure) in measures.iter().enumerate() {
                    check_row(name, &mut *loss, phase, scores.row(b), measure);
                }
            }
        });
    }
}

fn check_row(name: &str, loss: &mut dyn Loss, phase: Phase, row: Row<'_, f64>, measure: f64) {
    let (h, own) = (1e-6, loss.n_params());
    let (outcome, grads, own_grads) = gradient::<f64>(loss, own, phase, row, measure);
    let agree = |what: String, slope: f64, found: f64| {
        let error = (slope - found).abs();
        assert!(
            error < 1e-6 * (1.0 + found.abs()),
            "{name}, {phase:?}, {what}: {slope} by differences, {found}"
        );
    };
    let value = |loss: &dyn Loss, positive: f64, j: usize, shift: f64| {
        let (mut negatives, mut features) = (row.negatives.to_vec(), row.features.to_vec());
        if phase == Phase::Adversary {
            features[j] += shift;
        } else {
            negatives[j] += shift;
        }
        let row =
            Row { positive: positive + row.positive, negatives: &negatives, features: &features, ..row };
        gradient::<f64>(loss, own, phase, row, measure).0.value
    };
    if phase != Phase::LossParams {
        if phase != Phase::Adversary {
            let slope = (value(loss, h, 0, 0.0) - value(loss, -h, 0, 0.0)) / (2.0 * h);
            agree("positive".into(), slope, outcome.positive);
        }
        for (j, g) in grads.iter().enumerate() {
            agree(
                format!("negative {j}"),
                (value(loss, 0.0, j, h) - value(loss, 0.0, j, -h)) / (2.0 * h),
                *g,
            );
        }
    }
    let state = loss.state();
    // Only phases that move the parameters of the loss need their gradients.
    loss.step_params(phase, &vec![1.0; own], 0.1);
    let moves = loss.state() != state;
    assert!(loss.restore(&state));
    // Of a large network every 37th parameter: all kinds of them are among these.
    for k in (0..if moves { own_grads.len() } else { 0 }).step_by(if own > 100 { 37 } else { 1 }) {
        let mut at = |shift: f64| {
            let mut moved = state.clone();
            moved.get_mut("values").unwrap()[k] += shift;
            assert!(loss.restore(&moved));
            gradient::<f64>(&*loss, own, phase, row, measure).0.value
        };
        let slope = (at(h) - at(-h)) / (2.0 * h);
        agree(format!("parameter {k}"), slope, own_grads[k]);
    }
    assert!(loss.restore(&state));
}

/// With κ on: it is a constant in the gradient, so the positive's score, on which κ does not depend, can be
/// differenced as it is; and for the negatives the plain formula with κ frozen is differenced.
#[test]
fn gradients_with_weighted_negatives_agree_with_finite_differences() {
    let scores = scores(5, 24);
    for (tau, beta, floor, drift) in [(0.3, 1.0, 0.05, true), (0.2, 2.5, 0.05, true), (0.5, 1.5, 0.2, false)]
    {
        let settings =
            format!("tau = {tau}\nalpha = 1.5\nbeta = {beta}\nkappa_min = {floor}\ndrift_control = {drift}");
        for name in ["dsl", "dsl-kappa"] {
            let loss = build(name, &settings);
            for (b, &m) in scores.measures(&*loss).iter().enumerate() {
                let row = scores.row(b);
                let (outcome, grads, _) = gradient::<f64>(&*loss, 0, Phase::Model, row, m);
                let kappa = plain_kappa(row, beta, floor, drift);
                let value = |positive: f64, shifted: usize, shift: f64| -> f64 {
                    let z = |(j, f): (usize, &f64)| {
                        kappa[j] * (f + if j == shifted { shift } else { 0.0 } - positive) * m / tau
                    };
                    row.negatives.iter().enumerate().map(z).map(f64::exp).sum::<f64>().ln()
                };
                let h = 1e-6;
                assert!((outcome.value - value(row.positive, 0, 0.0)).abs() < 1e-10, "{name}");
                let slope = (value(row.positive + h, 0, 0.0) - value(row.positive - h, 0, 0.0)) / (2.0 * h);
                assert!((slope - outcome.positive).abs() < 1e-5, "{name}: {slope} {}", outcome.positive);
                for (j, g) in grads.iter().enumerate() {
                    let slope = (value(row.positive, j, h) - value(row.positive, j, -h)) / (2.0 * h);
                    assert!((slope - g).abs() < 1e-5, "{name}, negative {j}: {slope} {g}");
                }
            }
        }
    }
}

fn plain_kappa(row: Row<'_, f64>, beta: f64, floor: f64, drift: bool) -> Vec<f64> {
    let n = row.negatives.len() as f64;
    let e: Vec<f64> =
        row.negatives.iter().zip(row.features).map(|(f, s)| (f + (s + 1.0) / 2.0).exp()).collect();
    let mean = e.iter().sum::<f64>() / n;
    let kappa: Vec<f64> = e.iter().map(|e| (1.0 + beta * (e / mean - 1.0)).max(floor)).collect();
    let inverse = kappa.iter().map(|k| 1.0 / k).sum::<f64>() / n;
    kappa.iter().map(|k| if drift { k * inverse } else { *k }).collect()
}
