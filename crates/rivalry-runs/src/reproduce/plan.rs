//! The trainings that the published tables and figures need.

use super::cost;
use rivalry::config::{Config, Select, setting_layer, source_layer};
use rivalry::data::digest;
use rivalry::{InputError, Result};
use serde::{Deserialize, Serialize};

use crate::presets::{CellKey, paper_cells, preset_layer, tuned};
use crate::sweep::{Origin, Trial};

/// A table or figure that can be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Experiment {
    /// IID performance.
    Table1,
    /// Performance under a shift of popularity.
    Table2,
    /// DSL and its two branches alone.
    Ablation,
    /// Popular and rare items apart.
    HeadTail,
    /// Not in the paper: false pairs in the training set.
    FalsePositives,
    /// Not in the paper: training items of the user among the negatives.
    FalseNegatives,
}

const IID: [&str; 4] = ["amazon2014-health", "amazon2014-electronic", "amazon2014-movie", "gowalla"];
const SHIFTED: [&str; 2] = ["amazon2014-electronic-popularity", "gowalla-popularity"];
/// The end of the names of the shifted data sets.
const SHIFT: &str = "-popularity";
const BACKBONES: [&str; 2] = ["mf", "lightgcn"];
/// The rows of the tables; DSL@K, which the paper names without results; the branches of DSL; CAP, which is ours; and losses that
/// were published later.
const LOSSES: [&str; 15] = [
    "bpr",
    "guidedrec",
    "llpauc",
    "sl",
    "advinfonce",
    "bsl",
    "psl",
    "sl@k",
    "dsl",
    "dsl@k",
    "dsl-ca",
    "dsl-kappa",
    "cap",
    "talos",
    "drrl",
];
const ABLATION: [&str; 4] = ["sl", "dsl-ca", "dsl-kappa", "dsl"];
const NOISE_LOSSES: [&str; 4] = ["sl", "psl", "sl@k", "dsl-ca"];
const FALSE_POSITIVES: [f64; 4] = [0.05, 0.1, 0.15, 0.2];
const FALSE_NEGATIVES: [f64; 5] = [0.05, 0.1, 0.2, 0.3, 0.5];

impl Experiment {
    /// Those of the paper.
    pub const PAPER: [Self; 4] = [Self::Table1, Self::Table2, Self::Ablation, Self::HeadTail];

    fn needs(self) -> (&'static [&'static str], &'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Table1 => (&IID, &BACKBONES, &LOSSES),
            Self::Table2 => (&SHIFTED, &BACKBONES[..1], &LOSSES),
            Self::Ablation => (&IID, &BACKBONES, &ABLATION),
            Self::HeadTail => (&IID, &BACKBONES, &["sl", "dsl"]),
            Self::FalsePositives | Self::FalseNegatives => (&IID, &BACKBONES[..1], &NOISE_LOSSES),
        }
    }

    fn levels(self) -> Vec<Noise> {
        match self {
            Self::FalsePositives => FALSE_POSITIVES.map(Noise::FalsePositives).to_vec(),
            Self::FalseNegatives => FALSE_NEGATIVES.map(Noise::FalseNegatives).to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Artificial noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// None.
    None,
    /// False pairs, as a share of the training pairs.
    FalsePositives(f64),
    /// The probability that a negative is a training item of the user.
    FalseNegatives(f64),
}

/// What to reproduce.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// Tables and figures.
    pub experiments: Vec<Experiment>,
    /// Restricts the data sets, unless empty. A data set may be given by the last part of its name, such as `health`.
    pub data: Vec<String>,
    /// Restricts the models, unless empty.
    pub backbones: Vec<String>,
    /// Restricts the losses, unless empty. For noise any loss that has settings.
    pub losses: Vec<String>,
    /// The number of seeds, counted from 0.
    pub seeds: u64,
    /// The number of epochs instead of the published 200.
    pub epochs: Option<usize>,
    /// Early stopping after this many evaluations without an improvement, instead of running all epochs.
    pub patience: Option<usize>,
    /// Negatives shared by the whole batch instead of the published ones of each pair, for the losses that have many. Those that
    /// have few, with matrix factorisation, defer updates, which keeps the trajectory up to rounding.
    pub shared_negatives: bool,
}

