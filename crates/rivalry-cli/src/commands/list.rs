//! `rivalry list`

use rivalry::data::read::FORMATS;
use rivalry::data::{Counts, SPLITS, SplitEntry, VALIDATIONS, catalogue, thousands};
use rivalry::eval::METRICS;
use rivalry::loss::{Init, LOSSES, Negatives};
use rivalry::models::{Kind, MODELS};
use rivalry::optim::OPTIMIZERS;
use rivalry::params::{Draw, Entry, Param, Search};
use rivalry::sampler::SAMPLERS;
use rivalry_runs::presets::{paper_cells, preset_layer, tuned};
use rivalry_runs::settings::Settings;
use serde::Serialize;

use crate::args::{ListArgs, ListKind};
use crate::output::{print, print_json};
use crate::table;

/// An entry of a list.
#[derive(Default, Serialize)]
struct Line {
    name: String,
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recognised_by: Option<&'static str>,
    /// The value of a training pair, for a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'static str>,
    /// When to use a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    use_when: Option<&'static str>,
    /// The initialisation of the embeddings, for a loss.
    #[serde(skip_serializing_if = "Option::is_none")]
    initialisation: Option<String>,
    parameters: Vec<Parameter>,
}

/// A parameter of an entry.
#[derive(Default, Serialize)]
struct Parameter {
    /// The config key.
    key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "String::is_empty")]
    range: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    /// What a sweep tries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grid: Vec<f64>,
    /// How random trials draw it.
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<&'static str>,
    /// What the published search tried.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paper_grid: Vec<f64>,
}

impl Parameter {
    fn new(section: &str, param: &Param) -> Self {
        let Search { grid, draw, paper } = param.search;
        let draw = match draw {
            Draw::Listed => "listed",
            Draw::Uniform => "uniform",
            Draw::LogUniform => "log-uniform",
            Draw::Names => "every name",
        };
        Self {
            key: format!("{section}.{}", param.name),
            default: Some(default_of(param)),
            range: match param.range.to_string() {
                any if any == "any" => String::new(),
                range => range,
            },
            summary: param.doc.to_owned(),
            grid: grid.to_vec(),
            draw: (!grid.is_empty() || draw == "every name").then_some(draw),
            paper_grid: paper.to_vec(),
        }
    }

    /// The summary, and what a sweep tries.
    fn described(&self) -> String {
        let values: Vec<String> = self.grid.iter().map(f64::to_string).collect();
        match self.draw {
            Some(draw) if values.is_empty() => format!("{} [searched: {draw}]", self.summary),
            Some(draw) => format!("{} [searched: {}; {draw}]", self.summary, values.join(", ")),
            None => self.summary.clone(),
        }
    }
}

pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let lines = match args.kind {
        ListKind::Losses => losses(),
        ListKind::Models => entries("model", MODELS.iter()),
        ListKind::Backbones => {
            entries("model", MODELS.iter().filter(|entry| matches!(entry.build, Kind::Gradient(_))))
        }
        ListKind::Optimizers => entries("optim", OPTIMIZERS),
        ListKind::Samplers => entries("sampler", SAMPLERS),
        ListKind::Datasets => datasets(),
        ListKind::Metrics => metrics(),
        ListKind::Splits => choices("data.prepare.split", SPLITS),
        ListKind::Validations => choices("data.prepare.validation", VALIDATIONS),
        ListKind::Formats => formats(),
        ListKind::Presets => presets(),
        ListKind::Settings => return super::list_settings::run(args.json),
    };
    if args.json {
        print_json(&lines)?;
    } else {
        show(&lines)?;
    }
    Ok(())
}

fn show(lines: &[Line]) -> std::io::Result<()> {
    let width = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for line in lines {
        print(format_args!("{:width$}  {}", line.name, line.summary))?;
        if let Some(Counts { users, items, train, test }) = line.counts {
            let [users, items, pairs] = [users, items, train + test].map(thousands);
            print(format_args!("    {users} users, {items} items, {pairs} pairs"))?;
        }
        if let Some(sign) = line.recognised_by {
            print(format_args!("    recognised by {sign}"))?;
        }
        if let Some(formula) = line.formula {
            print(format_args!("    {formula}"))?;
        }
        if let Some(use_when) = line.use_when {
            print(format_args!("    use it {use_when}"))?;
        }
        if let Some(initialisation) = &line.initialisation {
            print(format_args!("    embeddings start {initialisation}"))?;
        }
        let rows = line.parameters.iter().map(|p| {
            let shown =
                |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let default = p.default.as_ref().map(|value| format!("= {}", shown(value))).unwrap_or_default();
            [p.key.clone(), default, p.range.clone(), p.described()]
        });
        for row in table::columns(rows) {
            print(format_args!("    {row}"))?;
        }
    }
    Ok(())
}

/// The default value as JSON.
fn default_of(param: &Param) -> serde_json::Value {
    let text = param.default.to_string();
    serde_json::from_str(&text).unwrap_or(text.into())
}

