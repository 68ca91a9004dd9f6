//! The comparison of the selected settings with a baseline, as `rivalry compare` makes it: by the values of each user.

mod notes;
mod tables;

pub use notes::comparison_notes;
pub use tables::comparison_tables;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rivalry::data::{Dataset, LoadOptions, is_local, load};
use rivalry::eval::MetricAt;
use rivalry::{InputError, Result};
use rivalry_runs::compare::{CompareOptions, Comparison, compare, group_by_method};
use rivalry_runs::run::FinishedRun;
use rivalry_runs::settings::Settings;

use crate::group::{Group, Row};
use crate::run::Run;
use crate::table::Table;

/// The comparison of the selected settings of a group, or why there is none.
pub(crate) enum GroupComparison {
    /// There are fewer than two losses with several seeds.
    TooFewSeeds,
    /// It can't be made, for this reason.
    Impossible(String),
    Made {
        comparison: Box<Comparison>,
        /// The losses with a single seed.
        left_out: Vec<String>,
    },
}

impl GroupComparison {
    /// The differences from the baseline, with the tests in the caption.
    pub(crate) fn table(&self) -> Option<Table> {
        let Self::Made { comparison, left_out } = self else { return None };
        let table = tables::differences(comparison);
        let mut caption = format!(
            "{}, as rivalry compare computes it. {}",
            table.caption,
            comparison_notes(comparison).join(" ")
        );
        if !left_out.is_empty() {
            caption += &format!(" Left out, with a single seed: {}.", left_out.join(", "));
        }
        Some(Table { caption, ..table })
    }
}

/// Compares the selected settings of each group. Evaluates their models on the test set, which takes the data: those
/// that are not on this machine are not downloaded. `progress` is called before each evaluation with the number of
/// runs done and the total of the group.
pub(crate) fn comparisons(
    groups: &[Group<'_>],
    options: &LoadOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<GroupComparison> {
    let mut loaded = Loaded { options, datasets: HashMap::new() };
    let mut of_group = |group: &Group<'_>| {
        let (rows, others): (Vec<Row<'_, '_>>, Vec<Row<'_, '_>>) = group.selected_rows().partition(has_seeds);
        let trained = rows.iter().filter(|row| row.setting.runs.len() > 1).count();
        if trained == 0 || rows.len() < 2 {
            return GroupComparison::TooFewSeeds;
        }
        match compared(group, &rows, &mut loaded, progress) {
            Ok(comparison) => GroupComparison::Made {
                comparison: Box::new(comparison),
                left_out: others.iter().map(|row| row.loss.name.clone()).collect(),
            },
            Err(reason) => GroupComparison::Impossible(reason.to_string().replace("\n  help: ", "; ")),
        }
    };
    groups.iter().map(&mut of_group).collect()
}

/// Whether a setting was run with several seeds, or does not depend on the seed.
fn has_seeds(row: &Row<'_, '_>) -> bool {
    row.setting.runs.len() > 1 || !row.setting.runs[0].config.model.uses_seed()
}

fn compared(
    group: &Group<'_>,
    rows: &[Row<'_, '_>],
    loaded: &mut Loaded<'_>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Comparison> {
    let runs = rows.iter().flat_map(|row| &row.setting.runs);
    let runs: Vec<FinishedRun> = runs.map(|run| FinishedRun::open(&run.path)).collect::<Result<_>>()?;
    let methods = group_by_method(runs)?;
    let baseline = rows.iter().find(|row| row.loss.name == "sl").unwrap_or(&rows[0]);
    let metric = group.metric();
    let recall = MetricAt::recall(metric.k());
    let options = CompareOptions {
        baseline: Some(baseline.setting.runs[0].path.display().to_string()),
        metrics: if metric == recall { vec![metric] } else { vec![metric, recall] },
        ..CompareOptions::default()
    };
    let dataset = loaded.dataset(baseline.setting.runs[0])?;
    compare(&methods, dataset, &options, &mut |at| progress(at.done, at.total))
}

/// The data sets, each loaded once.
struct Loaded<'o> {
    options: &'o LoadOptions,
    datasets: HashMap<String, Dataset>,
}

impl Loaded<'_> {
    /// The data set of a run, unless it had to be downloaded first.
    fn dataset(&mut self, run: &Run) -> Result<&Dataset> {
        let data = &run.config.data;
        let key = Settings::of(&run.config).filter(|key| key.starts_with("data.")).to_string();
        match self.datasets.entry(key) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                if !is_local(&data.source, self.options.data_dir.as_deref()) {
                    let error = InputError::new("the data are not on this machine").file(&data.source);
                    return Err(error.into());
                }
                Ok(new.insert(load(data, self.options, &mut |_| {})?))
            }
        }
    }
}
