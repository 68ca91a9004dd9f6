//! `auto.json`: what was understood, tried and chosen. `spent.json`: the seconds of the search so far.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rivalry::eval::MetricAt;
use rivalry::files::checksum::TextFormat;
use serde::{Deserialize, Serialize};

use super::folder::{AUTO, SPENT_TIME};
use super::{ListsResult, Skipped, Understood};
use crate::Result;
use crate::compare::Comparison;
use crate::json_file::JsonFile;
use crate::run::Provenance;

const RECORD: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-auto", version: 1 },
    content: "the result of an automatic search",
    help: "remove it and give the same command again: nothing that was trained is lost",
};
const SPENT: JsonFile = JsonFile {
    format: TextFormat { name: "rivalry-auto-spent", version: 1 },
    content: "the time that an automatic search has taken",
    help: "remove it and give the same command again: the budget then begins anew",
};

/// The result of an automatic search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoRecord {
    /// What was understood of the log.
    pub understood: Understood,
    /// The metric that decides.
    pub metric: MetricAt,
    /// The budget in minutes.
    pub minutes: f64,
    /// Seconds that the search has taken.
    pub seconds: f64,
    /// Whether the user ended the search before the budget was spent.
    pub interrupted: bool,
    /// The number of trials.
    pub trials: usize,
    /// The best trial of each model, the winner first.
    pub models: Vec<ModelResult>,
    /// What was not tried, and why.
    pub skipped: Vec<Skipped>,
    /// The winner on the test set.
    pub test: TestResult,
    /// All models on the test set, with their differences from the winner.
    pub comparison: Comparison,
    /// How the lists of the models differ, and what new users get.
    pub lists: ListsResult,
    /// The winner, trained on everything.
    pub run: FinalRun,
    /// The program and machine.
    #[serde(flatten)]
    pub provenance: Provenance,
}

/// The best trial of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelResult {
    /// The model, and the loss if there is one.
    pub name: String,
    /// The settings that were searched.
    pub settings: BTreeMap<String, toml::Value>,
    /// Its trials that have a validation value.
    pub tried: usize,
    /// The best validation value.
    pub valid: f64,
    /// The epoch of that value, where there are epochs.
    pub epoch: Option<usize>,
    /// Seconds of training of the best trial.
    pub seconds: f64,
    /// The size of the model file in bytes.
    pub bytes: u64,
    /// The folder of its run, within that of the search.
    pub run: PathBuf,
}

/// A figure on the test set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The mean over the users.
    pub mean: f64,
    /// Its bootstrap confidence interval.
    pub interval: [f64; 2],
    /// The confidence level.
    pub confidence: f64,
    /// The number of users.
    pub users: usize,
}

/// The winner, trained on everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinalRun {
    /// Its folder, within that of the search.
    pub path: PathBuf,
    /// The number of epochs, where there are epochs.
    pub epochs: Option<usize>,
    /// Seconds of training.
    pub seconds: f64,
    /// The interactions that it was trained on.
    pub pairs: usize,
    /// The size of the model file in bytes.
    pub bytes: u64,
}

impl AutoRecord {
    /// The result in the folder of a search, if the search has come to one.
    ///
    /// # Errors
    /// If the file can't be read or is damaged.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        RECORD.read(&folder.join(AUTO))
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        RECORD.write(&folder.join(AUTO), self)
    }
}

/// The file of the time that is spent.
pub(super) struct SpentFile(PathBuf);

#[derive(Serialize, Deserialize)]
struct Spent {
    seconds: f64,
}

impl SpentFile {
    pub fn in_folder(folder: &Path) -> Self {
        Self(folder.join(SPENT_TIME))
    }

    pub fn read(&self) -> Result<f64> {
        Ok(SPENT.read::<Spent>(&self.0)?.map_or(0.0, |spent| spent.seconds))
    }

    pub fn write(&self, seconds: f64) -> Result<()> {
        SPENT.write(&self.0, &Spent { seconds })
    }
}
