//! `rivalry list`

use rivalry::data::read::FORMATS;
use rivalry::data::{Counts, SPLITS, SplitEntry, VALIDATIONS, catalogue, thousands};
use rivalry::eval::METRICS;
use rivalry::loss::LOSSES;
use rivalry::models::{Kind, MODELS};
use rivalry::optim::OPTIMIZERS;
use rivalry::params::{Entry, Param};
use rivalry::sampler::SAMPLERS;
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    grid: Vec<f64>,
}

pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let lines = match args.kind {
        ListKind::Losses => entries("loss", LOSSES),
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
        let rows = line.parameters.iter().map(|p| {
            let shown =
                |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let default = p.default.as_ref().map(|value| format!("= {}", shown(value))).unwrap_or_default();
            [p.key.clone(), default, p.range.clone(), p.summary.clone()]
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
    let parameter = |param: &Param| Parameter {
        key: format!("{section}.{}", param.name),
        default: Some(default_of(param)),
        range: match param.range.to_string() {
            any if any == "any" => String::new(),
            range => range,
        },
        summary: param.doc.to_owned(),
        grid: param.grid.to_vec(),
    };
    let line = |entry: &Entry<B>| Line {
        name: entry.name.to_owned(),
        summary: entry.summary.to_owned(),
        parameters: entry.params.iter().map(parameter).collect(),
        ..Line::default()
    };
    list.into_iter().map(line).collect()
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
