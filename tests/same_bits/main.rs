//! The bits of trained tables, written down: a refactoring must not change them.
//!
//! `tests/golden/digests.json` holds a digest of the learned tables for every loss × backbone × way of scoring on a
//! small log, and for SL on Amazon-Health where the published data are at hand (`RIVALRY_DATA`). Digests are kept by
//! instruction level: fused multiply-adds round differently. After a change that is meant to change bits:
//! `RIVALRY_WRITE_DIGESTS=1 cargo test --release -p rivalry-cli --test same_bits`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use assert_cmd::cargo::cargo_bin_cmd;
use rayon::prelude::*;
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};

/// Level of the machine's instructions → training → digest.
type Digests = BTreeMap<String, BTreeMap<String, String>>;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/digests.json");

/// How negatives are drawn and scored: gathered rows, the whole item table, shared pools.
const SCORING: [(&str, &[&str]); 3] = [
    ("gathered", &["--negatives", "20"]),
    ("dense", &["--negatives", "90"]),
    (
        "shared",
        &[
            "--negatives",
            "20",
            "--set",
            "sampler.type=shared",
            "--set",
            "sampler.pairs=48",
            "--set",
            "optim.deferred=false",
        ],
    ),
];

/// Settings that take a path of their own through a training step.
const VARIANTS: [(&str, &[&str]); 4] = [
    ("dot product", &["--loss", "sl", "--set", "model.score=dot"]),
    ("weight decay", &["--loss", "sl", "--set", "optim.weight_decay=0.001"]),
    ("lazy Adam", &["--loss", "sl", "--set", "optim.lazy=true"]),
    ("lazy Adam, shared", &["--loss", "dsl", "--set", "optim.lazy=true", "--set", "sampler.type=shared"]),
];

fn names(kind: &str) -> Vec<String> {
    let output = cargo_bin_cmd!("rivalry").args(["list", kind, "--json"]).output().unwrap();
    let listed: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    listed.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

/// A log in which users of a kind like items of that kind, without any random number.
fn log() -> String {
    let mut text = "user,item\n".to_owned();
    for user in 0..160 {
        for n in 0..12 {
            let item = (user % 5 + 5 * ((user * 7 + n * n * 3 + n) % 19) + n / 6) % 97;
            writeln!(text, "u{user},i{item}").unwrap();
        }
    }
    text
}

/// Trains and gives the digest of the learned tables, or what the command said.
fn train(folder: &Path, name: &str, args: &[&str]) -> Result<String, String> {
    let run = folder.join(name.replace(['/', ' '], "-"));
    let mut command = cargo_bin_cmd!("rivalry");
    command.current_dir(folder).arg("train").args(args).arg("--out").arg(&run);
    let output = command.output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let bytes = std::fs::read(run.join("model.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    let mut digest = Sha256::new();
    for table in ["learned.users", "learned.items"] {
        digest.update(tensors.tensor(table).unwrap().data());
    }
    Ok(digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect())
}

fn small(folder: &Path) -> BTreeMap<String, String> {
    std::fs::write(folder.join("log.csv"), log()).unwrap();
    let common = "--data log.csv --dim 20 --epochs 6 --eval-every 3 --set train.batch_size=200 --lr 0.1 \
                  --set model.score=cosine --set optim.weight_decay=0 --set train.select=last --quiet";
    let common: Vec<&str> = common.split(' ').collect();
    let mut jobs: Vec<(String, Vec<String>)> = Vec::new();
    for loss in names("losses") {
        for backbone in names("backbones") {
            for (way, settings) in SCORING {
                let chosen = ["--loss", &loss, "--backbone", &backbone];
                // BPR and the like have a number of negatives of their own.
                let settings =
                    if ["bpr", "guidedrec"].contains(&&loss[..]) { &settings[2..] } else { settings };
                let args = chosen.iter().chain(settings).map(|arg| (*arg).to_owned()).collect();
                jobs.push((format!("{loss}/{backbone}/{way}"), args));
            }
        }
    }
    for (name, settings) in VARIANTS {
        let args = settings.iter().chain(&["--negatives", "20"]).map(|arg| (*arg).to_owned()).collect();
        jobs.push((name.to_owned(), args));
    }
    jobs.into_par_iter()
        .map(|(name, args)| {
            let args: Vec<&str> = common.iter().copied().chain(args.iter().map(String::as_str)).collect();
            let digest = train(folder, &name, &args).unwrap_or_else(|said| panic!("{name}: {said}"));
            (name, digest)
        })
        .collect()
}

fn health(folder: &Path) -> Option<(String, String)> {
    std::env::var_os("RIVALRY_DATA").filter(|path| Path::new(path).is_dir())?;
    let args = "--preset paper/amazon2014-health/mf/sl --epochs 3 --set train.select=last --quiet";
    let digest = train(folder, "health", &args.split(' ').collect::<Vec<_>>());
    Some(("amazon2014-health/mf/sl".to_owned(), digest.unwrap_or_else(|said| panic!("{said}"))))
}

/// The instruction level that a run names in its figures.
fn level(run: &Path) -> String {
    let text = std::fs::read_to_string(run.join("metrics.json")).unwrap();
    let metrics: serde_json::Value = serde_json::from_str(&text).unwrap();
    metrics["simd"].as_str().expect("a run names its level").to_owned()
}

#[test]
fn trainings_give_the_bits_they_always_gave() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = small(folder.path());
    match health(folder.path()) {
        Some((name, digest)) => drop(found.insert(name, digest)),
        None => eprintln!("left out: Amazon-Health is not at hand (RIVALRY_DATA)"),
    }
    let path = PathBuf::from(FILE);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut known: Digests = serde_json::from_str(&text).unwrap();
    let level = level(&folder.path().join("dot-product"));
    if std::env::var_os("RIVALRY_WRITE_DIGESTS").is_some() {
        known.entry(level).or_default().extend(found);
        std::fs::write(&path, serde_json::to_string_pretty(&known).unwrap() + "\n").unwrap();
        return;
    }
    let Some(known) = known.get(&level) else {
        eprintln!("left out: no digests for the level '{level}'");
        return;
    };
    let differ: Vec<_> = found.iter().filter(|(name, digest)| known.get(*name) != Some(digest)).collect();
    assert!(differ.is_empty(), "{} of {} differ or are new: {differ:#?}", differ.len(), found.len());
}
