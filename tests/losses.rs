//! What every loss on the list must do, whatever it computes. A new loss is tested here without new test code.

use rivalry::loss::{self, LOSSES, Loss, Row, RowGradient, RowLoss};

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
            similarities: &self.similarities[b],
        }
    }

    fn measures(&self, loss: &dyn RowLoss<f64>) -> Vec<f64> {
        let mut measures: Vec<f64> = (0..self.positives.len()).map(|b| loss.measure(self.row(b))).collect();
        loss.calibrate(&mut measures);
        measures
    }
}

fn gradient(loss: &dyn RowLoss<f64>, row: Row<'_, f64>, measure: f64) -> (RowGradient<f64>, Vec<f64>) {
    let mut grads = vec![0.0; row.negatives.len()];
    (loss.gradient(row, measure, &mut grads), grads)
}

fn for_each_loss(settings: &str, test: impl Fn(&str, &dyn Loss)) {
    for entry in LOSSES {
        let mut section: toml::Table = settings.parse().unwrap();
        section.retain(|key, _| entry.params.iter().any(|p| p.name == key));
        section.insert("type".into(), entry.name.into());
        test(entry.name, &*loss::build(&section).unwrap());
    }
}

/// What the gradient takes as constant (κ, the temperature) must stay so in the differences: κ follows the scores,
/// so the differences go through the value `lse(κ d / τ)` with κ read off the gradient itself.
#[test]
fn gradients_agree_with_finite_differences() {
    let scores = scores(5, 24);
    for_each_loss("tau = 0.3\nalpha = 2.0\nbeta = 0.0\nslate = 6", |name, loss| {
        let loss: &dyn RowLoss<f64> = loss;
        let measures = scores.measures(loss);
        for (b, &measure) in measures.iter().enumerate() {
            let (outcome, grads) = gradient(loss, scores.row(b), measure);
            let h = 1e-6;
            let value = |positive: f64, j: usize, shift: f64| {
                let mut negatives = scores.negatives[b].clone();
                negatives[j] += shift;
                let row = Row { positive, negatives: &negatives, similarities: &scores.similarities[b] };
                gradient(loss, row, measure).0.value
            };
            let p = scores.positives[b];
            let difference = (value(p + h, 0, 0.0) - value(p - h, 0, 0.0)) / (2.0 * h);
            assert!(
                (difference - outcome.positive).abs() < 1e-6,
                "{name}: {difference} {}",
                outcome.positive
            );
            for (j, g) in grads.iter().enumerate() {
                let difference = (value(p, j, h) - value(p, j, -h)) / (2.0 * h);
                assert!((difference - g).abs() < 1e-6, "{name}, negative {j}: {difference} {g}");
            }
        }
    });
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
            let entry = LOSSES.iter().find(|entry| entry.name == name).unwrap();
            let mut section: toml::Table = settings.parse().unwrap();
            section.retain(|key, _| entry.params.iter().any(|p| p.name == key));
            section.insert("type".into(), name.into());
            let loss = loss::build(&section).unwrap();
            let loss: &dyn RowLoss<f64> = &*loss;
            for (b, &m) in scores.measures(loss).iter().enumerate() {
                let row = scores.row(b);
                let (outcome, grads) = gradient(loss, row, m);
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
        row.negatives.iter().zip(row.similarities).map(|(f, s)| (f + (s + 1.0) / 2.0).exp()).collect();
    let mean = e.iter().sum::<f64>() / n;
    let kappa: Vec<f64> = e.iter().map(|e| (1.0 + beta * (e / mean - 1.0)).max(floor)).collect();
    let inverse = kappa.iter().map(|k| 1.0 / k).sum::<f64>() / n;
    kappa.iter().map(|k| if drift { k * inverse } else { *k }).collect()
}

#[test]
fn the_order_of_negatives_does_not_matter() {
    let straight = scores(4, 30);
    let mut turned = scores(4, 30);
    for row in turned.negatives.iter_mut().chain(&mut turned.similarities) {
        row.reverse();
    }
    for_each_loss("tau = 0.2\nalpha = 2.0\nbeta = 1.5", |name, loss| {
        let loss: &dyn RowLoss<f64> = loss;
        let (a, b) = (straight.measures(loss), turned.measures(loss));
        for row in 0..4 {
            assert!((a[row] - b[row]).abs() < 1e-12, "{name}");
            let (one, grads) = gradient(loss, straight.row(row), a[row]);
            let (two, mut turned_grads) = gradient(loss, turned.row(row), b[row]);
            turned_grads.reverse();
            assert!((one.value - two.value).abs() < 1e-12, "{name}");
            assert!(grads.iter().zip(&turned_grads).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
        }
    });
}

#[test]
fn extreme_scores_stay_finite() {
    for_each_loss("tau = 0.005\nalpha = 3.0\nbeta = 3.0", |name, loss| {
        let loss: &dyn RowLoss<f32> = loss;
        for (positive, negative) in [(1.0, -1.0), (-1.0, 1.0), (0.0, 0.0), (1.0, 1.0)] {
            for similarity in [-1.0, 1.0] {
                let (negatives, similarities) = ([negative; 40], [similarity; 40]);
                let row = Row { positive, negatives: &negatives, similarities: &similarities };
                let mut measures = [loss.measure(row)];
                loss.calibrate(&mut measures);
                let mut grads = [0.0; 40];
                let outcome = loss.gradient(row, measures[0], &mut grads);
                assert!(outcome.value.is_finite() && outcome.positive.is_finite(), "{name}: {outcome:?}");
                assert!(grads.iter().all(|g| g.is_finite()), "{name}");
            }
        }
    });
}

#[test]
fn dsl_without_strength_is_sl_to_the_bit() {
    let scores = scores(8, 1000);
    let build = |text: &str| loss::build(&text.parse().unwrap()).unwrap();
    let (sl, dsl) =
        (build("type = 'sl'\ntau = 0.1"), build("type = 'dsl'\ntau = 0.1\nalpha = 0.0\nbeta = 0.0"));
    let narrow = |row: &[f64]| row.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let outcomes = |loss: &dyn RowLoss<f32>| {
        let rows: Vec<_> = (0..8)
            .map(|b| {
                (scores.positives[b] as f32, narrow(&scores.negatives[b]), narrow(&scores.similarities[b]))
            })
            .collect();
        let seen =
            |b: usize| Row { positive: rows[b].0, negatives: &rows[b].1[..], similarities: &rows[b].2[..] };
        let mut measures: Vec<f32> = (0..8).map(|b| loss.measure(seen(b))).collect();
        loss.calibrate(&mut measures);
        (0..8)
            .map(|b| {
                let mut grads = vec![0.0; 1000];
                let outcome = loss.gradient(seen(b), measures[b], &mut grads);
                (outcome.value, outcome.positive, grads)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes(&*sl), outcomes(&*dsl));
}
