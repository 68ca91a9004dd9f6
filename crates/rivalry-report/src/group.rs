//! Groups of comparable runs: same data, backbone and protocol. Within a group, each loss is represented by the setting
//! that was selected on validation.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Select;
use rivalry::loss::LOSSES;
use rivalry_runs::stats::Summary;

use self::names::assign_labels;
use crate::run::Run;
use crate::settings::{CONDITIONS, varied};
use crate::summary::over_runs;

/// Comparable runs.
pub(crate) struct Group<'a> {
    /// Data and backbone, and whatever else distinguishes it from the other groups.
    pub label: String,
    pub data: String,
    pub backbone: String,
    /// How the epoch was selected; none if no run is finished.
    pub select: Option<Select>,
    /// The finished runs by loss, in the order of the list of losses.
    pub losses: Vec<LossRuns<'a>>,
    /// All runs, including unfinished ones.
    pub runs: Vec<&'a Run>,
}

/// The finished runs of one loss.
pub(crate) struct LossRuns<'a> {
    pub name: String,
    pub settings: Vec<Setting<'a>>,
    /// The index of the setting selected on validation; none if there are several without validation metrics.
    pub selected: Option<usize>,
    /// The config keys in which the settings differ.
    pub varied: Vec<String>,
}

/// A setting that is shown, with its loss.
#[derive(Clone, Copy)]
pub(crate) struct Row<'g, 'a> {
    pub loss: &'g LossRuns<'a>,
    pub setting: &'g Setting<'a>,
}

impl Row<'_, '_> {
    /// The values of the config keys in which the settings of the loss differ.
    pub(crate) fn varied_settings(&self) -> String {
        self.setting.runs[0].settings.show(&self.loss.varied)
    }
}

/// Runs that differ only in the seed.
pub(crate) struct Setting<'a> {
    /// One run for each seed.
    pub runs: Vec<&'a Run>,
    /// The validation value of the selection metric: the mean over the seeds that all settings of the loss share, so that
    /// settings are compared on the same seeds.
    pub valid: Option<f64>,
}

/// Groups runs, in the order of data and backbone.
pub(crate) fn group(runs: &[Run]) -> Vec<Group<'_>> {
    let mut alike: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let eval = &run.config.eval;
        let levels = CONDITIONS.map(|condition| run.settings.level(condition));
        let (data, backbone) = (run.settings.data(), run.backbone());
        let key = format!("{data}\n{backbone}\n{:?} {:?} {levels:?}", eval.mask, eval.average);
        alike.entry(key).or_default().push(run);
    }
    let mut groups: Vec<Group<'_>> = alike.into_values().flat_map(by_record).collect();
    groups.sort_by(|a, b| (&a.data, &a.backbone).cmp(&(&b.data, &b.backbone)));
    assign_labels(&mut groups);
    groups
}

/// Splits runs by the data checksum and the epoch selection that finished runs recorded: with the same config, either
/// can differ.
fn by_record(runs: Vec<&Run>) -> Vec<Group<'_>> {
    let mut by_key: Vec<((&str, Option<Select>), Vec<&Run>)> = Vec::new();
    let mut unfinished = Vec::new();
    for run in runs {
        let Some(record) = &run.record else {
            unfinished.push(run);
            continue;
        };
        let key = (&*record.data_checksum, record.outcome.training.as_ref().map(|training| training.select));
        match by_key.iter_mut().find(|(known, _)| *known == key) {
            Some((_, runs)) => runs.push(run),
            None => by_key.push((key, vec![run])),
        }
    }
    let mut groups: Vec<Group<'_>> =
        by_key.into_iter().map(|((_, select), runs)| Group::of(runs, select)).collect();
    match groups.first_mut() {
        Some(first) => first.runs.extend(unfinished),
        None => groups.push(Group::of(unfinished, None)),
    }
    groups
}

impl<'a> Group<'a> {
    fn of(runs: Vec<&'a Run>, select: Option<Select>) -> Self {
        let mut by_loss: BTreeMap<usize, Vec<&Run>> = BTreeMap::new();
        for run in runs.iter().filter(|run| run.record.is_some()) {
            by_loss.entry(loss_order(run.loss())).or_default().push(run);
        }
        let first = runs[0];
        let metric = first.config.eval.selection_metric();
        Self {
            label: String::new(),
            data: first.data(),
            backbone: first.backbone().to_owned(),
            select,
            losses: by_loss.into_values().map(|runs| LossRuns::of(runs, &metric)).collect(),
            runs,
        }
    }

