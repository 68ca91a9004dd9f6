//! What two runs must have in common to be comparable.

use rivalry::config::{Config, Select};
use rivalry::eval::{Average, Mask, MetricAt};
use serde::{Deserialize, Serialize};

use crate::run::{FinishedRun, RunRecord};
use crate::settings::Settings;
use crate::{InputError, Result};

/// The data and the evaluation protocol of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// The name of the data set.
    pub data: String,
    /// The checksum of the data and their split.
    pub data_checksum: String,
    /// Which items are excluded from the rankings.
    pub mask: Mask,
    /// Which users the means are taken over.
    pub average: Average,
    /// How the epoch was selected; `None` for a closed-form model, which has no epochs.
    pub select: Option<Select>,
    /// The metric by which epochs and settings are selected.
    pub selection_metric: MetricAt,
}

impl Protocol {
    /// The protocol of a finished run.
    pub fn of(config: &Config, record: &RunRecord) -> Self {
        Self {
            data: record.data.clone(),
            data_checksum: record.data_checksum.clone(),
            mask: config.eval.mask,
            average: config.eval.average,
            select: record.outcome.training.as_ref().map(|training| training.select),
            selection_metric: config.eval.selection_metric(),
        }
    }

    /// Whether runs of the two protocols can be compared. A model without epochs can be compared with any, however
    /// its epoch was selected, on the same data, split, mask and average.
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.data_checksum == other.data_checksum && self.difference(other).is_none()
    }

    /// The first difference in the evaluation, in words.
    fn difference(&self, other: &Self) -> Option<String> {
        for key in ["eval.mask", "eval.average", "train.select"] {
            if let (Some(one), Some(two)) = (self.setting(key), other.setting(key))
                && one != two
            {
                return Some(format!("{key} is {two}, not {one}"));
            }
        }
        // Metrics may be computed at different cut-offs, as long as the epoch was selected at the same one.
        let (one, two) = (self.selection_metric, other.selection_metric);
        let both = self.select.is_some() && other.select.is_some();
        (both && one != two).then(|| format!("the epoch was selected by {two}, not {one}"))
    }
}

impl Protocol {
    /// A setting of the protocol as it is written in a config; `None` if it doesn't apply.
    fn setting(&self, key: &str) -> Option<String> {
        let value = match key {
            "eval.mask" => toml::Value::try_from(self.mask),
            "eval.average" => toml::Value::try_from(self.average),
            _ => toml::Value::try_from(self.select?),
        };
        value.ok().map(|value| rivalry::params::shown(&value))
    }
}

/// Refuses runs that are not all comparable with each other, and names the difference.
///
/// # Errors
/// If two of the runs differ in data, split or protocol.
pub fn check_comparable(runs: &[FinishedRun]) -> Result<()> {
    let protocols: Vec<Protocol> = runs.iter().map(|run| Protocol::of(&run.config, &run.record)).collect();
    for (at, other) in protocols.iter().enumerate() {
        let Some(first) = protocols[..at].iter().position(|first| !first.is_comparable(other)) else {
            continue;
        };
        let (what, help) = explain([&runs[first], &runs[at]], [&protocols[first], other]);
        let path = runs[first].folder.path().display();
        let error = InputError::new(format!("can't be compared with {path}: {what}"));
        return Err(error.file(runs[at].folder.path()).help(help).into());
    }
    Ok(())
}

/// What is different, and what to do.
fn explain(runs: [&FinishedRun; 2], [first, other]: [&Protocol; 2]) -> (String, &'static str) {
    // The same checksum means the same data with the same split, whatever they are called.
    if first.data_checksum == other.data_checksum {
        let help = "compare runs of the same protocol: train with the same eval and train.select settings";
        return (format!("different protocol, {}", first.difference(other).unwrap_or_default()), help);
    }
    if first.data != other.data {
        let what = format!("different data, '{}', not '{}'", other.data, first.data);
        return (what, "compare runs on the same data");
    }
    let [one, two] = runs
        .map(|run| Settings::of(&run.config).filter(|key| key.starts_with("data.") && key != "data.source"));
    match one.first_difference(&two) {
        Some(key) => {
            let value = |settings: &Settings| settings.text(key).unwrap_or_else(|| "unset".to_owned());
            let what = format!("different split, {key} is {}, not {}", value(&two), value(&one));
            (what, "compare runs on the same split")
        }
        None => (
            format!("the data '{}' have changed between the runs (the checksums differ)", other.data),
            "train both on the current data",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protocol(select: Option<Select>, metric: &str) -> Protocol {
        Protocol {
            data: "log".to_owned(),
            data_checksum: "1".to_owned(),
            mask: Mask::default(),
            average: Average::default(),
            select,
            selection_metric: metric.parse().unwrap(),
        }
    }

    #[test]
    fn a_closed_form_is_comparable_however_epochs_were_selected() {
        let closed_form = protocol(None, "NDCG@20");
        for (select, metric) in
            [(Select::Valid, "NDCG@20"), (Select::Last, "NDCG@20"), (Select::Test, "NDCG@5")]
        {
            assert!(closed_form.is_comparable(&protocol(Some(select), metric)));
        }
        assert!(!closed_form.is_comparable(&Protocol { mask: Mask::Train, ..protocol(None, "NDCG@20") }));
        assert!(
            !closed_form.is_comparable(&Protocol { data_checksum: "2".to_owned(), ..closed_form.clone() })
        );
    }

    #[test]
    fn differences_are_named() {
        let valid = protocol(Some(Select::Valid), "NDCG@20");
        let difference = |other: &Protocol| valid.difference(other).unwrap();
        assert_eq!(difference(&protocol(Some(Select::Last), "NDCG@20")), "train.select is last, not valid");
        assert!(difference(&protocol(Some(Select::Valid), "NDCG@5")).contains("NDCG@5, not NDCG@20"));
    }
}
