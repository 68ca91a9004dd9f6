//! Settings from several places, the later ones over the earlier: a data set's own, a file, the command line.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::legacy::upgrade;
use super::settings::TrainSection;
use super::{Config, GradientConfig, TrainConfig};
use crate::backbone::Score;
use crate::data::catalogue;
use crate::eval::EvalOptions;
use crate::files::checksum::TextFormat;
use crate::loss::{LOSSES, Loss, LossConfig, NegativeFeatures, Negatives};
use crate::models::{MODELS, ModelConfig};
use crate::optim::{OPTIMIZERS, OptimConfig};
use crate::sampler::{SAMPLERS, SamplerConfig};
use crate::{Error, InputError, Result, did_you_mean, unknown_name};

/// The sections of a config.
const SECTIONS: [&str; 7] = ["data", "model", "loss", "sampler", "optim", "train", "eval"];

/// The sections with a `type`, and what it is by default.
const DEFAULT_TYPES: [(&str, &str); 4] =
    [("model", "mf"), ("loss", "dsl"), ("sampler", "uniform"), ("optim", "adam")];

/// The sections of the gradient trainer alone.
const GRADIENT: [&str; 3] = ["loss", "sampler", "optim"];

impl Config {
    /// The defaults with these layers over them, checked, and with every parameter filled in.
    ///
    /// Configs of release 0.1 are read, too: `[backbone]` is part of `[model]` now.
    ///
    /// # Errors
    /// If a key is unknown, a value out of range, or settings don't go together; the error names the key.
    pub fn from_layers(layers: &[toml::Table]) -> Result<Self> {
        let mut given = toml::Table::new();
        for layer in layers {
            let mut layer = upgrade(layer.clone())?;
            imply_split(&given, &mut layer);
            overlay(&mut given, layer);
        }
        if let Some(key) = given.keys().find(|key| !SECTIONS.contains(&&key[..])) {
            return Err(unknown_name("section", key, SECTIONS).field(key.clone()).into());
        }
        let model = ModelConfig::from_table("model", MODELS, &chosen(&given, "model")?)?;
        let data = parse("data", &given)?;
        let eval: EvalOptions = parse("eval", &given)?;
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
    let built = loss.build();
    check_score(model, &loss, &*built)?;
    let negatives = match (built.negatives(), train.negatives) {
        (Negatives::Exactly(needed), Some(given)) if given != needed => {
            return Err(InputError::new(format!(
                "{} works with {needed} negatives, not {given}",
                loss.name()
            ))
            .field("train.negatives")
            .help("leave train.negatives out")
            .into());
        }
        (Negatives::Exactly(usual) | Negatives::Default(usual), None) => usual,
        (_, Some(given)) => given,
    };
    let TrainSection { epochs, batch_size, eval_every, patience, select, .. } = train;
    let train = TrainConfig { epochs, batch_size, negatives, eval_every, patience, select };
    train.check()?;
    let sampler = SamplerConfig::from_table("sampler", SAMPLERS, &sampler?)?;
    let optim = OptimConfig::from_table("optim", OPTIMIZERS, &optim?)?;
    Ok(GradientConfig { loss, sampler, optim, train })
}

/// Losses that add cosines between items to scores need scores that are cosines, too.
fn check_score(model: &ModelConfig, config: &LossConfig, loss: &dyn Loss) -> Result<()> {
    if model.score() == Some(Score::Dot) && loss.negative_features() == NegativeFeatures::Similarities {
        let what = format!(
            "{} adds scores and cosines between items, so its scores must be cosines, too",
            config.name()
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
    let help = format!("leave {all} out, or choose another model: 'rivalry list models' shows them");
    Err(InputError::new(format!("{} is not trained by gradients", model.name())).field(all).help(help).into())
}

/// A fraction to hold out implies a random split, unless the layers so far or this one choose another way to split by a
/// fraction. A validation fraction implies a validation set by time if the test set is.
fn imply_split(below: &toml::Table, layer: &mut toml::Table) {
    let kind = |table: &toml::Table, of: &str| {
        let section = table.get("data")?.get("prepare")?.get(of)?;
        section.get("type")?.as_str().map(str::to_owned)
    };
    let split = kind(layer, "split").or_else(|| kind(below, "split"));
    for (of, fraction) in [("split", "test"), ("validation", "ratio")] {
        let chosen = kind(below, of).is_some_and(|kind| !["auto", "given", "none"].contains(&&*kind));
        let section = layer.get_mut("data").and_then(|data| data.get_mut("prepare")?.get_mut(of));
        let Some(toml::Value::Table(section)) = section else { continue };
        if section.contains_key(fraction) && !section.contains_key("type") && !chosen {
            let by_time = of == "validation" && split.as_deref() == Some("time");
            section.insert("type".to_owned(), if by_time { "time" } else { "random" }.into());
        }
    }
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

fn default_type(section: &str) -> Option<&'static str> {
    DEFAULT_TYPES.iter().find(|(name, _)| *name == section).map(|(_, default)| *default)
}

/// A section without a `type`.
fn parse<T: DeserializeOwned + Default>(section: &str, given: &toml::Table) -> Result<T> {
    let Some(value) = given.get(section) else { return Ok(T::default()) };
    let parsed = serde_path_to_error::deserialize(value.clone());
    parsed.map_err(|fault: serde_path_to_error::Error<toml::de::Error>| {
        let path = fault.path().to_string();
        let key = if path == "." { section.to_owned() } else { format!("{section}.{path}") };
        explain(fault.inner().message().trim(), key).into()
    })
}

/// What the parser says about a value or an unknown key, with the nearest known name.
fn explain(message: &str, key: String) -> InputError {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let kind = match message {
        _ if message.starts_with("unknown field") => "key",
        _ if message.starts_with("unknown variant") => "choice",
        _ => return InputError::new(plain(message)).field(key),
    };
    let given = quoted.next().unwrap_or_default().to_owned();
    let known: Vec<&str> = quoted.collect();
    let all = known.join(", ");
    let help = match did_you_mean(&given, known) {
        Some(name) => format!("did you mean '{name}'? Known: {all}"),
        None if all.is_empty() => "leave it out: there are no such settings here".to_owned(),
        None => format!("known: {all}"),
    };
    let key =
        if kind == "key" && !key.ends_with(&format!(".{given}")) { format!("{key}.{given}") } else { key };
    InputError::new(format!("unknown {kind} '{given}'")).field(key).help(help)
}

/// Rust's names of types, as people call them.
fn plain(message: &str) -> String {
    let names = [
        // Every setting of this type is a count of something that there must be.
        ("usize", "a whole number ≥ 1"),
        ("u32", "a whole number ≥ 0"),
        ("u64", "a whole number ≥ 0"),
        ("f32", "a number"),
        ("f64", "a number"),
        ("a boolean", "true or false"),
        ("a sequence", "a list"),
    ];
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let expected = names.into_iter().find(|(name, _)| *name == expected).map_or(expected, |(_, plain)| plain);
    // The kind of a value, such as `floating point`, stands before the value in quotes.
    let found = found.trim_start_matches("invalid type: ").trim_start_matches("invalid value: ");
    let value = match found.split_once(['`', '"']) {
        Some((_, value)) => value.trim_end_matches(['`', '"']),
        None => match found {
            "sequence" => "a list",
            "map" => "a section",
            other => other,
        },
    };
    format!("expected {expected}, found {value}")
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
const SHARED: [&str; 2] = ["dim", "score"];

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
mod tests {
    use super::*;
    use crate::data::{Split, Validation};

    fn with(settings: &[&str]) -> Result<Config> {
        let layers: Result<Vec<_>> = settings.iter().map(|s| setting_layer(s)).collect();
        Config::from_layers(&layers?)
    }

    #[test]
    fn later_layers_win_and_another_type_starts_anew() {
        let config = with(&["loss.alpha=3", "loss.tau=0.5", "train.epochs=7"]).unwrap();
        let gradient = config.gradient.unwrap();
        assert_eq!((gradient.loss.params().number("alpha"), gradient.train.epochs), (3.0, 7));
        let config = with(&["loss.alpha=3", "loss.type=sl", "loss.tau=0.1"]).unwrap();
        let loss = config.gradient.unwrap().loss;
        assert_eq!((loss.name(), loss.params().number("tau")), ("sl", 0.1));
    }

    #[test]
    fn a_fraction_implies_a_split() {
        let prepared = |settings: &[&str]| with(settings).map(|config| config.data.prepare);
        let (split, validation) = ("data.prepare.split", "data.prepare.validation");
        let random = prepared(&[&format!("{split}.test=0.3")]).unwrap();
        assert_eq!(random.split, Split::Random { test: 0.3 });
        let given = prepared(&[&format!("{split}.type=given"), &format!("{split}.test=0.3")]).unwrap();
        assert_eq!(given.split, random.split);
        let time = [
            &*format!("{split}.type=time"),
            &format!("{split}.test=0.3"),
            &format!("{validation}.ratio=0.2"),
        ];
        let time = prepared(&time).unwrap();
        assert_eq!(
            (time.split, time.validation),
            (Split::Time { test: 0.3 }, Validation::Time { ratio: 0.2 })
        );
        let none = prepared(&[&format!("{split}.type=none"), &format!("{validation}.ratio=0.2")]).unwrap();
        assert_eq!((none.split, none.validation), (Split::None {}, Validation::Random { ratio: 0.2 }));
        assert!(prepared(&[&format!("{split}.type=leave-last"), &format!("{split}.test=0.3")]).is_err());
    }

    #[test]
    fn a_config_survives_its_file() {
        let config =
            with(&["loss.type=dsl-ca", "train.patience=3", "train.select=last", "eval.k=[5, 20]"]).unwrap();
        assert_eq!(Config::from_layers(&[config.to_toml().parse().unwrap()]).unwrap(), config);
    }

    #[test]
    fn settings_of_the_gradient_trainer_are_named_one_by_one_where_they_have_no_meaning() {
        let error = |settings: &[&str]| with(settings).unwrap_err().to_string();
        let popular = "model.type=popularity";
        assert!(
            error(&[popular, "loss.tau=0.1"]).starts_with("loss.tau: popularity is not trained by gradients")
        );
        let several = error(&[popular, "loss.type=sl", "optim.lr=0.1", "train.epochs=3", "train.seed=1"]);
        assert!(several.starts_with("loss.type, optim.lr, train.epochs: popularity is not"), "{several}");
        assert!(error(&[popular, "loss=sl"]).starts_with("loss: popularity is not trained by gradients"));
        assert!(with(&[popular, "train.seed=1"]).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |setting: &str| with(&[setting]).unwrap_err().to_string();
        assert!(error("train.epoch=3").contains("did you mean 'epochs'?"));
        assert!(error("trian.epochs=3").contains("did you mean 'train'?"));
        assert!(error("loss.type=dls").contains("did you mean 'dsl'?"));
        assert!(error("loss.tau=0").starts_with("loss.tau: expected a number > 0"));
        assert!(error("optim.lr=nan").starts_with("optim.lr: expected a number > 0, found nan"));
        assert!(error("train.batch_size=0").starts_with("train.batch_size: expected a whole number ≥ 1"));
        assert_eq!(error("train.epochs=many"), "train.epochs: expected a whole number ≥ 1, found many");
        assert_eq!(error("train.epochs=2.5"), "train.epochs: expected a whole number ≥ 1, found 2.5");
        assert_eq!(error("train.epochs=-3"), "train.epochs: expected a whole number ≥ 1, found -3");
        assert_eq!(error("train.epochs=true"), "train.epochs: expected a whole number ≥ 1, found true");
        assert_eq!(error("train.epochs=[3]"), "train.epochs: expected a whole number ≥ 1, found a list");
        assert_eq!(error("train.epochs.n=3"), "train.epochs: expected a whole number ≥ 1, found a section");
        assert_eq!(error("eval.k=20"), "eval.k: expected a list, found 20");
        assert_eq!(error("eval.buckets=1"), "eval.buckets: expected true or false, found 1");
        assert_eq!(
            error("data.prepare.user_core=1.5"),
            "data.prepare.user_core: expected a whole number ≥ 0, found 1.5"
        );
        assert!(error("train.select=lst").contains("unknown choice 'lst'\n  help: did you mean 'last'?"));
        assert!(error("model.score=dot").starts_with("model.score: dsl adds scores and cosines"));
        assert!(with(&["model.score=dot", "loss.type=sl"]).is_ok());
        assert!(error("loss.tau").contains("expected key=value"));
    }
}
