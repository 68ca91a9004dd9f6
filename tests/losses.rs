//! What every loss on the list must do, whatever it computes. A new loss is tested here without new test code.

use rivalry::loss::{GradientBuffers, LOSSES, Loss, LossConfig, Negatives, Phase, Row, RowGradient, RowLoss};
use rivalry_kernels::Real;

/// One batch of scores, the same for every test.
struct Scores {
    positives: Vec<f64>,
    negatives: Vec<Vec<f64>>,
    similarities: Vec<Vec<f64>>,
}

fn scores(rows: usize, n: usize) -> Scores {
    let number =
        |a: usize, b: usize, c: usize| ((a * 7919 + b * 104_729 + c * 1_299_709) as f64 * 0.001).sin();
    let table = |which| (0..rows).map(|b| (0..n).map(|j| number(which, b, j)).collect()).collect();
    Scores {
        positives: (0..rows).map(|b| number(3, b, 0)).collect(),
        negatives: table(1),
        similarities: table(2),
    }
}

impl Scores {
    fn row(&self, b: usize) -> Row<'_, f64> {
        Row {
            positive: self.positives[b],
            negatives: &self.negatives[b],
            features: &self.similarities[b],
            log_probs: &[],
            user: 0,
        }
    }

    fn measures(&self, loss: &dyn RowLoss<f64>) -> Vec<f64> {
        let mut measures: Vec<f64> = (0..self.positives.len()).map(|b| loss.measure(self.row(b))).collect();
        loss.calibrate(&mut measures);
        measures
    }
}

fn gradient<T: Real>(
    loss: &dyn RowLoss<T>,
    own: usize,
    phase: Phase,
    row: Row<'_, T>,
    measure: T,
) -> (RowGradient<T>, Vec<T>, Vec<T>) {
    let (mut grads, mut own) = (vec![T::zero(); row.negatives.len()], vec![T::zero(); own]);
    let places = GradientBuffers { negatives: &mut grads, params: &mut own };
    (loss.gradient(phase, row, measure, places), grads, own)
}

/// Every loss on the list, with those of the settings that it has.
fn for_each_loss(settings: &str, test: impl Fn(&str, Box<dyn Loss>)) {
    for entry in LOSSES {
        test(entry.name, build(entry.name, settings));
    }
}

fn build(name: &str, settings: &str) -> Box<dyn Loss> {
    let config = |section: &toml::Table| LossConfig::from_table("loss", LOSSES, section);
    let mut section = toml::Table::from_iter([("type".to_owned(), name.into())]);
    for (key, value) in settings.parse::<toml::Table>().unwrap() {
        let before = section.clone();
        section.insert(key, value);
        // A parameter that this loss doesn't have, or has with another range, keeps its default.
        if config(&section).is_err() {
            section = before;
        }
    }
    config(&section).unwrap().build()
}

/// A number of negatives that the loss can work with.
fn n_negatives(loss: &dyn Loss, wanted: usize) -> usize {
    match loss.negatives() {
        Negatives::Exactly(n) => n,
        Negatives::Default(_) => wanted,
    }
}

/// All phases of a step that the loss ever has.
fn phases(loss: &dyn Loss) -> Vec<Phase> {
    let mut phases: Vec<Phase> = (0..10).flat_map(|epoch| loss.phases(epoch).iter().copied()).collect();
    phases.dedup();
    phases
}

