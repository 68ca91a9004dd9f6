//! The reference of every setting, made from where the settings are declared.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::layers::default_type;
use super::parse::choices_of;
use super::settings::{TrainConfig, TrainSection};
use crate::data::declared::Field;
use crate::data::read::ReadOptions;
use crate::data::{DataConfig, Preparation, SPLITS, SplitEntry, VALIDATIONS};
use crate::eval::EvalOptions;
use crate::loss::{Defaults, LOSSES, Negatives};
use crate::models::MODELS;
use crate::optim::OPTIMIZERS;
use crate::params::{Entry, Param, Range, Value, shown};
use crate::sampler::SAMPLERS;

/// A setting of a config.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingEntry {
    /// Its dotted key, such as `loss.tau`.
    pub key: String,
    /// The models, losses, … that have it, by their `type`; empty if it applies always.
    pub of: Vec<&'static str>,
    /// The type of its value: `number`, `whole number`, `true or false`, `text`, `choice` or `list of …`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The default as it is written in a config; `None` if it is unset or detected.
    pub default: Option<String>,
    /// Other defaults, where they depend on the loss.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub default_by_loss: BTreeMap<&'static str, String>,
    /// The legal values; empty if the type says it all.
    pub range: String,
    /// One line of documentation.
    pub doc: String,
}

/// Every setting, section by section.
pub fn settings() -> Vec<SettingEntry> {
    let mut all = declared(&DataConfig::default(), "data", DataConfig::fields());
    all.retain(|setting| setting.key == "data.source");
    all.extend(declared(&ReadOptions::default(), "data.read", ReadOptions::fields()));
    let of_split =
        |setting: &SettingEntry| !["data.prepare.split", "data.prepare.validation"].contains(&&*setting.key);
    let prepare = declared(&Preparation::default(), "data.prepare", Preparation::fields());
    all.extend(prepare.into_iter().filter(of_split));
    all.extend(split("data.prepare.split", "how the test set is chosen", SPLITS));
    all.extend(split("data.prepare.validation", "how the validation set is chosen", VALIDATIONS));
    all.extend(chosen(("model", "the model"), MODELS));
    all.extend(chosen(("loss", "the loss"), LOSSES));
    all.extend(chosen(("sampler", "how negatives are drawn"), SAMPLERS));
    all.extend(chosen(("optim", "the optimiser"), OPTIMIZERS));
    all.extend(declared(&TrainSection::default(), "train", TrainSection::fields()));
    all.extend(declared(&EvalOptions::default(), "eval", EvalOptions::fields()));
    all.iter_mut().for_each(add_range);
    all.iter_mut().for_each(add_defaults_of_losses);
    all
}

/// The settings of a struct that is read as it is declared.
fn declared<T: Serialize + DeserializeOwned>(
    default: &T,
    section: &str,
    fields: impl Iterator<Item = Field>,
) -> Vec<SettingEntry> {
    let defaults = toml::Table::try_from(default).unwrap_or_default();
    let setting = |field: Field| {
        let choices = choices_of::<T>(field.name);
        let inner = field.rust_type.trim_start_matches("Option<").trim_end_matches('>');
        let kind = match inner {
            _ if !choices.is_empty() => "choice",
            "usize" | "u32" | "u64" => "whole number",
            "f32" | "f64" => "number",
            "bool" => "true or false",
            "char" => "character",
            "Vec<usize" => "list of whole numbers",
            _ => "text",
        };
        let default = defaults.get(field.name).map(shown).filter(|text| !text.is_empty());
        let zero = || (inner == field.rust_type && kind == "number").then(|| "0".to_owned());
        SettingEntry {
            key: format!("{section}.{}", field.name),
            of: Vec::new(),
            kind: kind.to_owned(),
            default: default.or_else(zero),
            default_by_loss: BTreeMap::new(),
            range: choices.join(", "),
            doc: lower_first(&field.doc()),
        }
    };
    fields.map(setting).collect()
}

