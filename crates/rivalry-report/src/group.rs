//! Which runs may be compared: same data, same backbone, same protocol. Within a group losses stand side by side, each
//! by the setting that validation chose.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use rivalry::config::Select;
use rivalry::loss::LOSSES;

use self::names::name_apart;
use crate::run::Run;
use crate::settings::{CONDITIONS, varied};
use crate::summary::Summary;

/// Runs that may be compared.
pub(crate) struct Group<'a> {
    /// What it is called: data and backbone, and whatever else tells it from the others.
    pub label: String,
    pub data: String,
    pub backbone: String,
    /// How the epoch was chosen; none if no run is finished.
    pub select: Option<Select>,
    /// The finished runs, loss by loss in the order of the list.
    pub losses: Vec<LossRuns<'a>>,
    /// All runs, the unfinished ones too.
    pub runs: Vec<&'a Run>,
}

/// The finished runs of one loss.
pub(crate) struct LossRuns<'a> {
    pub loss: String,
    pub settings: Vec<Setting<'a>>,
    /// Which of the settings validation chose; none if there are several and nothing to choose by.
    pub chosen: Option<usize>,
    /// The keys in which the settings differ.
    pub varied: Vec<String>,
}

/// Runs that differ in nothing but the seed.
pub(crate) struct Setting<'a> {
    /// One run a seed.
    pub runs: Vec<&'a Run>,
    /// The metric that epochs are chosen by, on the validation part: the mean over the seeds that all settings of the
    /// loss have, so that none is judged by luckier ones.
    pub valid: Option<f64>,
}

/// Puts runs into groups, by data and backbone.
pub(crate) fn group(runs: &[Run]) -> Vec<Group<'_>> {
    let mut alike: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
    for run in runs {
        let eval = &run.config.eval;
        let levels = CONDITIONS.map(|condition| run.settings.level(condition));
        let (data, backbone) = (run.settings.data(), run.backbone());
        let key = format!("{data}\n{backbone}\n{:?} {:?} {levels:?}", eval.mask, eval.average);
        alike.entry(key).or_default().push(run);
    }
    let mut groups: Vec<Group<'_>> = alike.into_values().flat_map(by_what_was_done).collect();
    groups.sort_by(|a, b| (&a.data, &a.backbone).cmp(&(&b.data, &b.backbone)));
    name_apart(&mut groups);
    groups
}

/// The same config can have met other data, or chosen its epoch otherwise: only the finished runs can tell.
fn by_what_was_done(runs: Vec<&Run>) -> Vec<Group<'_>> {
    let mut parts: Vec<((&str, Option<Select>), Vec<&Run>)> = Vec::new();
    let mut unfinished = Vec::new();
    for run in runs {
        let Some(record) = &run.record else {
            unfinished.push(run);
            continue;
        };
        let key = (&*record.data_checksum, record.outcome.training.as_ref().map(|training| training.select));
        match parts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, runs)) => runs.push(run),
            None => parts.push((key, vec![run])),
        }
    }
    let mut groups: Vec<Group<'_>> =
        parts.into_iter().map(|((_, select), runs)| Group::of(runs, select)).collect();
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
            by_loss.entry(place(run.loss())).or_default().push(run);
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

    /// The metric that epochs and settings are chosen by.
    pub(crate) fn metric(&self) -> String {
        self.runs[0].config.eval.selection_metric()
    }

    /// What is shown of each loss: its chosen setting, or every setting where none could be chosen.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&LossRuns<'a>, &Setting<'a>)> {
        self.losses.iter().flat_map(|loss| {
            let shown: Vec<&Setting<'_>> = match loss.chosen {
                Some(chosen) => vec![&loss.settings[chosen]],
                None => loss.settings.iter().collect(),
            };
            shown.into_iter().map(move |setting| (loss, setting))
        })
    }

    /// The chosen setting of a loss.
    pub(crate) fn chosen(&self, loss: &str) -> Option<&Setting<'a>> {
        let loss = self.losses.iter().find(|runs| runs.loss == loss)?;
        loss.chosen.map(|chosen| &loss.settings[chosen])
    }

    /// How many settings of a loss were tried, those that a search gave up included.
    pub(crate) fn tried(&self, loss: &str) -> usize {
        let ended =
            self.runs.iter().filter(|run| run.loss() == loss && (run.record.is_some() || run.given_up));
        ended.map(|run| run.settings.setting()).collect::<BTreeSet<_>>().len()
    }

    /// The runs that the rows are made of.
    pub(crate) fn shown(&self) -> Vec<usize> {
        self.rows().flat_map(|(_, setting)| setting.runs.iter().map(|run| run.number)).collect()
    }
}

impl<'a> LossRuns<'a> {
    fn of(runs: Vec<&'a Run>, metric: &str) -> Self {
        let loss = runs[0].loss().to_owned();
        let varied = varied(runs.iter().map(|run| &run.settings));
        let mut alike: BTreeMap<String, Vec<&Run>> = BTreeMap::new();
        for run in runs {
            let seeds = alike.entry(run.settings.setting()).or_default();
            // The same seed gives the same figures again: counted twice they would look surer than they are.
            if seeds.iter().all(|other| other.config.seed != run.config.seed) {
                seeds.push(run);
            }
        }
        let shared = shared_seeds(alike.values());
        let setting = |runs| Setting::of(runs, metric, &shared);
        let settings: Vec<Setting<'_>> = alike.into_values().map(setting).collect();
        let chosen = choose(&settings);
        Self { loss, settings, chosen, varied }
    }
}

impl<'a> Setting<'a> {
    /// `shared` are the seeds to be judged by; if there are none, all are.
    fn of(runs: Vec<&'a Run>, metric: &str, shared: &BTreeSet<u64>) -> Self {
        let judged = |run: &&&Run| shared.is_empty() || shared.contains(&run.config.seed);
        let judged: Vec<&Run> = runs.iter().filter(judged).copied().collect();
        let valid = Summary::over(&judged, |run| run.valid(metric));
        Self { valid: valid.map(|summary| summary.mean), runs }
    }

    /// A test metric over the seeds.
    pub(crate) fn test(&self, metric: &str) -> Option<Summary> {
        Summary::over(&self.runs, |run| run.test(metric))
    }
}

/// The seeds that every setting has been run from.
fn shared_seeds<'r>(settings: impl Iterator<Item = &'r Vec<&'r Run>>) -> BTreeSet<u64> {
    let seeds = settings.map(|runs| runs.iter().map(|run| run.config.seed).collect::<BTreeSet<_>>());
    seeds.reduce(|all, some| &all & &some).unwrap_or_default()
}

/// The best on validation. The test part is never looked at: where there is nothing else, nothing is chosen.
fn choose(settings: &[Setting<'_>]) -> Option<usize> {
    if settings.len() == 1 {
        return Some(0);
    }
    let valid: Option<Vec<f64>> = settings.iter().map(|setting| setting.valid).collect();
    let valid = valid?;
    (0..valid.len()).max_by(|&a, &b| valid[a].total_cmp(&valid[b]).then(b.cmp(&a)))
}

/// The place of a loss on the list.
pub(crate) fn place(loss: &str) -> usize {
    LOSSES.iter().position(|entry| entry.name == loss).unwrap_or(LOSSES.len())
}

#[cfg(test)]
mod tests;