/// κ is a constant in the gradient although it follows the scores, so it is switched off here and has a test of its
/// own below. All else is differenced as it is: scores, the adversary's scores, the parameters of the loss.
#[test]
fn gradients_agree_with_finite_differences() {
    for activation in ["exp", "relu", "tanh", "atan"] {
        let settings = format!("tau = 0.3\nalpha = 0.9\nbeta = 0.0\nslate = 6\nactivation = '{activation}'");
        let settings = settings.replace("activation = 'exp'", "scale = 'kappa'\nweight = 'top-k'");
        for_each_loss(&settings, |name, mut loss| {
            loss.set_quantile(0, 0.3);
            let scores = scores(5, n_negatives(&*loss, 24));
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

#[test]
fn the_order_of_negatives_does_not_matter() {
    for_each_loss("tau = 0.2\nalpha = 0.9\nbeta = 0.5", |name, loss| {
        // A network of the loss may read its items in order; the loss of the model itself may not.
        let of_scores = |phase: &Phase| matches!(phase, Phase::Model | Phase::Adversary);
        let phases: Vec<Phase> = phases(&*loss).into_iter().filter(of_scores).collect();
        let n = n_negatives(&*loss, 30);
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
            let n = n_negatives(&*loss, 40);
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

/// Value and gradients of one row.
fn outcome(loss: &dyn Loss, row: Row<'_, f64>) -> (f64, f64, Vec<f64>) {
    let mut measures = [RowLoss::<f64>::measure(loss, row)];
    RowLoss::<f64>::calibrate(loss, &mut measures);
    let (outcome, grads, _) = gradient::<f64>(loss, 0, Phase::Model, row, measures[0]);
    (outcome.value, outcome.positive, grads)
}

#[test]
fn known_equalities_hold() {
    let scores = scores(6, 50);
    for row in (0..6).map(|b| scores.row(b)) {
        // BSL with both temperatures alike has SL's gradient.
        let sl = outcome(&*build("sl", "tau = 0.2"), row);
        let bsl = outcome(&*build("bsl", "tau1 = 0.2\ntau2 = 0.2"), row);
        assert!((sl.1 - bsl.1).abs() < 1e-12 && sl.2.iter().zip(&bsl.2).all(|(a, b)| (a - b).abs() < 1e-12));
        // BSL is what its formula says.
        let bsl = outcome(&*build("bsl", "tau1 = 0.1\ntau2 = 0.3"), row).0;
        let lse = row.negatives.iter().map(|f| (f / 0.3).exp()).sum::<f64>().ln();
        assert!((bsl - (-row.positive / 0.1 + 3.0 * lse)).abs() < 1e-9);
        // A pull of γ draws the positive γ times as strongly as all its negatives are pushed.
        let (value, pull, pushes) = outcome(&*build("cap", "tau = 0.3\nalpha = 0.0\npull = 0.8"), row);
        assert!((value - (lse - 0.8 * row.positive / 0.3)).abs() < 1e-9);
        assert!((pull + 0.8 * pushes.iter().sum::<f64>()).abs() < 1e-9 && pull < 0.0);
        assert_eq!(
            outcome(&*build("cap", "alpha = 2.0\npull = 1.0"), row),
            outcome(&*build("dsl-ca", "alpha = 2.0"), row)
        );
        // With τ_w → ∞ the top-K weight is ½ everywhere: the direction is that of the loss without it.
        for (with, without) in [("sl@k", "sl"), ("dsl@k", "dsl")] {
            let settings = "tau = 0.2\nalpha = 2.0\nbeta = 1.5\ntau_w = 1e9";
            let (with, without) =
                (outcome(&*build(with, settings), row), outcome(&*build(without, settings), row));
            assert!((2.0 * with.1 - without.1).abs() < 1e-6);
            assert!(with.2.iter().zip(&without.2).all(|(a, b)| (2.0 * a - b).abs() < 1e-6));
        }
        // PSL lies between the highest term and that plus log N, for every activation.
        for (name, a) in [
            ("relu", (|x: f64| (x + 1.0).max(0.0)) as fn(f64) -> f64),
            ("tanh", |x: f64| x.tanh() + 1.0),
            ("atan", |x: f64| x.atan() + 1.0),
        ] {
            let psl = outcome(&*build("psl", &format!("tau = 0.1\nactivation = '{name}'")), row).0;
            let terms = row.negatives.iter().map(|f| a((f - row.positive) / 2.0).ln() / 0.1);
            let highest = terms.fold(f64::NEG_INFINITY, f64::max);
            assert!(highest - 1e-9 <= psl && psl <= highest + 50f64.ln() + 1e-9, "{name}");
        }
        // The named losses are presets of the family's parts.
        for (name, parts) in [
            ("sl", ""),
            ("psl", "activation = 'relu'"),
            ("dsl", "scale = 'kappa'\ntemperature = 'competition'"),
            ("dsl-kappa", "scale = 'kappa'"),
            ("dsl-ca", "temperature = 'competition'"),
            ("sl@k", "weight = 'top-k'"),
            ("dsl@k", "scale = 'kappa'\ntemperature = 'competition'\nweight = 'top-k'"),
            ("cap", "temperature = 'competition'\nalpha = 3.0\npull = 0.75"),
        ] {
            assert_eq!(outcome(&*build(name, ""), row), outcome(&*build("softmax", parts), row), "{name}");
        }
    }
}

/// The log-q correction subtracts the log-probability of each negative from its exponent, whatever its scale.
#[test]
fn the_log_q_correction_divides_each_term_by_its_probability() {
    let scores = scores(3, 30);
    let log_probs: Vec<f64> = (0..30).map(|j| -((j % 7 + 1) as f64).ln() - 1.0).collect();
    for_each_loss("tau = 0.3\nlog_q = true", |name, loss| {
        if !loss.uses_log_probs() {
            return;
        }
        let measures = scores.measures(&*loss);
        for (b, &measure) in measures.iter().enumerate() {
            let row = Row { log_probs: &log_probs, ..scores.row(b) };
            let (with, grads, _) = gradient::<f64>(&*loss, 0, Phase::Model, row, measure);
            // The diagnostics compute the same by another way.
            let found = loss.diagnostics().unwrap().diagnose(row, measure);
            let plain = loss.diagnostics().unwrap().diagnose(scores.row(b), measure);
            for ((plain, found_logit), log_prob) in plain.logits.iter().zip(&found.logits).zip(&log_probs) {
                let shift = (plain - found_logit) / found.temperature;
                assert!((shift - log_prob).abs() < 1e-9, "{name}");
            }
            let value = found.soft_maximum / found.temperature + 30f64.ln();
            if (0..40).all(|epoch| loss.quantile_rank(epoch).is_none()) {
                assert!((value - with.value).abs() < 1e-9, "{name}: {value} {}", with.value);
            }
            // Negatives that are all equally likely change nothing but the value.
            let even = vec![-2.0; 30];
            let (_, same, _) =
                gradient::<f64>(&*loss, 0, Phase::Model, Row { log_probs: &even, ..row }, measure);
            let (_, without, _) = gradient::<f64>(&*loss, 0, Phase::Model, scores.row(b), measure);
            assert!(same.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
            assert!(grads.iter().zip(&without).any(|(a, b)| (a - b).abs() > 1e-6), "{name}");
        }
    });
}

#[test]
fn dsl_without_strength_is_sl_to_the_bit() {
    let scores = scores(8, 1000);
    let (sl, dsl) = (build("sl", "tau = 0.1"), build("dsl", "tau = 0.1\nalpha = 0.0\nbeta = 0.0"));
    let narrow = |row: &[f64]| row.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let outcomes = |loss: &dyn RowLoss<f32>| {
        let rows: Vec<_> = (0..8)
            .map(|b| {
                (scores.positives[b] as f32, narrow(&scores.negatives[b]), narrow(&scores.similarities[b]))
            })
            .collect();
        let seen = |b: usize| Row {
            positive: rows[b].0,
            negatives: &rows[b].1[..],
            features: &rows[b].2[..],
            log_probs: &[],
            user: 0,
        };
        let mut measures: Vec<f32> = (0..8).map(|b| loss.measure(seen(b))).collect();
        loss.calibrate(&mut measures);
        (0..8)
            .map(|b| {
                let (outcome, grads, _) = gradient(loss, 0, Phase::Model, seen(b), measures[b]);
                (outcome.value, outcome.positive, grads)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&*sl), outcomes(&*dsl));
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
