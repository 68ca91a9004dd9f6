//! What every loss on the list must do, whatever it computes. A new loss is tested here without new test code.

mod contract;
mod gradients;
mod identities;

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
fn n_negatives(name: &str, wanted: usize) -> usize {
    match LossConfig::named("loss", LOSSES, name).defaults().negatives {
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
