//! Groups of comparable runs: same data, same model, same protocol. Within a group each loss is represented by its best
//! setting on validation, as [`rivalry_runs::selection`] decides.

mod names;

use rivalry::eval::MetricAt;
use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Select;
use rivalry::loss::LOSSES;
use rivalry::models::MODELS;
use rivalry_runs::selection::{Protocol, SeedValue, best_setting, by_setting, mean_on_shared_seeds};
use rivalry_runs::stats::MeanStd;

use self::names::assign_labels;
use crate::run::Run;
use crate::settings::{CONDITIONS, NOISE, varied};
use crate::summary::over_runs;

/// Comparable runs.
pub(crate) struct Group<'a> {
    /// Data and model, and what distinguishes it from groups with the same data and model.
    pub label: String,
    pub data: String,
    pub backbone: String,
    /// How the epoch was selected; `None` if no run is finished or the models have no epochs.
    pub select: Option<Select>,
    /// The protocol of the finished runs.
    protocol: Option<Protocol>,
    /// The finished runs by loss, in the order of the list of losses; closed-form models last.
    pub losses: Vec<LossRuns<'a>>,
    /// All runs, including unfinished ones.
    pub runs: Vec<&'a Run>,
}

/// The finished runs of one loss, or of one closed-form model.
pub(crate) struct LossRuns<'a> {
    pub name: String,
    pub settings: Vec<Setting<'a>>,
    /// The index of the best setting on validation; `None` if there are several and no validation values.
    pub selected: Option<usize>,
    /// The number of settings tried, including pruned and failed ones.
    pub tried: usize,
    /// The config keys in which the settings tried differ.
    pub varied: Vec<String>,
    /// The config keys that tables show of a setting: those in which the settings of the group differ, or else the
    /// parameters of the loss.
    pub shown: Vec<String>,
}

/// A setting that is shown, with its loss.
#[derive(Clone, Copy)]
pub(crate) struct Row<'g, 'a> {
    pub loss: &'g LossRuns<'a>,
    pub setting: &'g Setting<'a>,
}

impl Row<'_, '_> {
    /// The setting, formatted for people.
    pub(crate) fn shown_settings(&self) -> String {
        self.setting.runs[0].settings.show(&self.loss.shown)
    }
}

/// Runs that differ only in the seed.
pub(crate) struct Setting<'a> {
    /// One run per seed.
    pub runs: Vec<&'a Run>,
    /// The mean validation value over the seeds that all settings of the loss share.
    pub valid: Option<f64>,
}

/// Groups runs by data, protocol and model. Closed-form models have no loss; their runs join every group with the same data
/// and protocol, so that each loss stands beside the simple baselines.
pub(crate) fn group(runs: &[Run]) -> Vec<Group<'_>> {
    let (closed_forms, trained): (Vec<&Run>, Vec<&Run>) = runs.iter().partition(|run| run.is_closed_form());
    let mut alike: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in trained {
        let levels = CONDITIONS.map(|condition| run.settings.level(condition));
        let key = format!("{}\n{} {levels:?}", task(run), run.backbone());
        alike.entry(key).or_default().push(run);
    }
    let mut groups: Vec<Group<'_>> = alike.into_values().flat_map(by_protocol).collect();
    let mut alone: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in closed_forms {
        let mut joined = false;
        for group in groups.iter_mut().filter(|group| group.accepts(run)) {
            group.runs.push(run);
            joined = true;
        }
        if !joined {
            alone.entry(task(run)).or_default().push(run);
        }
    }
    groups.extend(alone.into_values().flat_map(by_protocol));
    groups.iter_mut().for_each(Group::fill_losses);
    groups.sort_by(|a, b| (&a.data, &a.backbone).cmp(&(&b.data, &b.backbone)));
    assign_labels(&mut groups);
    groups
}

/// The data and the evaluation of a run, by its config. Splits are told apart by the checksum of the data: a config may
/// leave the split to defaults that another writes out.
fn task(run: &Run) -> String {
    let eval = &run.config.eval;
    let noise = run.settings.level(NOISE);
    format!("{}\n{:?} {:?} {noise}", run.settings.source(), eval.mask, eval.average)
}

/// Splits runs with the same config by the protocol of the finished ones: the data may have changed between them, and the
/// epoch may have been selected differently.
fn by_protocol(runs: Vec<&Run>) -> Vec<Group<'_>> {
    let mut parts: Vec<(Protocol, Vec<&Run>)> = Vec::new();
    let mut unfinished = Vec::new();
    for run in runs {
        let Some(protocol) = run.protocol() else {
            unfinished.push(run);
            continue;
        };
        match parts.iter_mut().find(|(known, _)| known.is_comparable(&protocol)) {
            Some((_, runs)) => runs.push(run),
            None => parts.push((protocol, vec![run])),
        }
    }
    let mut groups: Vec<Group<'_>> =
        parts.into_iter().map(|(protocol, runs)| Group::of(runs, Some(protocol))).collect();
    if groups.is_empty() {
        return vec![Group::of(unfinished, None)];
    }
    for run in unfinished {
        let same =
            |group: &Group<'_>| group.runs.iter().any(|other| other.settings.data() == run.settings.data());
        let place = groups.iter().position(same).unwrap_or(0);
        groups[place].runs.push(run);
    }
    groups
}

