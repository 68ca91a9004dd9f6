//! Settings that won at an end of the range that was searched.

use rivalry::config::Config;
use rivalry::params::{Param, Range};
use serde::{Deserialize, Serialize};

use super::Trial;
use super::grid::Grid;
use super::values::Values;
use crate::settings::Settings;

/// A setting at an end of the range that was searched. Better values may lie beyond.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Its dotted key.
    pub key: String,
    /// Its value.
    pub value: f64,
    /// The lowest value that was searched.
    pub from: f64,
    /// The highest.
    pub to: f64,
}

impl Edge {
    /// Whether it is the upper end.
    pub fn is_upper(&self) -> bool {
        self.to - self.value < self.value - self.from
    }
}

/// What it is, and what to do.
impl std::fmt::Display for Edge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key, value, from, to } = self;
        let (end, next) = match self.is_upper() {
            true => ("upper", "higher"),
            false => ("lower", "lower"),
        };
        write!(f, "{key} {value} is at the {end} end of {from} to {to}: {next} values may be better")
    }
}

/// The share of a range, from either end, that counts as its end where values are drawn.
const NEAR: f64 = 0.05;

/// The settings of a trial at the ends of what the grids of its group search. Ends that no legal value lies beyond don't
/// count, nor do lists of one or two values, which have nothing else.
pub(super) fn of(trial: &Trial, grids: &[Grid], drawn: bool) -> Vec<Edge> {
    let settings = Settings::of(&trial.config);
    let belongs = |grid: &&Grid| {
        ["model.type", "loss.type"].iter().all(|key| {
            let (types, own) = (grid.get(key), settings.get(key));
            types.is_none_or(|types| own.is_some_and(|own| types.listed().contains(own)))
        })
    };
    let mut edges: Vec<Edge> = Vec::new();
    for (key, values) in grids.iter().filter(belongs).flat_map(|grid| &grid.0) {
        let (Some(value), Some(searched)) = (settings.number(key), Searched::of(values, drawn)) else {
            continue;
        };
        let range = range(&trial.config, key);
        if searched.is_edge(value, range) && edges.iter().all(|edge| edge.key != *key) {
            edges.push(Edge { key: key.clone(), value, from: searched.from, to: searched.to });
        }
    }
    edges
}

/// A range that was searched.
struct Searched {
    from: f64,
    to: f64,
    log: bool,
    /// The share of the range that counts as its end.
    near: f64,
}

impl Searched {
    fn of(values: &Values, drawn: bool) -> Option<Self> {
        if let (&Values::Range { from, to, log, .. }, true) = (values, drawn) {
            return Some(Self { from, to, log, near: NEAR });
        }
        let number = |value: &toml::Value| value.as_float().or(value.as_integer().map(|n| n as f64));
        let mut numbers: Vec<f64> = values.listed().iter().map(number).collect::<Option<_>>()?;
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let &[from, _, .., to] = &numbers[..] else { return None };
        Some(Self { from, to, log: false, near: 0.0 })
    }

    fn is_edge(&self, value: f64, legal: Option<Range>) -> bool {
        let scale = |x: f64| if self.log { x.ln() } else { x };
        let (from, to) = (scale(self.from), scale(self.to));
        let margin = self.near * (to - from);
        let legal = |x: f64| legal.is_none_or(|range| range.holds(x));
        let below = if self.from > 0.0 { self.from / 2.0 } else { self.from - 1.0 };
        let above = self.to + (self.to - self.from) / 2.0;
        (scale(value) <= from + margin && legal(below)) || (scale(value) >= to - margin && legal(above))
    }
}

/// The legal values of a parameter of the model, the loss or the optimiser.
fn range(config: &Config, key: &str) -> Option<Range> {
    let (section, name) = key.split_once('.')?;
    let gradient = config.gradient.as_ref();
    let params: &[Param] = match section {
        "model" => config.model.entry().params,
        "loss" => gradient?.loss.entry().params,
        "optim" => gradient?.optim.entry().params,
        "sampler" => gradient?.sampler.entry().params,
        _ => return None,
    };
    params.iter().find(|param| param.name == name).map(|param| param.range)
}
