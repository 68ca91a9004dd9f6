//! Settings from several places, the later ones over the earlier: a data set's own, a file, the command line.

use std::path::Path;

use super::default_loss::{DEFAULT_LOSS, default_settings};
use super::implied_split::imply_split;
use super::legacy::upgrade;
use super::parse::parse;
use super::settings::TrainSection;
use super::{Config, GradientConfig, TrainConfig};
use crate::backbone::{SCORE, Score};
use crate::data::catalogue;
use crate::eval::EvalOptions;
use crate::files::checksum::TextFormat;
use crate::loss::{LOSSES, LossConfig, NegativeFeatures, Negatives};
use crate::models::{Kind, MODELS, ModelConfig};
use crate::optim::{DEFERRED, OPTIMIZERS, OptimConfig};
use crate::params::Param;
use crate::sampler::{SAMPLERS, SamplerConfig};
use crate::{Error, InputError, Result, unknown_name};

/// The sections of a config.
const SECTIONS: [&str; 7] = ["data", "model", "loss", "sampler", "optim", "train", "eval"];

/// The sections with a `type`, and what it is by default.
const DEFAULT_TYPES: [(&str, &str); 4] =
    [("model", "mf"), ("loss", DEFAULT_LOSS), ("sampler", "uniform"), ("optim", "adam")];

/// The sections of the gradient trainer alone.
const GRADIENT: [&str; 3] = ["loss", "sampler", "optim"];

impl Config {
    /// The defaults with these layers over them, checked, and with every parameter filled in. Score, learning rate,
    /// weight decay and the number of negatives are by default those that suit the loss ([`Defaults`]). With shared
    /// negatives, `optim.deferred` is on by default.
    ///
    /// Configs of earlier releases mean what they meant: `[backbone]` is part of `[model]` now, and a complete config
    /// without `train.patience` runs all epochs.
    ///
    /// [`Defaults`]: crate::loss::Defaults
    ///
    /// # Errors
    /// If a key is unknown, a value out of range, or settings don't go together; the error names the key.
    pub fn from_layers(layers: &[toml::Table]) -> Result<Self> {
        Self::from_layers_for(layers, 0)
    }

    /// The same for a training set of so many pairs: where the layers choose no loss, the settings of the default loss
    /// follow them.
    ///
    /// # Errors
    /// As [`from_layers`](Self::from_layers).
    pub fn from_layers_for(layers: &[toml::Table], pairs: usize) -> Result<Self> {
        let mut given = toml::Table::new();
        for layer in layers {
            let mut layer = upgrade(layer.clone())?;
            imply_split(&given, &mut layer);
            overlay(&mut given, layer);
        }
        if let Some(key) = given.keys().find(|key| !SECTIONS.contains(&&key[..])) {
            return Err(unknown_name("section", key, SECTIONS).field(key.clone()).into());
        }
        put_defaults(&mut given, pairs);
        let model = ModelConfig::from_table("model", MODELS, &chosen(&given, "model")?)?;
        let data = parse("data", &given)?;
        let eval: EvalOptions = parse("eval", &given)?;
        eval.check_selection()?;
        let train: TrainSection = parse("train", &given)?;
        let seed = train.seed;
        let gradient = match model.is_gradient() {
            true => Some(gradient(&model, &given, train)?),
            false => {
                check_closed_form(&model, &given)?;
                None
            }
        };
        Ok(Self { data, model, gradient, seed, eval })
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::from_layers(&[]).expect("the defaults are legal")
    }
}