    /// The metric that epochs and settings are selected by.
    pub(crate) fn metric(&self) -> String {
        self.runs[0].config.eval.selection_metric()
    }

    /// The selected setting of each loss, or all its settings if none could be selected.
    pub(crate) fn rows(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        self.losses.iter().flat_map(|loss| {
            let shown: Vec<&Setting<'_>> = match loss.selected {
                Some(selected) => vec![&loss.settings[selected]],
                None => loss.settings.iter().collect(),
            };
            shown.into_iter().map(move |setting| Row { loss, setting })
        })
    }

    /// The rows of the losses whose setting was selected on validation.
    pub(crate) fn selected_rows(&self) -> impl Iterator<Item = Row<'_, 'a>> {
        self.rows().filter(|row| row.loss.selected.is_some())
    }

    /// The selected setting of a loss.
    pub(crate) fn selected(&self, loss: &str) -> Option<&Setting<'a>> {
        let loss = self.losses.iter().find(|runs| runs.name == loss)?;
        loss.selected.map(|selected| &loss.settings[selected])
    }

    /// The number of settings of a loss that were tried, including pruned ones.
    pub(crate) fn tried(&self, loss: &str) -> usize {
        let tried = self.runs.iter().filter(|run| run.loss() == loss && (run.record.is_some() || run.pruned));
        tried.map(|run| run.settings.setting()).collect::<BTreeSet<_>>().len()
    }

    /// The indices of the runs in the rows.
    pub(crate) fn shown(&self) -> Vec<usize> {
        self.rows().flat_map(|row| row.setting.run_indices()).collect()
    }
}

impl<'a> LossRuns<'a> {
    fn of(runs: Vec<&'a Run>, metric: &str) -> Self {
        let name = runs[0].loss().to_owned();
        let varied = varied(runs.iter().map(|run| &run.settings));
        let mut alike: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
        for run in runs {
            let seeds = alike.entry(run.settings.setting()).or_default();
            // A repeated seed gives the same metrics; counting it twice would understate the deviation.
            if seeds.iter().all(|other| other.config.seed != run.config.seed) {
                seeds.push(run);
            }
        }
        let shared = shared_seeds(alike.values());
        let setting = |runs| Setting::of(runs, metric, &shared);
        let settings: Vec<Setting<'_>> = alike.into_values().map(setting).collect();
        let selected = select(&settings);
        Self { name, settings, selected, varied }
    }
}

impl<'a> Setting<'a> {
    /// `shared` are the seeds that the validation metric is averaged over; all if empty.
    fn of(runs: Vec<&'a Run>, metric: &str, shared: &BTreeSet<u64>) -> Self {
        let is_shared = |run: &&&Run| shared.is_empty() || shared.contains(&run.config.seed);
        let on_shared_seeds: Vec<&Run> = runs.iter().filter(is_shared).copied().collect();
        let valid = over_runs(&on_shared_seeds, |run| run.valid(metric));
        Self { valid: valid.map(|summary| summary.mean), runs }
    }

    /// A test metric over the seeds.
    pub(crate) fn test(&self, metric: &str) -> Option<Summary> {
        over_runs(&self.runs, |run| run.test(metric))
    }

    /// The indices of its runs.
    pub(crate) fn run_indices(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().map(|run| run.index)
    }
}

/// The seeds that every setting has a run of.
fn shared_seeds<'r>(settings: impl Iterator<Item = &'r Vec<&'r Run>>) -> BTreeSet<u64> {
    let seeds = settings.map(|runs| runs.iter().map(|run| run.config.seed).collect::<BTreeSet<_>>());
    seeds.reduce(|all, some| &all & &some).unwrap_or_default()
}

/// The setting with the best validation metric; none if a setting has none. Test metrics are never used.
fn select(settings: &[Setting<'_>]) -> Option<usize> {
    if settings.len() == 1 {
        return Some(0);
    }
    let valid: Option<Vec<f64>> = settings.iter().map(|setting| setting.valid).collect();
    let valid = valid?;
    (0..valid.len()).max_by(|&a, &b| valid[a].total_cmp(&valid[b]).then(b.cmp(&a)))
}

/// The position of a loss in the list of losses.
pub(crate) fn loss_order(loss: &str) -> usize {
    LOSSES.iter().position(|entry| entry.name == loss).unwrap_or(LOSSES.len())
}

#[cfg(test)]
mod tests;
