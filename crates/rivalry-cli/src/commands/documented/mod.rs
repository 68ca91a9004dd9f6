//! The commands that the documentation shows can be given: the parser accepts those of `rivalry` and their settings exist;
//! scripts, cargo targets and their flags exist, too. Most of these commands are not run by tests, because they need
//! published data, hours or several machines.

mod shell;

use std::path::{Path, PathBuf};

use clap::Parser;
use clap::error::ErrorKind;

use crate::args::{Cli, Command};
use crate::settings::resolve;

/// What stands for a value in a command of the documentation, and a value that can stand there.
const PLACEHOLDERS: [(&str, &str); 11] = [
    ("D", "synthetic"),
    ("L", "sl"),
    ("NAME", "ease"),
    // The loss that the page on extending adds.
    ("squared-hinge", "bpr"),
    ("S", "1"),
    ("E", "10"),
    ("T", "0.2"),
    ("G", "0.9"),
    ("W", "0.1"),
    ("$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT", "1/8"),
    ("…", "value"),
];

/// Folders of the repository whose files are named in commands.
const FOLDERS: [&str; 5] = ["benches/", "crates/", "examples/", "scripts/", "tests/"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of the documentation, with their paths.
fn documents() -> Vec<(String, String)> {
    let mut paths =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "RELEASING.md"].map(PathBuf::from).to_vec();
    let mut folders = vec![PathBuf::from("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(repository().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                paths.push(path);
            }
        }
    }
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(repository().join(&path)).unwrap();
        (path.display().to_string(), text)
    };
    paths.into_iter().map(read).collect()
}

/// A command of the documentation.
struct Shown {
    words: Vec<String>,
    /// Whether it stands in a block of commands. In a sentence it may be the name of a command alone.
    whole: bool,
}

/// The commands of a document: those of its `sh` blocks, and those in its sentences.
fn commands(document: &str) -> Vec<Shown> {
    let mut shown = Vec::new();
    for (number, part) in document.split("```").enumerate() {
        if number % 2 == 0 {
            let spans = part.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "));
            let words = spans.flat_map(|span| shell::commands(&span));
            shown.extend(words.map(|words| Shown { words, whole: false }));
        } else if let Some(block) = part.strip_prefix("sh\n") {
            shown.extend(shell::commands(block).into_iter().map(|words| Shown { words, whole: true }));
        }
    }
    shown
}

/// What `rivalry` is given in a command, if it is in it: `mpirun -n 4 rivalry train …`.
fn arguments_of_rivalry(words: &[String]) -> Option<&[String]> {
    let arguments = match words {
        [cargo, run, release, dashes, arguments @ ..]
            if [cargo, run, release, dashes] == ["cargo", "run", "--release", "--"] =>
        {
            arguments
        }
        _ => &words[words.iter().position(|word| word == "rivalry")? + 1..],
    };
    let is_command = |word: &String| word.starts_with(|first: char| first.is_ascii_lowercase());
    arguments.first().filter(|word| is_command(word)).map(|_| arguments)
}

fn with_values(arguments: &[String]) -> Vec<String> {
    let value = |word: &str| PLACEHOLDERS.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    let filled = |word: &String| match word.split_once('=') {
        Some((key, word)) => format!("{key}={}", value(word).unwrap_or(word)),
        None => value(word).unwrap_or(word).to_owned(),
    };
    let mut words: Vec<String> = arguments.iter().map(filled).collect();
    // At the end it stands for further arguments, unless a flag waits for its value.
    if arguments.last().is_some_and(|last| last == "…")
        && !words.iter().rev().nth(1).is_some_and(|word| word.starts_with("--"))
    {
        words.pop();
    }
    let given = |flag: &str| words.iter().any(|word| word == flag);
    if ["train", "sweep"].contains(&&words[0][..]) && !given("--data") && !given("--preset") {
        words.extend(["--data", "synthetic"].map(str::to_owned));
    }
    words
}

/// Checks the arguments of `rivalry`, and the settings that they make.
fn check(arguments: &[String], whole: bool) -> Result<(), String> {
    let words = with_values(arguments);
    let cli = match Cli::try_parse_from([&["rivalry".to_owned()], &words[..]].concat()) {
        Ok(cli) => cli,
        Err(error) => {
            return match error.kind() {
                ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                    if !whole =>
                {
                    Ok(())
                }
                // `rivalry report --figures` in a sentence is about the flag.
                ErrorKind::InvalidValue
                    if !whole && words.last().is_some_and(|word| word.starts_with("--")) =>
                {
                    Ok(())
                }
                _ => Err(error.to_string()),
            };
        }
    };
    let settings = match &cli.command {
        Command::Train(args) if args.resume.is_none() => {
            resolve(args.new.preset.as_deref(), None, args.layer(), &args.new.set).map(|_| ())
        }
        Command::Sweep(args) if args.file.is_none() && arguments.len() > 1 => {
            super::sweep::search_space(args).and_then(|space| space.trials()).map(|_| ())
        }
        _ => Ok(()),
    };
    settings.map_err(|error| error.to_string())
}