/// The trainings that are needed.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The trainings, the cheapest first.
    pub planned: Vec<Planned>,
    /// The cells without settings, neither published nor tuned.
    pub left_out: Vec<CellKey>,
}

/// One training.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The training.
    pub trial: Trial,
    /// The digest of its config, by which a record knows it. Deferring updates with uniform negatives is not part of it.
    pub digest: String,
    /// Data set, model and loss.
    pub key: CellKey,
    /// The noise.
    pub noise: Noise,
    /// Whether the settings were tuned by our own sweeps; otherwise they are published.
    pub tuned: bool,
    /// The estimated time on one core, in seconds.
    pub cost: f64,
}

impl Planned {
    /// The name of the sampler.
    pub fn sampler(&self) -> &str {
        self.trial.config.gradient.as_ref().map_or("", |gradient| gradient.sampler.name())
    }
}

/// Plans the trainings of a request, each once, the cheapest first.
pub fn plan(request: &Request) -> Result<Plan> {
    let mut plan = Plan::default();
    for figure in &request.experiments {
        let (data, backbones, losses) = figure.needs();
        let any_loss = !figure.levels().is_empty() && !request.losses.is_empty();
        let losses: Vec<&str> = match any_loss {
            true => request.losses.iter().map(String::as_str).collect(),
            false => losses.to_vec(),
        };
        let levels = std::iter::once(Noise::None).chain(figure.levels());
        let levels: Vec<Noise> = levels.collect();
        for data in data.iter().filter(|data| wanted(&request.data, data)) {
            for backbone in backbones.iter().filter(|name| wanted(&request.backbones, name)) {
                for loss in losses.iter().filter(|name| wanted(&request.losses, name)) {
                    for &noise in &levels {
                        plan.add(request, &CellKey::new(data, backbone, loss), noise)?;
                    }
                }
            }
        }
    }
    if plan.planned.is_empty() && plan.left_out.is_empty() {
        return Err(InputError::new("no training is left with these restrictions")
            .field("--only")
            .help("remove some of them; 'rivalry reproduce --help' lists the parts")
            .into());
    }
    plan.left_out.sort();
    plan.left_out.dedup();
    plan.planned.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(plan)
}

/// Whether a name, or its last part, is among the requested ones.
fn wanted(asked: &[String], name: &str) -> bool {
    let alike = |asked: &String| {
        asked == name || name.strip_suffix(&asked[..]).is_some_and(|rest| rest.ends_with('-'))
    };
    asked.is_empty() || asked.iter().any(alike)
}

/// Settings of a cell.
struct Preset {
    name: String,
    tuned: bool,
    /// What it adds to the name of the training.
    suffix: &'static str,
}

/// The published settings of a cell and, where there are none or validation prefers others, the tuned ones.
fn presets(cell: &CellKey, noise: Noise) -> Vec<Preset> {
    let published = paper_cells().iter().find(|paper| paper.key == *cell && paper.lr.is_some());
    let suffix = if published.is_some() { "/tuned" } else { "" };
    let ours = tuned().iter().find(|tuned| tuned.key == *cell);
    // With noise, losses are compared at their published settings.
    let ours = ours.filter(|_| published.is_none() || noise == Noise::None);
    let published = published.map(|paper| Preset { name: paper.name(), tuned: false, suffix: "" });
    let ours = ours.map(|tuned| Preset { name: tuned.name(), tuned: true, suffix });
    published.into_iter().chain(ours).collect()
}

impl Plan {
    /// Adds the trainings of a cell.
    fn add(&mut self, request: &Request, key: &CellKey, noise: Noise) -> Result<()> {
        // The settings of the shifted data sets are not published; those of the unshifted ones are used.
        let data = key.data.strip_suffix(SHIFT).unwrap_or(&key.data).to_owned();
        let base = CellKey { data, ..key.clone() };
        let presets = presets(&base, noise);
        if presets.is_empty() {
            self.left_out.push(base);
        }
        presets.iter().try_for_each(|preset| self.add_preset(request, key, noise, preset))
    }

