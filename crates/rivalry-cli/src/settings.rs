//! Resolves presets, config files and flags to the config of a run.

use std::path::Path;

use rivalry::config::{CONFIG_FORMAT, Config, no_source, read_layer, setting_layer, source_layer};
use rivalry::data::STANDARD_INPUT;
use rivalry::{Error, InputError, Result};
use rivalry_runs::presets::preset_layer;

use crate::args::Layer;
use crate::output::say;

/// The config of a run, before its data are known.
pub fn resolve(
    preset: Option<&str>,
    file: Option<&Path>,
    flags: toml::Table,
    set: &[String],
) -> Result<Config> {
    Config::from_layers(&layers(preset, file, flags, set)?)
}

/// The settings of a run, the lowest first: defaults of the data set, preset, config file, flags, each `--set`.
///
/// A path to data is made absolute, so that the run can be used from any folder.
pub fn layers(
    preset: Option<&str>,
    file: Option<&Path>,
    flags: toml::Table,
    set: &[String],
) -> Result<Vec<toml::Table>> {
    let preset = preset.map(preset_layer).transpose()?.unwrap_or_default();
    if let Some(file) = file.filter(|file| CONFIG_FORMAT.read(file, "").is_err_and(|e| e.is_damage())) {
        say(format_args!(
            "note    {}: was changed or damaged after Rivalry wrote it; its settings are used as they are now\n        \
             if you changed them, delete the first line, which holds the checksum",
            file.display()
        ));
    }
    let mut layers = vec![preset, file.map(read_layer).transpose()?.unwrap_or_default(), flags];
    for setting in set {
        layers.push(setting_layer(setting)?);
    }
    let source = layers.iter().rev().find_map(|layer| layer.get("data")?.get("source")?.as_str());
    let source = absolute_source(source)?;
    layers.insert(0, source_layer(&source));
    if let Some(file) = file {
        // Checked without the flags first, so that an error in the file names the file.
        Config::from_layers(&layers[..3]).map_err(|error| match error {
            Error::Input(error) => error.file(file).into(),
            other => other,
        })?;
    }
    let mut resolved = Layer::default();
    resolved.put("data.source", Some(source));
    layers.push(resolved.0);
    Ok(layers)
}

/// The data source: an existing path is made absolute, anything else is the name of a data set or
/// standard input.
pub fn absolute_source(source: Option<&str>) -> Result<String> {
    let Some(source) = source.filter(|source| !source.is_empty()) else {
        return Err(no_source().into());
    };
    let path = Path::new(source);
    if source == STANDARD_INPUT || !path.exists() {
        return Ok(source.to_owned());
    }
    let absolute = std::path::absolute(path).map_err(|e| Error::io("find", path, e))?;
    absolute.into_os_string().into_string().map_err(|_| {
        InputError::new("the path is not UTF-8 text")
            .file(path)
            .help("rename the folder, or move the data")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> toml::Table {
        text.parse().unwrap()
    }

    #[test]
    fn files_flags_and_sets_lie_over_each_other_in_that_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.toml");
        std::fs::write(&file, "[data]\nsource = 'synthetic'\n[train]\nepochs = 2\nseed = 2\nnegatives = 2")
            .unwrap();
        let set = ["train.seed=4".to_owned()];
        let config = resolve(None, Some(&file), table("train = { seed = 3, negatives = 3 }"), &set).unwrap();
        let train = config.gradient.unwrap().train;
        assert_eq!((train.epochs, train.negatives, config.seed), (2, 3, 4));
        assert_eq!(config.data.source, "synthetic");
    }

    #[test]
    fn a_fault_in_the_file_names_the_file_and_one_in_the_flags_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.toml");
        std::fs::write(&file, "[train]\nepoch = 2").unwrap();
        let flags = || table("data = { source = 'synthetic' }");
        let error = resolve(None, Some(&file), flags(), &[]).unwrap_err().to_string();
        assert!(error.contains("c.toml") && error.contains("did you mean 'epochs'?"), "{error}");
        let error = resolve(None, None, flags(), &["train.epoch=2".to_owned()]).unwrap_err().to_string();
        assert!(!error.contains("c.toml") && error.contains("did you mean 'epochs'?"), "{error}");
    }

    #[test]
    fn a_path_becomes_absolute_and_a_name_stays() {
        let config = resolve(None, None, table("data = { source = 'src' }"), &[]).unwrap();
        assert_eq!(Path::new(&config.data.source), std::env::current_dir().unwrap().join("src"));
        assert!(resolve(None, None, toml::Table::new(), &[]).unwrap_err().to_string().contains("--data"));
    }
}
