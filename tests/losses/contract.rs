//! Order of negatives, extreme scores, saved state, diagnostics.

use super::*;

#[test]
fn the_order_of_negatives_does_not_matter() {
    for_each_loss("tau = 0.2\nalpha = 0.9\nbeta = 0.5", |name, loss| {
        // A network of the loss may read its items in order; the loss of the model itself may not.
        let of_scores = |phase: &Phase| matches!(phase, Phase::Model | Phase::Adversary);
        let phases: Vec<Phase> = phases(&*loss).into_iter().filter(of_scores).collect();
        let n = n_negatives(name, 30);
        let (straight, mut turned) = (scores(4, n), scores(4, n));
        for row in turned.negatives.iter_mut().chain(&mut turned.similarities) {
            row.reverse();
        }
        let (a, b) = (straight.measures(&*loss), turned.measures(&*loss));
        for (row, phase) in (0..4).flat_map(|row| phases.iter().map(move |&phase| (row, phase))) {
            assert!((a[row] - b[row]).abs() < 1e-12, "{name}");
            let (one, grads, own) =
                gradient::<f64>(&*loss, loss.n_params(), phase, straight.row(row), a[row]);
            let (two, mut turned_grads, turned_own) =
                gradient::<f64>(&*loss, loss.n_params(), phase, turned.row(row), b[row]);
            turned_grads.reverse();
            let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-11);
            assert!((one.value - two.value).abs() < 1e-11, "{name}");
            assert!(same(&grads, &turned_grads) && same(&own, &turned_own), "{name}");
        }
    });
}

#[test]
fn extreme_scores_stay_finite() {
    for activation in ["exp", "relu", "tanh", "atan"] {
        let settings = format!("tau = 0.005\nalpha = 0.9\nbeta = 1.0\nactivation = '{activation}'");
        let settings = settings.replace("activation = 'exp'", "scale = 'kappa'\ntemperature = 'competition'");
        for_each_loss(&settings, |name, loss| {
            let n = n_negatives(name, 40);
            for (positive, negative) in [(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)] {
                for (similarity, phase) in
                    [-1.0, 1.0].iter().flat_map(|&s| phases(&*loss).into_iter().map(move |t| (s, t)))
                {
                    let (negatives, features) = (vec![negative; n], vec![similarity; n]);
                    let row =
                        Row { user: 0, positive, negatives: &negatives, features: &features, log_probs: &[] };
                    let mut measures = [RowLoss::<f32>::measure(&*loss, row)];
                    RowLoss::<f32>::calibrate(&*loss, &mut measures);
                    let (outcome, grads, own) =
                        gradient::<f32>(&*loss, loss.n_params(), phase, row, measures[0]);
                    assert!(outcome.value.is_finite() && outcome.positive.is_finite(), "{name}: {outcome:?}");
                    assert!(
                        grads.iter().chain(&own).all(|g| g.is_finite()),
                        "{name}, {activation}, {phase:?}"
                    );
                }
            }
        });
    }
}

#[test]
fn a_saved_state_is_taken_up_and_a_foreign_one_refused() {
    for_each_loss("", |name, mut loss| {
        loss.set_quantile(3, 0.25);
        loss.step_quantiles(&[(3, 0.5)]);
        let grads = vec![0.5; loss.n_params()];
        loss.step_params(phases(&*loss)[0], &grads, 0.1);
        loss.step_params(Phase::LossParams, &grads, 0.1);
        let state = loss.state();
        let mut fresh = build(name, "");
        assert!(fresh.restore(&state), "{name}");
        assert_eq!(fresh.state(), state, "{name}");
        assert!(!fresh.restore(&[("foreign".to_owned(), vec![1.0])].into()), "{name}");
    });
}

#[test]
fn what_a_loss_shows_of_its_inside_is_what_it_trains_by() {
    let shown = std::cell::Cell::new(0);
    for_each_loss("tau = 0.3\nalpha = 0.9\nbeta = 1.5\nslate = 6", |name, loss| {
        let Some(diagnostics) = loss.diagnostics() else { return };
        shown.set(shown.get() + 1);
        let scores = scores(5, 40);
        for (b, measure) in scores.measures(&*loss).into_iter().enumerate() {
            let (outcome, grads, _) = gradient::<f64>(&*loss, 0, Phase::Model, scores.row(b), measure);
            let found = diagnostics.diagnose(scores.row(b), measure);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
            assert!(close(found.temperature * measure, diagnostics.tau()), "{name}");
            assert_eq!(measure != 1.0, diagnostics.is_adaptive(), "{name}");
            // Without the weight of the pair, which the losses with quantiles have.
            if (0..40).all(|epoch| loss.quantile_rank(epoch).is_none()) {
                let value = found.soft_maximum / found.temperature + 40f64.ln();
                assert!(close(value, outcome.value), "{name}: {value} {}", outcome.value);
            }
            // Where the logit of a negative is its difference times its scale, so is its gradient.
            let scale = |j: usize| found.scales.as_ref().map_or(1.0, |scales| scales[j]);
            let offset = |j: usize| found.logits[j] / scale(j) - scores.negatives[b][j];
            if (1..40).all(|j| close(offset(j), offset(0))) {
                let slopes: Vec<f64> = (0..40).map(|j| found.weights[j] * scale(j)).collect();
                let (total, mass) = (slopes.iter().sum::<f64>(), grads.iter().sum::<f64>());
                for j in 0..40 {
                    assert!(close(slopes[j] / total, grads[j] / mass), "{name}");
                    assert!(close(found.shares[j], grads[j] / mass), "{name}");
                }
            }
        }
    });
    assert!(shown.get() > 1, "the softmax family");
}

/// The form that the trainer uses where it adds up exponentials while it scores.
#[test]
fn a_loss_of_the_log_sum_exp_has_the_same_value_and_gradients() {
    let mut names = Vec::new();
    for entry in LOSSES {
        let mut loss =
            build(entry.name, "tau = 0.2\nalpha = 0.0\nbeta = 0.0\npull = 0.8\ntau1 = 0.3\ntau_w = 0.7");
        loss.set_quantile(0, 0.3);
        let Some(form) = loss.log_sum_exp_form() else { continue };
        names.push(entry.name);
        let scores = scores(4, 30);
        for row in 0..4 {
            let row = scores.row(row);
            let exponentials: Vec<f64> = row.negatives.iter().map(|f| (f * form.sharpness()).exp()).collect();
            let total: f64 = exponentials.iter().sum();
            let found = form.gradient(0, row.positive as f32, total.ln() as f32);
            let (expected, grads, _) = gradient::<f64>(&*loss, 0, Phase::Model, row, 1.0);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + b.abs());
            assert!(close(found.value.into(), expected.value), "{}: {found:?} {expected:?}", entry.name);
            assert!(
                close(found.positive.into(), expected.positive),
                "{}: {found:?} {expected:?}",
                entry.name
            );
            let factor = f64::from(found.log_sum_exp) * form.sharpness() / total;
            assert!(grads.iter().zip(&exponentials).all(|(g, e)| close(factor * e, *g)), "{}", entry.name);
        }
    }
    assert_eq!(names, ["sl", "bsl", "sl@k", "dsl", "dsl-kappa", "dsl-ca", "dsl@k", "cap", "softmax"]);
}