    fn add_preset(&mut self, request: &Request, key: &CellKey, noise: Noise, preset: &Preset) -> Result<()> {
        let mut layers = vec![preset_layer(&preset.name)?, setting_layer("eval.buckets=true")?];
        let mut name = format!("{key}{}", preset.suffix);
        let shifted = key.data.ends_with(SHIFT);
        if shifted {
            layers.push(source_layer(&key.data));
        }
        match noise {
            Noise::None => {}
            Noise::FalsePositives(share) => {
                name += &format!("/false-positives-{share}");
                layers.push(setting_layer(&format!("data.prepare.noise={share}"))?);
            }
            Noise::FalseNegatives(likely) => {
                name += &format!("/false-negatives-{likely}");
                layers.push(setting_layer(&format!("sampler.false_negatives={likely}"))?);
            }
        }
        // Losses with one negative or nine gain nothing from sharing them.
        let config = Config::from_layers(&layers)?;
        let many = config.gradient.as_ref().filter(|gradient| gradient.train.negatives >= 100);
        let (recorded, trained) = match (request.shared_negatives, many) {
            (true, Some(gradient)) => {
                name += "/shared-negatives";
                layers.push(setting_layer("sampler.type=shared")?);
                layers.push(setting_layer(&format!("sampler.pairs={}", gradient.train.batch_size))?);
                let shared = Config::from_layers(&layers)?;
                (shared.clone(), shared)
            }
            (true, None) if !config.model.uses_graph() => {
                layers.push(setting_layer("optim.deferred=true")?);
                (config, Config::from_layers(&layers)?)
            }
            _ => (config.clone(), config),
        };
        let with_seed = |config: &Config, seed: u64| {
            let mut config = Config { seed, ..config.clone() };
            if let Some(gradient) = &mut config.gradient {
                if shifted {
                    // As in the published reference; the metrics of the last epoch are in the log.
                    gradient.train.select = Some(Select::Test);
                }
                gradient.train.epochs = request.epochs.unwrap_or(gradient.train.epochs);
                gradient.train.patience = request.patience.or(gradient.train.patience);
            }
            config
        };

        for seed in 0..request.seeds {
            let trial = Trial {
                name: format!("{name}/seed-{seed}"),
                config: with_seed(&trained, seed),
                settings: Vec::new(),
                origin: Origin::Searched,
            };
            if self.planned.iter().any(|planned| planned.trial.name == trial.name) {
                continue;
            }
            self.planned.push(Planned {
                digest: digest::of_bytes(with_seed(&recorded, seed).to_toml().as_bytes()),
                cost: cost::seconds(&trial.config),
                trial,
                key: key.clone(),
                noise,
                tuned: preset.tuned,
            });
        }
        Ok(())
    }

