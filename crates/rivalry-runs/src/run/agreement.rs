//! Bitwise comparison of a run with its repetition.

use serde::Serialize;

use rivalry::Result;
use rivalry::model::Model;
use rivalry::train::Outcome;

use super::FinishedRun;

/// The comparison of a run with its repetition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// Whether everything compared is bitwise identical.
    pub same: bool,
    /// Whether the models were compared: most trials of a sweep keep none.
    pub model_compared: bool,
    /// The differences, in words.
    pub differences: Vec<String>,
    /// Possible reasons: release, commit, instruction set, processor.
    pub circumstances: Vec<String>,
}

impl Agreement {
    /// Compares a finished run with its repetition: tensors, evaluations, metrics.
    ///
    /// # Errors
    /// If a file of either can't be read.
    pub fn of(then: &FinishedRun, now: &FinishedRun) -> Result<Self> {
        let mut differences = Vec::new();
        let model_compared = then.folder.has_model();
        if model_compared {
            let [then, now] = [then.folder.model()?, now.folder.model()?];
            compare_models(&then, &now, &mut differences);
        }
        let curve = |run: &FinishedRun| -> Vec<_> {
            run.history
                .iter()
                .map(|record| (record.epoch, record.loss.to_bits(), record.valid.clone()))
                .collect()
        };
        let (first, second) = (curve(then), curve(now));
        if let Some(epoch) = first.iter().zip(&second).find_map(|(a, b)| (a != b).then_some(a.0)) {
            differences.push(format!("the log differs from epoch {epoch} on"));
        } else if first.len() != second.len() {
            differences.push(format!("there were {} evaluations then, {} now", first.len(), second.len()));
        }
        compare_figures(&then.record.outcome, &now.record.outcome, &mut differences);
        let circumstances = then.record.provenance.differences(&now.record.provenance);
        Ok(Self { same: differences.is_empty(), model_compared, differences, circumstances })
    }
}

fn compare_models(then: &Model, now: &Model, differences: &mut Vec<String>) {
    if then.epoch != now.epoch {
        let epoch = |model: &Model| model.epoch.map_or("none".to_owned(), |epoch| epoch.to_string());
        differences.push(format!("the model's epoch was {} then, is {} now", epoch(then), epoch(now)));
    }
    differences.extend(then.tensors.differences(&now.tensors));
}

fn compare_figures(then: &Outcome, now: &Outcome, differences: &mut Vec<String>) {
    for (name, &value) in &then.test {
        match now.test.get(name) {
            Some(again) if again.to_bits() == value.to_bits() => {}
            Some(again) => differences.push(format!("test {name} was {value} then, is {again} now")),
            None => differences.push(format!("test {name} was not measured now")),
        }
    }
    let best_epoch = |outcome: &Outcome| outcome.training.as_ref().map_or(0, |training| training.best_epoch);
    let (then, now) = (best_epoch(then), best_epoch(now));
    if then != now {
        differences.push(format!("the best epoch was {then} then, is {now} now"));
    }
}