fn gradient(model: &ModelConfig, given: &toml::Table, train: TrainSection) -> Result<GradientConfig> {
    let [loss, sampler, optim] = GRADIENT.map(|section| chosen(given, section));
    let loss = LossConfig::from_table("loss", LOSSES, &loss?)?;
    check_score(model, &loss)?;
    let negatives = match (loss.defaults().negatives, train.negatives) {
        (Negatives::Exactly(needed), Some(given)) if given != needed => {
            return Err(InputError::new(format!(
                "{} works with {needed} negatives, not {given}",
                loss.name()
            ))
            .field("train.negatives")
            .help("leave `train.negatives` out")
            .into());
        }
        (Negatives::Exactly(usual) | Negatives::Default(usual), None) => usual,
        (_, Some(given)) => given,
    };
    let TrainSection { epochs, batch_size, eval_every, patience, select, init, shards, .. } = train;
    let shards = shards.unwrap_or(1);
    let train = TrainConfig { epochs, batch_size, negatives, eval_every, patience, select, init, shards };
    train.check()?;
    let sampler = SamplerConfig::from_table("sampler", SAMPLERS, &sampler?)?;
    let optim = OptimConfig::from_table("optim", OPTIMIZERS, &optim?)?;
    Ok(GradientConfig { loss, sampler, optim, train })
}

/// Puts what the loss and the sampler bring for other sections below what is given. Only what the chosen model and optimiser know is
/// put; what can't be read is left to the checks that follow.
fn put_defaults(given: &mut toml::Table, pairs: usize) {
    let type_of = |section: &str| match given.get(section).and_then(|table| table.get("type")) {
        Some(name) => name.as_str(),
        None => default_type(section),
    };
    let chosen = given.get("loss").is_some_and(|loss| loss.get("type").is_some());
    let [loss, model, optim, sampler] = ["loss", "model", "optim", "sampler"].map(type_of);
    let sampler = sampler.map(str::to_owned);
    let loss = LOSSES.iter().find(|entry| Some(entry.name) == loss);
    let model = MODELS.iter().find(|entry| Some(entry.name) == model);
    let optim = OPTIMIZERS.iter().find(|entry| Some(entry.name) == optim);
    let (Some(loss), Some(model), Some(optim)) = (loss, model, optim) else { return };
    if !matches!(model.build, Kind::Gradient(_)) {
        return;
    }
    let defaults = &loss.build.defaults;
    let mut put = |section: &str, known: &[Param], name: &str, value: toml::Value| {
        let table = given.entry(section).or_insert_with(|| toml::Table::new().into());
        if let (toml::Value::Table(table), true) = (table, known.iter().any(|param| param.name == name)) {
            table.entry(name).or_insert(value);
        }
    };
    for (section, key, value) in default_settings(pairs).into_iter().filter(|_| !chosen) {
        let known = if section == "loss" { loss.params } else { model.params };
        put(section, known, key, value.into());
    }
    put("model", model.params, SCORE.name, defaults.score.name().into());
    for param in defaults.optim() {
        put("optim", optim.params, param.name, param.default.to_toml());
    }
    // A step with shared negatives touches few rows.
    if sampler.as_deref() == Some("shared") {
        put("optim", optim.params, DEFERRED.name, true.into());
    }
}

/// Losses that add cosines between items to scores need scores that are cosines, too.
fn check_score(model: &ModelConfig, loss: &LossConfig) -> Result<()> {
    let adds_cosines = loss.build().negative_features() == NegativeFeatures::Similarities;
    if model.score() == Some(Score::Dot) && adds_cosines {
        let what = format!(
            "{} adds scores and cosines between items, so its scores must be cosines, too",
            loss.name()
        );
        return Err(InputError::new(what).field("model.score").help("use model.score = \"cosine\"").into());
    }
    Ok(())
}

/// Refuses settings of the gradient trainer for a model that is not trained by gradients.
fn check_closed_form(model: &ModelConfig, given: &toml::Table) -> Result<()> {
    let keys = |section: &str| -> Vec<String> {
        match given.get(section) {
            None => Vec::new(),
            Some(toml::Value::Table(table)) => table.keys().map(|key| format!("{section}.{key}")).collect(),
            Some(_) => vec![section.to_owned()],
        }
    };
    let of_sections = GRADIENT.iter().flat_map(|section| keys(section));
    let of_train = keys("train").into_iter().filter(|key| key != "train.seed");
    let given: Vec<String> = of_sections.chain(of_train).collect();
    if given.is_empty() {
        return Ok(());
    }
    let all = given.join(", ");
    let marked: Vec<String> = given.iter().map(|key| format!("`{key}`")).collect();
    let help =
        format!("leave {} out, or choose another model: 'rivalry list models' shows them", marked.join(", "));
    Err(InputError::new(format!("{} is not trained by gradients", model.name())).field(all).help(help).into())
}

