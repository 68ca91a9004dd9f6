//! Settings in error messages, named by the flags that set them.

use std::collections::BTreeMap;
use std::path::Path;

use clap::CommandFactory;
use rivalry::SettingMention;
use rivalry::config::read_layer;

use crate::args::{Cli, Command, DataCommand, flags_by_key};
use crate::output::quoted;

/// How the user of a command gives settings.
pub struct SettingNames {
    /// The command's arguments; `None` if its settings come from a run.
    command: Option<clap::Command>,
    /// The flags by the key that they set.
    flags: BTreeMap<String, Vec<String>>,
    /// What a config or search file sets: there, the keys are the names.
    file: toml::Table,
    /// The keys that `--set` sets.
    set: Vec<String>,
}

impl SettingNames {
    /// The names for the errors of a command.
    pub fn of(command: &Command) -> Self {
        let (path, file, set): (&[&str], _, &[String]) = match command {
            Command::Train(args) if args.resume.is_none() => {
                (&["train"], args.new.config.as_deref().map(layer), &args.new.set)
            }
            Command::Auto(_) => (&["auto"], None, &[]),
            Command::Update(_) => (&["update"], None, &[]),
            Command::Sweep(args) => (&["sweep"], args.file.as_deref().map(base_layer), &args.set),
            Command::Data(command) => match &**command {
                DataCommand::Stats { .. } => (&["data", "stats"], None, &[]),
                DataCommand::Prepare { .. } => (&["data", "prepare"], None, &[]),
            },
            _ => (&[], None, &[]),
        };
        let command =
            path.iter().try_fold(Cli::command(), |command, name| command.find_subcommand(name).cloned());
        let set =
            set.iter().filter_map(|setting| Some(setting.split_once('=')?.0.trim().to_owned())).collect();
        let command = command.filter(|_| !path.is_empty());
        let flags = if command.is_some() { flags_by_key() } else { BTreeMap::new() };
        Self { command, flags, file: file.unwrap_or_default(), set }
    }

    /// What the user writes for a setting; `None` if that is its config key.
    pub fn name(&self, setting: SettingMention<'_>) -> Option<String> {
        let command = self.command.as_ref()?;
        let has = |flag: &str| command.get_arguments().any(|arg| arg.get_long() == Some(flag));
        let in_file = setting.key.split('.').try_fold(None::<&toml::Value>, |value, key| match value {
            None => self.file.get(key).map(Some),
            Some(value) => value.get(key).map(Some),
        });
        let in_set = self.set.iter().any(|key| key == setting.key);
        if in_file.is_some() || (in_set && setting.value.is_none()) {
            return None;
        }
        let flags = self.flags.get(setting.key).into_iter().flatten();
        let flag = flags.map(|flag| flag.trim_start_matches('-')).find(|flag| has(flag) && !in_set);
        match (flag, setting.value) {
            (Some("header"), Some("false")) => Some("--no-header".to_owned()),
            (Some(flag @ ("header" | "skip-bad-rows")), _) => Some(format!("--{flag}")),
            (Some(flag), Some(value)) => Some(format!("--{flag} {}", quoted(Path::new(value)))),
            (Some(flag), None) => Some(format!("--{flag}")),
            (None, Some(value)) if setting.key.contains('.') && has("set") => {
                Some(format!("--set {}={}", setting.key, quoted(Path::new(value))))
            }
            (None, _) => None,
        }
    }
}

/// A config file, as far as it can be read.
fn layer(file: &Path) -> toml::Table {
    read_layer(file).unwrap_or_default()
}

/// The settings that the trials of a search file share.
fn base_layer(file: &Path) -> toml::Table {
    match layer(file).remove("base") {
        Some(toml::Value::Table(base)) => base,
        _ => toml::Table::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn named(args: &[&str], key: &str, value: Option<&str>) -> Option<String> {
        let cli = Cli::parse_from([&["rivalry"], args].concat());
        SettingNames::of(&cli.command).name(SettingMention { key, value })
    }

    #[test]
    fn the_name_depends_on_the_command_and_the_value() {
        let stats = ["data", "stats", "log.csv"];
        assert_eq!(named(&stats, "data.read.item", None).unwrap(), "--item-col");
        assert_eq!(named(&stats, "data.read.header", Some("false")).unwrap(), "--no-header");
        assert_eq!(named(&stats, "data.read.skip_bad_rows", Some("true")).unwrap(), "--skip-bad-rows");
        assert_eq!(named(&stats, "train.epochs", None), None);
        assert_eq!(named(&["train"], "data.prepare.split.type", Some("random")).unwrap(), "--split random");
        assert_eq!(named(&["train"], "train.select", Some("last")).unwrap(), "--set train.select=last");
        assert_eq!(named(&["train"], "train.patience", None).unwrap(), "--patience");
        assert_eq!(named(&["train"], "data.prepare.user_core", None).unwrap(), "--user-core");
        assert_eq!(named(&["train"], "rating", None), None);
        assert_eq!(named(&["evaluate", "run"], "data.read.item", None), None);
    }

    #[test]
    fn what_a_config_file_or_a_set_gives_keeps_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("c.toml");
        std::fs::write(&file, "[data.read]\nitem = 'thing'").unwrap();
        let args = ["train", "--config", file.to_str().unwrap()];
        assert_eq!(named(&args, "data.read.item", None), None);
        assert_eq!(named(&args, "data.read.user", None).unwrap(), "--user-col");
        assert_eq!(named(&["train", "--set", "model.dim=0"], "model.dim", None), None);
    }
}