/// The settings of a section with a `type`, which is what it says.
fn chosen<B>((section, doc): (&str, &str), list: &'static [Entry<B>]) -> Vec<SettingEntry> {
    let names: Vec<&'static str> = list.iter().map(|entry| entry.name).collect();
    let mut all = vec![SettingEntry {
        key: format!("{section}.type"),
        of: Vec::new(),
        kind: "choice".to_owned(),
        default: default_type(section).map(str::to_owned),
        default_by_loss: BTreeMap::new(),
        range: names.join(", "),
        doc: doc.to_owned(),
    }];
    for (entry, param) in list.iter().flat_map(|entry| entry.params.iter().map(move |param| (entry, param))) {
        let setting = of_param(section, param);
        let same = |known: &SettingEntry| SettingEntry { of: Vec::new(), ..known.clone() } == setting;
        match all.iter().position(same) {
            Some(at) => all[at].of.push(entry.name),
            None => {
                let beside = all.iter().rposition(|known| known.key == setting.key);
                let at = beside.map_or(all.len(), |at| at + 1);
                all.insert(at, SettingEntry { of: vec![entry.name], ..setting });
            }
        }
    }
    all.iter_mut().filter(|setting| setting.of == names).for_each(|setting| setting.of.clear());
    all
}

fn of_param(section: &str, param: &Param) -> SettingEntry {
    let kind = match param.default {
        Value::Number(_) => "number",
        Value::Count(_) => "whole number",
        Value::Flag(_) => "true or false",
        Value::Choice(_) => "choice",
    };
    let range = match param.range {
        Range::Any => String::new(),
        Range::OneOf(names) => names.join(", "),
        range => range.to_string(),
    };
    SettingEntry {
        key: format!("{section}.{}", param.name),
        of: Vec::new(),
        kind: kind.to_owned(),
        default: Some(param.default.to_string()),
        default_by_loss: BTreeMap::new(),
        range,
        doc: param.doc.to_owned(),
    }
}

/// A split: its type, and the fields of each type.
fn split<T: Serialize>(key: &str, doc: &str, list: &'static [SplitEntry<T>]) -> Vec<SettingEntry> {
    let names: Vec<&str> = list.iter().map(|entry| entry.name).collect();
    let setting = |name: &str, default: String| SettingEntry {
        key: format!("{key}.{name}"),
        of: Vec::new(),
        kind: "choice".to_owned(),
        default: Some(default),
        default_by_loss: BTreeMap::new(),
        range: String::new(),
        doc: doc.to_owned(),
    };
    let first = list.first().map_or("", |entry| entry.name).to_owned();
    let mut all = vec![SettingEntry { range: names.join(", "), ..setting("type", first) }];
    for entry in list {
        let fields = toml::Table::try_from(&entry.default).unwrap_or_default();
        for (name, value) in fields.iter().filter(|(name, _)| *name != "type") {
            let kind = if value.is_integer() { "whole number" } else { "number" };
            let new =
                SettingEntry { kind: kind.to_owned(), doc: String::new(), ..setting(name, shown(value)) };
            let at = all.iter().position(|known| known.key == new.key);
            let at = at.unwrap_or_else(|| {
                all.push(new);
                all.len() - 1
            });
            all[at].of.push(entry.name);
            let more = format!("{}: {}", entry.name, entry.summary);
            all[at].doc = if all[at].doc.is_empty() { more } else { format!("{}; {more}", all[at].doc) };
        }
    }
    all
}

fn add_range(setting: &mut SettingEntry) {
    if let Some(range) = TrainConfig::range_of(&setting.key) {
        setting.range = range.to_string();
    }
}

/// Defaults that depend on the loss.
fn add_defaults_of_losses(setting: &mut SettingEntry) {
    let own = |defaults: &Defaults| match &setting.key[..] {
        "model.score" => Some(defaults.score.name().to_owned()),
        "optim.lr" => Some(defaults.lr.default.to_string()),
        "optim.weight_decay" => Some(defaults.weight_decay.default.to_string()),
        "train.negatives" => Some(match defaults.negatives {
            Negatives::Default(n) | Negatives::Exactly(n) => n.to_string(),
        }),
        _ => None,
    };
    let Some(usual) = own(&Defaults::COSINE) else { return };
    let others = LOSSES.iter().filter_map(|entry| Some((entry.name, own(&entry.build.defaults)?)));
    setting.default_by_loss = others.filter(|(_, own)| *own != usual).collect();
    setting.default = Some(usual);
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
