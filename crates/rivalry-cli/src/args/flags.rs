//! Which flag of `rivalry train` sets which key of a config, found by trying them.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Arg, CommandFactory, Parser};
use rivalry_runs::settings::Settings;

use super::{Cli, Command};

/// The flags of `rivalry train` by the key that they set.
pub fn flags_by_key() -> BTreeMap<String, Vec<String>> {
    let command = Cli::command();
    let arguments = command.find_subcommand("train").into_iter().flat_map(clap::Command::get_arguments);
    let mut flags: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for arg in arguments {
        let Some(long) = arg.get_long() else { continue };
        for key in keys_of(arg, long) {
            flags.entry(key).or_default().push(format!("--{long}"));
        }
    }
    flags
}

/// What flags may need beside them.
const COMPANIONS: [&[&str]; 2] = [&[], &["--split", "random", "--validation", "random"]];

/// Values of every kind that a flag may take.
const VALUES: [&str; 3] = ["2", "0.5", "random"];

fn keys_of(arg: &Arg, long: &str) -> BTreeSet<String> {
    let flag = format!("--{long}");
    for companions in COMPANIONS {
        let before = set_by(companions, &[]).unwrap_or_default();
        let takes_value = arg.get_action().takes_values();
        let attempts: Vec<Vec<&str>> = match takes_value {
            true => VALUES.iter().map(|value| vec![&flag[..], value]).collect(),
            false => vec![vec![&flag]],
        };
        for attempt in attempts {
            let Some(after) = set_by(companions, &attempt) else { continue };
            let new = after.keys().filter(|key| {
                takes_value && before.get(key) != after.get(key) || {
                    // A switch stands for a setting only if the setting is a switch, too.
                    !takes_value && after.get(key).is_some_and(toml::Value::is_bool)
                }
            });
            return new.cloned().collect();
        }
    }
    BTreeSet::new()
}

/// The settings that these arguments make, if they can be parsed.
fn set_by(companions: &[&str], flag: &[&str]) -> Option<Settings> {
    let words = ["rivalry", "train"].iter().chain(companions).chain(flag);
    match Cli::try_parse_from(words).ok()?.command {
        Command::Train(args) => Some(Settings::from_table(&args.layer())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_found_with_what_they_need() {
        let flags = flags_by_key();
        for (key, flag) in [
            ("optim.lr", "--lr"),
            ("train.patience", "--patience"),
            ("data.source", "--data"),
            ("data.read.header", "--header"),
            ("data.prepare.item_core", "--k-core"),
            ("data.prepare.validation.ratio", "--valid-ratio"),
            ("model.dim", "--dim"),
        ] {
            assert!(flags[key].contains(&flag.to_owned()), "{key}: {:?}", flags[key]);
        }
        assert!(!flags.contains_key("sampler.type"), "--fast is one choice of several");
    }
}