impl<'a> Group<'a> {
    fn of(runs: Vec<&'a Run>, protocol: Option<Protocol>) -> Self {
        let first = runs[0];
        Self {
            label: String::new(),
            data: first.data(),
            backbone: first.backbone().to_owned(),
            select: protocol.as_ref().and_then(|protocol| protocol.select),
            protocol,
            losses: Vec::new(),
            runs,
        }
    }

    /// Whether a run of a closed-form model belongs here, too.
    fn accepts(&self, run: &Run) -> bool {
        let comparable = match (&self.protocol, run.protocol()) {
            (Some(protocol), Some(other)) => protocol.is_comparable(&other),
            _ => true,
        };
        task(self.runs[0]) == task(run) && comparable
    }

    /// Whether the figures of two groups can stand in one table: the same data, conditions and protocol.
    pub(crate) fn is_comparable(&self, other: &Self) -> bool {
        let protocols = self.protocol.as_ref().zip(other.protocol.as_ref());
        let levels = |group: &Self| CONDITIONS.map(|key| group.runs[0].settings.level(key));
        protocols.is_some_and(|(one, two)| one.is_comparable(two))
            && task(self.runs[0]) == task(other.runs[0])
            && levels(self) == levels(other)
    }

    /// Sorts the runs by loss. A loss without a finished run is left out.
    fn fill_losses(&mut self) {
        let tried: Vec<&Run> = self.runs.iter().copied().filter(|run| run.state.is_over()).collect();
        let mut by_loss: BTreeMap<usize, Vec<&Run>> = BTreeMap::new();
        for run in &tried {
            by_loss.entry(loss_order(run.loss())).or_default().push(run);
        }
        let metric = self.metric();
        let by_loss = by_loss.into_values().filter(|runs| runs.iter().any(|run| run.record.is_some()));
        self.losses = by_loss.map(|runs| LossRuns::of(runs, metric)).collect();
        let varied = varied(tried.iter().map(|run| &run.settings));
        for loss in &mut self.losses {
            let settings = &loss.settings[0].runs[0].settings;
            loss.shown = varied.iter().filter(|key| settings.has(key)).cloned().collect();
            if loss.shown.is_empty() {
                loss.shown = settings.loss_keys();
            }
        }
    }

    /// The metric by which epochs and settings are selected.
    pub(crate) fn metric(&self) -> MetricAt {
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

    /// The indices of the runs in the rows.
    pub(crate) fn shown(&self) -> Vec<usize> {
        self.rows().flat_map(|row| row.setting.run_indices()).collect()
    }
}

impl<'a> LossRuns<'a> {
    /// Groups the runs of a loss that are over by their setting.
    fn of(runs: Vec<&'a Run>, metric: MetricAt) -> Self {
        let name = runs[0].loss().to_owned();
        let varied = varied(runs.iter().map(|run| &run.settings));
        let mut settings: Vec<Vec<&Run>> =
            by_setting(runs, |run| &run.config).into_iter().map(|(_, runs)| runs).collect();
        let tried = settings.len();
        settings.iter_mut().for_each(|runs| runs.retain(|run| run.record.is_some()));
        settings.retain(|runs| !runs.is_empty());
        for runs in &mut settings {
            // The same seed gives the same metrics again: counted twice it would understate the deviation.
            let mut seeds = BTreeSet::new();
            runs.retain(|run| seeds.insert(run.config.seed));
        }
        let value = |run: &&Run| SeedValue { seed: run.config.seed, valid: run.valid(metric) };
        let values: Vec<Vec<SeedValue>> =
            settings.iter().map(|runs| runs.iter().map(value).collect()).collect();
        let means = mean_on_shared_seeds(&values);
        let settings = settings.into_iter().zip(means).map(|(runs, valid)| Setting { runs, valid });
        let selected = best_setting(&values);
        Self { name, settings: settings.collect(), selected, tried, varied, shown: Vec::new() }
    }
}

impl Setting<'_> {
    /// A test metric over the seeds.
    pub(crate) fn test(&self, metric: MetricAt) -> Option<MeanStd> {
        over_runs(&self.runs, |run| run.test(metric))
    }

    /// The indices of its runs.
    pub(crate) fn run_indices(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().map(|run| run.index)
    }
}

/// The position of a loss, or of a closed-form model after all losses.
pub(crate) fn loss_order(loss: &str) -> usize {
    let names = LOSSES.iter().map(|entry| entry.name).chain(MODELS.iter().map(|entry| entry.name));
    names.into_iter().position(|name| name == loss).unwrap_or(LOSSES.len() + MODELS.len())
}

#[cfg(test)]
mod tests;
