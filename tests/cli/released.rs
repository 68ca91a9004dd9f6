//! Runs of the released format (0.1) stay usable. Those in `tests/released` were written by commit 23e57e8, from `log.csv`
//! in the folder `/tmp/released`: three finished runs and one that was interrupted by SIGINT.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{World, holds};

const FINISHED: [&str; 3] = ["mf-sl", "lightgcn-dsl", "mf-advinfonce"];

/// Where the data were when the runs were trained.
const SOURCE: &str = "/tmp/released/log.csv";

/// A folder with copies of the released runs and their data.
fn released() -> World {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/released");
    let world = World::new();
    world.write("log.csv", &fs::read(from.join("log.csv")).unwrap());
    for run in FINISHED.into_iter().chain(["interrupted"]) {
        for file in fs::read_dir(from.join(run)).unwrap() {
            let file = file.unwrap();
            let content = moved(fs::read(file.path()).unwrap());
            world.write(&format!("{run}/{}", file.file_name().to_string_lossy()), &content);
        }
    }
    world
}

/// The content of a file with the path of the data replaced by a relative one. The header of a model file keeps its
/// length, which is written at its beginning.
fn moved(content: Vec<u8>) -> Vec<u8> {
    let find = |part: &[u8]| content.windows(part.len()).position(|bytes| bytes == part);
    let Some(at) = find(SOURCE.as_bytes()) else { return content };
    let (before, after) = (&content[..at], &content[at + SOURCE.len()..]);
    let new = b"log.csv";
    if !content[8..].starts_with(b"{") {
        return [before, new, after].concat();
    }
    let header = 8 + u64::from_le_bytes(content[..8].try_into().unwrap()) as usize;
    let (rest_of_header, tensors) = after.split_at(header - at - SOURCE.len());
    [before, new, rest_of_header, &b" ".repeat(SOURCE.len() - new.len()), tensors].concat()
}

fn record(world: &World, run: &str) -> Value {
    serde_json::from_slice(&world.read(&format!("{run}/metrics.json"))).unwrap()
}

#[test]
fn the_runs_are_evaluated_with_their_recorded_metrics() {
    let world = released();
    for run in FINISHED {
        let document = world.json(&["evaluate", run, "--verify", "--json"]);
        assert_eq!(document["metrics"], record(&world, run)["test"], "{run}");
        let document = world.json(&["evaluate", run, "--split", "valid", "--json"]);
        assert_eq!(document["metrics"], record(&world, run)["valid"], "{run}");
    }
}

#[test]
fn the_models_recommend_and_find_similar_items() {
    let world = released();
    for run in FINISHED {
        let document = world.json(&["recommend", run, "--user", "u3", "-n", "4", "--json"]);
        assert_eq!(document["recommendations"][0]["items"].as_array().unwrap().len(), 4, "{run}");
        let document = world.json(&["similar", run, "--item", "i3", "-n", "4", "--json"]);
        assert_eq!(document["similar"].as_array().unwrap().len(), 4, "{run}");
    }
}

#[test]
fn the_runs_are_repeated_to_the_bit() {
    let world = released();
    for run in FINISHED {
        let output = world.run(&["rerun", run, "--json", "--quiet"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        // Other instructions round differently.
        let notes = document["circumstances"].as_array().unwrap();
        let other_machine = notes.iter().any(|note| note.as_str().unwrap().starts_with("instructions"));
        assert!(document["same"] == true || other_machine, "{run}: {document}");
        assert_eq!(document["model_compared"], true, "{run}");
    }
}

#[test]
fn finished_runs_can_be_extended_from_their_checkpoints() {
    let world = released();
    for run in FINISHED {
        let before = record(&world, run);
        assert_eq!(world.json(&["train", "--resume", run, "--json"])["test"], before["test"], "{run}");
        let direct = format!("{run}-direct");
        let config = format!("{run}/config.toml");
        world.json(&["train", "--config", &config, "--epochs", "11", "--out", &direct, "--json"]);
        world.json(&["train", "--resume", run, "--epochs", "11", "--json"]);
        let (longer, direct) = (record(&world, run), record(&world, &direct));
        assert_eq!(longer["epochs"], 11, "{run}");
        if before["simd"] == longer["simd"] {
            assert_eq!((&longer["valid"], &longer["test"]), (&direct["valid"], &direct["test"]), "{run}");
        }
    }
}

#[test]
fn an_interrupted_run_is_resumed() {
    let world = released();
    let (_, said) = world.ok(&["train", "--resume", "interrupted"]);
    holds(&said, &["resuming after epoch 664"]);
    world.json(&["train", "--config", "interrupted/config.toml", "--out", "direct", "--json"]);
    let (resumed, direct) = (record(&world, "interrupted"), record(&world, "direct"));
    if resumed["simd"] == record(&world, "mf-sl")["simd"] {
        assert_eq!((&resumed["valid"], &resumed["test"]), (&direct["valid"], &direct["test"]));
    }
}

#[test]
fn the_runs_are_compared_and_reported() {
    let world = released();
    let document =
        world.json(&["compare", "mf-sl", "mf-advinfonce", "lightgcn-dsl", "-k", "5", "--json"]).to_string();
    let value = record(&world, "mf-sl")["test"]["NDCG@5"].to_string();
    holds(&document, &[&value, "advinfonce", "lightgcn"]);
    world.ok(&["report", ".", "--out", "report.html"]);
    holds(&String::from_utf8(world.read("report.html")).unwrap(), &["advinfonce", "lightgcn"]);
}