fn entries<B: 'static>(section: &str, list: impl IntoIterator<Item = &'static Entry<B>>) -> Vec<Line> {
    let line = |entry: &Entry<B>| Line {
        name: entry.name.to_owned(),
        summary: entry.summary.to_owned(),
        parameters: entry.params.iter().map(|param| Parameter::new(section, param)).collect(),
        ..Line::default()
    };
    list.into_iter().map(line).collect()
}

/// Losses: their parameters, and the settings of other sections that each brings along.
fn losses() -> Vec<Line> {
    let mut lines = entries("loss", LOSSES);
    for (line, entry) in lines.iter_mut().zip(LOSSES) {
        let defaults = &entry.build.defaults;
        line.formula = Some(entry.build.about.formula);
        line.use_when = Some(entry.build.about.use_when);
        let parameter = |key: &str, default: serde_json::Value, summary: &str| Parameter {
            key: key.to_owned(),
            default: Some(default),
            summary: summary.to_owned(),
            ..Parameter::default()
        };
        line.parameters.push(parameter(
            "model.score",
            defaults.score.name().into(),
            "score of a user and an item",
        ));
        line.parameters.push(Parameter::new("model", &defaults.popularity_weight));
        line.parameters.extend(defaults.optim().map(|param| Parameter::new("optim", param)));
        line.parameters.push(match defaults.negatives {
            Negatives::Default(n) => {
                parameter("train.negatives", n.into(), "negatives for each training pair")
            }
            Negatives::Exactly(n) => {
                parameter("train.negatives", n.into(), "negatives for each training pair, no other number")
            }
        });
        line.initialisation = Some(match defaults.init {
            Init::Normal(deviation) => format!("as normal numbers with standard deviation {deviation}"),
            Init::Xavier => "as normal numbers with variance 2/(rows + columns) (Xavier)".to_owned(),
        });
    }
    lines
}

/// Splits and validations: the parameters are the fields of the default value.
fn choices<T: Serialize>(section: &str, list: &[SplitEntry<T>]) -> Vec<Line> {
    let line = |choice: &SplitEntry<T>| {
        let fields = serde_json::to_value(&choice.default).unwrap_or_default();
        let fields = fields.as_object().into_iter().flatten().filter(|(key, _)| *key != "type");
        let parameters = fields.map(|(key, value)| Parameter {
            key: format!("{section}.{key}"),
            default: Some(value.clone()),
            ..Parameter::default()
        });
        let parameters = parameters.collect();
        Line {
            name: choice.name.to_owned(),
            summary: choice.summary.to_owned(),
            parameters,
            ..Line::default()
        }
    };
    list.iter().map(line).collect()
}

fn datasets() -> Vec<Line> {
    let line = |entry: &rivalry::data::CatalogueEntry| Line {
        name: entry.name.clone(),
        summary: entry.description.clone(),
        counts: entry.counts,
        ..Line::default()
    };
    catalogue().iter().map(line).collect()
}

fn metrics() -> Vec<Line> {
    let line = |metric: &rivalry::eval::MetricEntry| Line {
        name: format!("{}@K", metric.label),
        summary: metric.summary.to_owned(),
        ..Line::default()
    };
    METRICS.iter().map(line).collect()
}

/// The presets that can be run, with the hyperparameters they set.
fn presets() -> Vec<Line> {
    let line = |name: String, found: String| {
        let layer = preset_layer(&name).ok()?;
        let hyperparameters = Settings::from_table(&layer).filter(|key| {
            let section = key.starts_with("loss.") || key.starts_with("optim.");
            section && key != "loss.type"
        });
        let text =
            |key: &String| Some(format!("{} {}", key.split('.').next_back()?, hyperparameters.text(key)?));
        let settings: Vec<String> = hyperparameters.keys().filter_map(text).collect();
        Some(Line { name, summary: format!("{}; {found}", settings.join(", ")), ..Line::default() })
    };
    let published = paper_cells().iter().filter_map(|cell| {
        let figures = cell.published.iter().map(|(metric, value)| format!("{metric} {value}"));
        line(cell.name(), format!("published: {}", figures.collect::<Vec<_>>().join(", ")))
    });
    let ours = tuned().iter().filter_map(|tuned| {
        line(tuned.name(), format!("tuned by our own sweep: validation NDCG@20 {}", tuned.valid))
    });
    published.chain(ours).collect()
}

fn formats() -> Vec<Line> {
    let option = |option: &&str| Parameter { key: format!("data.read.{option}"), ..Parameter::default() };
    let line = |format: &rivalry::data::read::Format| Line {
        name: format.name.to_owned(),
        summary: format.summary.to_owned(),
        recognised_by: Some(format.recognised_by),
        parameters: format.options.iter().map(option).collect(),
        ..Line::default()
    };
    FORMATS.iter().map(line).collect()
}
