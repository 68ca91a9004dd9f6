//! Equalities between losses, and of losses with their formulas.

use super::*;

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