    /// The estimated time of all trainings on one core, in seconds.
    pub fn cost(&self) -> f64 {
        self.planned.iter().map(|planned| planned.cost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(figures: &[Experiment], data: &[&str], backbones: &[&str]) -> Request {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Request {
            experiments: figures.to_vec(),
            data: names(data),
            backbones: names(backbones),
            seeds: 1,
            ..Request::default()
        }
    }

    #[test]
    fn the_tables_of_one_data_set_need_each_training_once_and_the_cheapest_comes_first() {
        let plan = plan(&asked(&Experiment::PAPER, &["health"], &["mf"])).unwrap();
        let mut names: Vec<&str> = plan.planned.iter().map(|planned| &planned.key.loss[..]).collect();
        names.extend(plan.left_out.iter().map(|left_out| &left_out.loss[..]));
        names.sort_unstable();
        names.dedup();
        let mut all: Vec<&str> = LOSSES.iter().chain(&ABLATION).copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(names, all);
        assert_eq!(plan.planned[0].key.loss, "bpr");
        assert!(plan.planned.iter().all(|planned| planned.key.data == "amazon2014-health"));
        let sl = plan.planned.iter().find(|planned| planned.key.loss == "sl").unwrap();
        assert!(!sl.tuned);
    }

    #[test]
    fn shifted_data_take_the_settings_of_their_unshifted_twin() {
        let plan = plan(&asked(&[Experiment::Table2], &["gowalla-popularity"], &[])).unwrap();
        let sl = plan.planned.iter().find(|planned| planned.key.loss == "sl").unwrap();
        assert_eq!(sl.trial.config.data.source, "gowalla-popularity");
        assert_eq!(sl.trial.config.gradient.as_ref().unwrap().train.select, Some(Select::Test));
        let twin = paper_cells().iter().find(|cell| cell.name() == "paper/gowalla/mf/sl").unwrap();
        assert_eq!(sl.trial.config.gradient.as_ref().unwrap().optim.lr(), twin.lr.unwrap());
    }

    #[test]
    fn shared_negatives_have_names_of_their_own_where_there_are_many_negatives() {
        let request =
            Request { shared_negatives: true, ..asked(&[Experiment::Table1], &["gowalla"], &["mf"]) };
        let plan = plan(&request).unwrap();
        let sampler = |loss: &str| {
            let planned = plan.planned.iter().find(|planned| planned.key.loss == loss).unwrap();
            (planned.trial.name.clone(), planned.sampler().to_owned())
        };
        assert_eq!(sampler("sl"), ("gowalla/mf/sl/shared-negatives/seed-0".to_owned(), "shared".to_owned()));
        assert_eq!(sampler("bpr"), ("gowalla/mf/bpr/seed-0".to_owned(), "uniform".to_owned()));
    }

    #[test]
    fn losses_with_few_negatives_are_known_by_the_same_record_whether_they_defer_updates_or_not() {
        let planned = |backbone: &str, shared_negatives: bool| {
            let mut request = asked(&[Experiment::Table1], &["gowalla"], &[backbone]);
            (request.losses, request.shared_negatives) = (vec!["guidedrec".to_owned()], shared_negatives);
            plan(&request).unwrap().planned.remove(0)
        };
        let (published, fast) = (planned("mf", false), planned("mf", true));
        assert_eq!((&published.trial.name, &published.digest), (&fast.trial.name, &fast.digest));
        let defers = |planned: &Planned| {
            planned.trial.config.gradient.as_ref().unwrap().optim.params().flag("deferred")
        };
        assert_eq!([&published, &fast, &planned("lightgcn", true)].map(defers), [false, true, false]);
    }

    #[test]
    fn tuned_settings_are_trained_beside_published_ones_but_not_with_noise() {
        let planned = |experiment: Experiment| {
            let mut request = asked(&[experiment], &["health"], &["mf"]);
            request.losses = vec!["sl@k".to_owned()];
            plan(&request).unwrap().planned
        };
        let names: Vec<String> =
            planned(Experiment::Table1).into_iter().map(|planned| planned.trial.name).collect();
        assert_eq!(names, ["amazon2014-health/mf/sl@k/seed-0", "amazon2014-health/mf/sl@k/tuned/seed-0"]);
        let noisy = planned(Experiment::FalsePositives);
        let noisy: Vec<&Planned> = noisy.iter().filter(|planned| planned.noise != Noise::None).collect();
        assert!(noisy.len() == FALSE_POSITIVES.len() && noisy.iter().all(|planned| !planned.tuned));
    }

    #[test]
    fn noise_has_levels_and_none() {
        let mut request = asked(&[Experiment::FalseNegatives], &["health"], &[]);
        request.losses = vec!["sl".to_owned()];
        let plan = plan(&request).unwrap();
        assert_eq!(plan.planned.len(), 6);
        let noisy = plan.planned.iter().find(|planned| planned.noise == Noise::FalseNegatives(0.5)).unwrap();
        assert_eq!(
            noisy.trial.config.gradient.as_ref().unwrap().sampler.params().number("false_negatives"),
            0.5
        );
    }
}
