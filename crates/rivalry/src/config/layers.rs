//! Settings from several places, the later ones over the earlier: a data set's own, a file, the command line.

use std::path::Path;

use super::{Config, choose};
use crate::backbone::BACKBONES;
use crate::data::catalogue;
use crate::loss::{self, Companions, LOSSES, Negatives, RowLoss};
use crate::sample::SAMPLERS;
use crate::train::Score;
use crate::{Error, InputError, Result, did_you_mean};

impl Config {
    /// The defaults with these layers over them, checked, and with every parameter filled in.
    pub fn from_layers(layers: &[toml::Table]) -> Result<Self> {
        let mut whole = to_table(&Self::default());
        for layer in layers {
            overlay(&mut whole, layer.clone());
        }
        let mut config: Self =
            whole.clone().try_into().map_err(|e: toml::de::Error| explain(e.message(), &whole))?;
        config.check()?;
        fill("loss", LOSSES, &mut config.loss)?;
        let loss = loss::build(&config.loss)?;
        if config.model.score == Score::Dot && RowLoss::<f32>::companions(&*loss) == Companions::Similarities
        {
            let name = config.loss["type"].as_str().unwrap_or_default();
            let what =
                format!("{name} adds scores and cosines between items, so its scores must be cosines too");
            return Err(InputError::new(what)
                .field("model.score")
                .help("use model.score = \"cosine\"")
                .into());
        }
        let negatives = &mut config.train.negatives;
        match (loss.negatives(), *negatives) {
            (Negatives::Exactly(needed), Some(given)) if given != needed => {
                let name = config.loss["type"].as_str().unwrap_or_default();
                return Err(InputError::new(format!("{name} works with {needed} negatives, not {given}"))
                    .field("train.negatives")
                    .help("leave train.negatives out")
                    .into());
            }
            (Negatives::Exactly(usual) | Negatives::Default(usual), None) => *negatives = Some(usual),
            _ => {}
        }
        fill("backbone", BACKBONES, &mut config.backbone)?;
        fill("sampler", SAMPLERS, &mut config.sampler)?;
        Ok(config)
    }

    /// The whole config as TOML.
    pub fn to_toml(&self) -> String {
        to_table(self).to_string()
    }
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

/// A config file as a layer.
pub fn read_layer(path: &Path) -> Result<toml::Table> {
    let text = std::fs::read_to_string(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => InputError::new("not UTF-8 text").file(path).into(),
        _ => Error::io("read", path, e),
    })?;
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(0, |span| text[..span.start].matches('\n').count() as u64 + 1);
        InputError::new(e.message().trim()).file(path).line(line.max(1)).into()
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

/// Puts one table over another. A table that names another `type` replaces the old one whole: a loss's parameters
/// mean nothing to another loss.
fn overlay(base: &mut toml::Table, layer: toml::Table) {
    for (key, value) in layer {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(below)), toml::Value::Table(above)) => {
                if above.get("type").is_some_and(|name| below.get("type") != Some(name)) {
                    *below = above;
                } else {
                    overlay(below, above);
                }
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

/// Fills a section's unset parameters with their defaults, so that the record of a run says them all.
fn fill<B>(kind: &str, list: &'static [super::Entry<B>], section: &mut toml::Table) -> Result<()> {
    let (_, params) = choose(kind, list, section)?;
    section.extend(params.to_table());
    Ok(())
}

fn to_table(config: &Config) -> toml::Table {
    toml::Table::try_from(config).expect("a config holds nothing that TOML can't")
}

/// What the parser says about a value or an unknown key, with the key's whole name and the nearest known one.
fn explain(message: &str, whole: &toml::Table) -> InputError {
    let key = at_fault(message, "", whole).unwrap_or_else(|| "config".to_owned());
    let message = message.trim();
    let mut quoted = message.split('`').skip(1).step_by(2);
    let kind = if message.starts_with("unknown field") {
        "key"
    } else if message.starts_with("unknown variant") {
        "choice"
    } else {
        return InputError::new(message).field(key);
    };
    if let Some(given) = quoted.next() {
        let known: Vec<&str> = quoted.collect();
        let all = known.join(", ");
        let help = match did_you_mean(given, known) {
            Some(name) => format!("did you mean '{name}'? Known: {all}"),
            None => format!("known: {all}"),
        };
        return InputError::new(format!("unknown {kind} '{given}'")).field(key).help(help);
    }
    InputError::new(message).field(key)
}

/// The first key that makes the parser say the same when it alone is set. The parser itself doesn't name it.
fn at_fault(message: &str, prefix: &str, table: &toml::Table) -> Option<String> {
    table.iter().find_map(|(name, value)| {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        if let toml::Value::Table(inner) = value
            && let Some(found) = at_fault(message, &key, inner)
        {
            return Some(found);
        }
        let mut alone = to_table(&Config::default());
        overlay(&mut alone, setting_layer(&format!("{key}={value}")).ok()?);
        let fault = alone.try_into::<Config>().err()?;
        (fault.message() == message).then_some(key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(settings: &[&str]) -> Result<Config> {
        let layers: Result<Vec<_>> = settings.iter().map(|s| setting_layer(s)).collect();
        Config::from_layers(&layers?)
    }

    #[test]
    fn later_layers_win_and_another_type_starts_anew() {
        let config = with(&["loss.alpha=3", "loss.tau=0.5", "train.epochs=7"]).unwrap();
        assert_eq!((config.loss["alpha"].as_float(), config.train.epochs), (Some(3.0), 7));
        let config = with(&["loss.alpha=3", "loss.type=sl", "loss.tau=0.1"]).unwrap();
        assert_eq!(config.loss, "type = 'sl'\ntau = 0.1".parse().unwrap());
    }

    #[test]
    fn a_config_survives_its_file() {
        let config =
            with(&["loss.type=dsl-ca", "train.patience=3", "train.select=last", "eval.k=[5, 20]"]).unwrap();
        assert_eq!(Config::from_layers(&[config.to_toml().parse().unwrap()]).unwrap(), config);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let error = |setting: &str| with(&[setting]).unwrap_err().to_string();
        assert!(error("train.epoch=3").contains("did you mean 'epochs'?"));
        assert!(error("trian.epochs=3").contains("did you mean 'train'?"));
        assert!(error("loss.type=dls").contains("did you mean 'dsl'?"));
        assert!(error("loss.tau=0").starts_with("loss.tau: expected a number > 0"));
        assert!(error("optim.lr=nan").starts_with("optim.lr: expected a number > 0, found NaN"));
        assert!(error("train.batch_size=0").starts_with("train.batch_size: expected a whole number ≥ 1"));
        assert!(error("train.epochs=many").contains("invalid type"));
        assert!(error("train.select=lst").contains("unknown choice 'lst'\n  help: did you mean 'last'?"));
        assert!(error("model.score=dot").starts_with("model.score: dsl adds scores and cosines"));
        assert!(with(&["model.score=dot", "loss.type=sl"]).is_ok());
        assert!(error("loss.tau").contains("expected key=value"));
    }
}