#[test]
fn the_parser_accepts_every_command() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (name, text) in documents() {
        for Shown { words, whole } in commands(&text) {
            let Some(arguments) = arguments_of_rivalry(&words) else { continue };
            checked += usize::from(whole);
            if let Err(error) = check(arguments, whole) {
                wrong.push(format!("{name}: {}\n{error}", words.join(" ")));
            }
        }
    }
    assert!(checked > 70, "few commands were found: {checked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_command_that_does_not_exist_is_noticed() {
    let error = |line: &str| {
        let words = shell::commands(line).remove(0);
        check(arguments_of_rivalry(&words).unwrap(), true).expect_err(line)
    };
    assert!(error("rivalry trian --data D").contains("trian"));
    assert!(error("mpirun -n 2 rivalry train --data D --negative 5").contains("--negative"));
    assert!(error("rivalry train --data D --epochs many").contains("many"));
    assert!(error("rivalry train --data D --set loss.tua=T").contains("tua"));
    assert!(error("rivalry train --data D --loss sll").contains("sll"));
    assert!(error("rivalry sweep --data D --loss sl --grid loss.tua=0.1,0.2").contains("tua"));
    assert!(error("rivalry sweep --data D --model eese --trials 20").contains("did you mean 'ease'?"));
    assert!(error("rivalry sweep --data D --model mf --trials 20").contains("--loss NAME"));
    assert!(error("rivalry recommend --all").contains("<RUN>"));
}

/// What a command names that the repository does not have.
fn missing(words: &[String]) -> Vec<String> {
    let root = repository();
    let mut missing = Vec::new();
    let named = |word: &&String| FOLDERS.iter().any(|folder| word.starts_with(folder));
    for path in words.iter().filter(named).filter(|path| !root.join(path).exists()) {
        missing.push(path.clone());
    }
    let after = |flag: &str| words.iter().position(|word| word == flag).and_then(|at| words.get(at + 1));
    let script =
        words.iter().find(named).filter(|path| root.join(path).is_file() && !words.contains(&"cargo".into()));
    if let Some(script) = script {
        let text = std::fs::read_to_string(root.join(script)).unwrap();
        // What follows is for the program that the script runs.
        let passed_on = |word: &&String| ["mpirun", "-p"].contains(&&word[..]);
        let own = words.iter().skip_while(|word| *word != script).take_while(|word| !passed_on(word));
        missing.extend(own.filter(|word| word.starts_with("--") && !text.contains(&word[..])).cloned());
    }
    if let Some(package) = after("-p").or(after("--package")).filter(|_| words.contains(&"cargo".into())) {
        let manifest = std::fs::read_to_string(root.join("crates").join(package).join("Cargo.toml"));
        let Ok(manifest) = manifest else { return vec![package.clone()] };
        let targets = ["--bench", "--test", "--example"].into_iter().filter_map(after);
        let exists = |target: &String| {
            let example = root.join("crates").join(package).join("examples").join(format!("{target}.rs"));
            manifest.contains(&format!("name = \"{target}\"")) || example.exists()
        };
        missing.extend(targets.filter(|target| !exists(target)).cloned());
    }
    missing
}

#[test]
fn every_script_and_cargo_target_exists() {
    let mut wrong = Vec::new();
    for (name, text) in documents() {
        for Shown { words, .. } in commands(&text).iter().filter(|shown| shown.words.len() > 1) {
            wrong.extend(missing(words).iter().map(|what| format!("{name}: {}: no {what}", words.join(" "))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let missing = |line: &str| missing(&shell::commands(line)[0]);
    assert_eq!(missing("python benches/reading/generate.pi log"), ["benches/reading/generate.pi"]);
    assert_eq!(missing("benches/vs_pytorch/run --onli health"), ["--onli"]);
    assert_eq!(missing("cargo bench -p rivalry --bench stage"), ["stage"]);
    assert_eq!(missing("cargo test -p rivalri"), ["rivalri"]);
}
