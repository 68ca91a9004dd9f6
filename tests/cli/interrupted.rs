//! A training that is interrupted or killed and then resumed is bit-identical to an uninterrupted one.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{World, holds};

/// Long enough to be caught in the middle, with an evaluation early on to wait for.
const LONG: &[&str] = &[
    "train",
    "--data",
    "synthetic",
    "--json",
    "--epochs",
    "20",
    "--eval-every",
    "2",
    "--negatives",
    "60",
    "--dim",
    "16",
];

/// Starts a training, sends it a signal after its first evaluation, and returns its exit code and all it said.
fn stopped_by(world: &World, signal: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rivalry"))
        .args(LONG)
        .args(["--out", "run"])
        .current_dir(world.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first = lines.by_ref().find(|line| line.starts_with("epoch")).expect("an evaluation");
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let rest: Vec<String> = lines.collect();
    (child.wait().unwrap().code(), [first, rest.join("\n")].join("\n"))
}

fn resumed_equals_whole(world: &World) {
    assert!(!world.path("run/metrics.json").exists(), "it was caught in the middle");
    let left: Vec<_> = world.files().into_iter().map(|(path, _)| path).collect();
    let resumed = world.json(&["train", "--resume", "run", "--json", "--threads", "1"]);
    let whole = world.json(&[LONG, &["--out", "whole"]].concat());
    for key in ["best_epoch", "epochs", "valid", "test", "data_checksum"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    assert!(
        world.read("run/model.safetensors") == world.read("whole/model.safetensors"),
        "other bits; left: {left:?}"
    );
    let epochs = |name: &str| -> Vec<[Value; 2]> {
        let log = String::from_utf8(world.read(name)).unwrap();
        let records = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        records.map(|record| [record["epoch"].clone(), record["loss"].clone()]).collect()
    };
    assert_eq!(epochs("run/log.jsonl"), epochs("whole/log.jsonl"));
}

#[test]
fn ctrl_c_saves_says_how_to_resume_and_nothing_is_lost() {
    let world = World::new();
    let (code, said) = stopped_by(&world, "-INT");
    assert_eq!(code, Some(130), "{said}");
    holds(&said, &["of 20 epochs", "rivalry train --resume run"]);
    resumed_equals_whole(&world);
}

#[test]
fn a_request_to_terminate_does_the_same() {
    let world = World::new();
    let (code, said) = stopped_by(&world, "-TERM");
    assert_eq!(code, Some(130), "{said}");
    holds(&said, &["rivalry train --resume run"]);
}

#[test]
fn a_killed_training_resumes_from_its_last_checkpoint() {
    let world = World::new();
    let (code, _) = stopped_by(&world, "-KILL");
    assert_eq!(code, None);
    resumed_equals_whole(&world);
}

/// The state of a loss (adversary, parameters, quantiles) is part of the checkpoint file.
#[test]
fn every_loss_goes_on_from_its_files_as_if_it_had_not_stopped() {
    let world = World::with_log();
    for loss in rivalry::loss::LOSSES {
        let name = loss.name;
        let settings =
            ["train", "--data", "log.csv", "--loss", name, "--json", "--dim", "8", "--eval-every", "1"];
        let settings = [&settings[..], &["--batch-size", "64", "--set", "train.select=last"]].concat();
        let (whole, parts) = (format!("{name}-whole"), format!("{name}-parts"));
        world.json(&[&settings[..], &["--epochs", "11", "--out", &whole]].concat());
        world.json(&[&settings[..], &["--epochs", "6", "--out", &parts]].concat());
        world.json(&["train", "--resume", &parts, "--epochs", "11", "--json"]);
        let model = |run: &str| world.read(&format!("{run}/model.safetensors"));
        assert!(model(&whole) == model(&parts), "{name} ends with other bits");
    }
}