/// A section with a `type`, which has a default.
fn chosen(given: &toml::Table, section: &str) -> Result<toml::Table> {
    let default = default_type(section).unwrap_or_default();
    let mut table = match given.get(section) {
        None => toml::Table::new(),
        Some(toml::Value::Table(table)) => table.clone(),
        Some(other) => {
            let help = format!("for example {section}.type = \"{default}\"");
            return Err(InputError::new(format!("expected a section, found {other}"))
                .field(section)
                .help(help)
                .into());
        }
    };
    table.entry("type").or_insert_with(|| default.into());
    Ok(table)
}

pub(super) fn default_type(section: &str) -> Option<&'static str> {
    DEFAULT_TYPES.iter().find(|(name, _)| *name == section).map(|(_, default)| *default)
}

/// What is known of a data source by its name, as the lowest layer: a benchmark comes with its own split.
pub fn source_layer(source: &str) -> toml::Table {
    let mut data = toml::Table::from_iter([("source".to_owned(), source.into())]);
    if let Some(entry) = catalogue().iter().find(|entry| entry.name == source) {
        let prepare =
            toml::Table::try_from(&entry.preparation).expect("a preparation holds nothing that TOML can't");
        data.insert("prepare".to_owned(), prepare.into());
    }
    toml::Table::from_iter([("data".to_owned(), data.into())])
}

/// The error where nothing says which data to train on.
pub fn no_source() -> InputError {
    InputError::new("no data to train on").help(
        "give a file, a folder or a name, such as --data synthetic; 'rivalry list datasets' shows the names",
    )
}

/// What the config of a run states of itself.
pub const CONFIG_FORMAT: TextFormat = TextFormat { name: "rivalry-config", version: 2 };

/// A config file as a layer. It is the user's own: that of a run may have been changed.
pub fn read_layer(path: &Path) -> Result<toml::Table> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => InputError::new("not UTF-8 text").file(path).into(),
        _ => Error::io("read", path, e),
    })?;
    Ok(parse_layer(&text, path)?)
}

/// The text of a config file as a layer; the path is for errors.
pub fn parse_layer(text: &str, path: &Path) -> Result<toml::Table, InputError> {
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(0, |span| text[..span.start].matches('\n').count() as u64 + 1);
        InputError::new(e.message().trim()).file(path).line(line.max(1))
    })
}

/// One setting as a layer: `key.key=value`. The value is TOML; what isn't TOML is taken as text.
pub fn setting_layer(setting: &str) -> Result<toml::Table> {
    let wrong =
        || InputError::new(format!("expected key=value, found '{setting}'")).help("for example loss.tau=0.1");
    let (key, value) = setting.split_once('=').ok_or_else(wrong)?;
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() || key.split('.').any(|part| part.trim().is_empty()) {
        return Err(wrong().into());
    }
    let parsed = format!("v = {value}").parse::<toml::Table>().ok().and_then(|mut table| table.remove("v"));
    let value = parsed.unwrap_or_else(|| value.into());
    let nest =
        |value: toml::Value, part: &str| toml::Table::from_iter([(part.trim().to_owned(), value)]).into();
    match key.rsplit('.').fold(value, nest) {
        toml::Value::Table(layer) => Ok(layer),
        _ => Err(wrong().into()),
    }
}

/// Parameters that all gradient models share: they survive a change of `model.type`.
const SHARED: [&str; 3] = ["dim", "score", "popularity_weight"];

/// Puts one table over another. A section that names another `type` replaces the old one, because parameters of one loss
/// mean nothing to another; of a model the parameters that all have are kept.
fn overlay(base: &mut toml::Table, layer: toml::Table) {
    for (key, value) in layer {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => {
                let old = below.get("type").and_then(toml::Value::as_str).or(default_type(&key));
                let new = above.get("type").and_then(toml::Value::as_str).or(old);
                if old != new {
                    below.retain(|name, _| key == "model" && SHARED.contains(&name));
                }
                overlay(below, above);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests;
