//! Reruns, recomputed metrics, locks, memory limits and `rivalry doctor`.

use std::process::{Command, Stdio};

use crate::support::{SMALL, World, holds, texts};

fn trained() -> World {
    let world = World::with_log();
    world.train("run", &[]);
    world
}

/// Runs a command that must fail with this exit code and these messages. Other processes may change files meanwhile.
fn refused(world: &World, code: i32, args: &[&str], parts: &[&str]) {
    let output = world.run(args);
    let (_, err) = texts(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
    holds(&err, parts);
}

#[test]
fn a_run_is_repeated_from_its_record_to_the_bit() {
    let world = trained();
    let (out, _) = world.ok(&["rerun", "run", "--threads", "3"]);
    holds(&out, &["bit-identical", "model, log and metrics"]);
    let document = world.json(&["rerun", "run", "--json", "--out", "again"]);
    assert_eq!((&document["same"], &document["model_compared"]), (&true.into(), &true.into()));
    assert!(world.read("run/model.safetensors") == world.read("again/model.safetensors"));
    holds(&world.fails(2, &["rerun", "run", "--out", "again"]), &["already exists"]);
}

#[test]
fn a_run_that_does_not_repeat_says_what_differs() {
    let world = trained();
    // The config no longer matches the record.
    let config = world.without_checksum("run/config.toml");
    world.write("run/config.toml", &config.replace("lr = 0.1", "lr = 0.2"));
    let said = world.fails(1, &["rerun", "run", "--quiet"]);
    holds(&said, &["not verified", "'learned.users': ", "numbers differ", "the log differs"]);
}

#[test]
fn other_data_can_not_repeat_a_run() {
    let world = trained();
    let log = String::from_utf8(world.read("log.csv")).unwrap();
    world.write("log.csv", &format!("{log}nobody,nothing,5,1\n"));
    holds(&world.fails(2, &["rerun", "run"]), &["has changed since the run was trained"]);
}

#[test]
fn the_record_names_all_that_could_matter() {
    let world = trained();
    let record: serde_json::Value = serde_json::from_slice(&world.read("run/metrics.json")).unwrap();
    for key in ["version", "simd", "threads", "seed", "data", "data_checksum", "command"] {
        assert!(!record[key].is_null(), "{key} is missing: {record}");
    }
    assert!(
        record["command"].as_str().unwrap().contains("train --data log.csv --json --out run"),
        "{record}"
    );
}

#[test]
fn figures_are_recomputed_and_a_changed_one_is_found() {
    let world = trained();
    let (out, _) = world.ok(&["evaluate", "run", "--verify", "--buckets", "--beyond", "--k", "5,20"]);
    holds(&out, &["verified: 42 figures", "recomputed in f64"]);
    let document = world.json(&["evaluate", "run", "--verify", "--json"]);
    assert!(document["verification"]["largest_difference"].as_f64().unwrap() < 1e-12);
    let record = world.without_checksum("run/metrics.json");
    let (before, after) = record.split_once("\"test\"").unwrap();
    let (name, rest) = after.split_once("\"NDCG@20\": ").unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    world.write("run/metrics.json", &format!("{before}\"test\"{name}\"NDCG@20\": 0.9,{rest}"));
    holds(&world.fails(1, &["evaluate", "run", "--verify"]), &["metrics.json has NDCG@20 = 0.9"]);
}

#[test]
#[cfg(unix)]
fn the_second_writer_is_refused_with_the_name_of_the_first() {
    let world = World::new();
    let train = ["train", "--data", "synthetic", "--epochs", "500", "--eval-every", "1", "--out", "run"];
    let mut first = Command::new(env!("CARGO_BIN_EXE_rivalry"))
        .args(train)
        .current_dir(world.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !world.path("run/checkpoint").exists() {
        assert!(first.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let holder = format!("process {} on ", first.id());
    refused(&world, 2, &["train", "--resume", "run"], &["is being written to by", &holder]);
    refused(&world, 2, &[&train[..], &["--force"]].concat(), &["is being written to by", &holder]);
    // Readers need no lock: files are replaced atomically.
    world.ok(&["evaluate", "run"]);
    first.kill().unwrap();
    first.wait().unwrap();
    // The lock of a dead process is ignored.
    world.ok(&["train", "--data", "synthetic", "--epochs", "1", "--out", "run", "--force", "--quiet"]);
}

#[test]
fn leftovers_of_a_killed_process_are_replaced() {
    let world = World::with_log();
    world.write("run/.tmp-a8K2fo", "half a conf");
    world.write("run/.lock", "process 1 on elsewhere");
    world.train("run", &[]);
    assert!(!world.path("run/.tmp-a8K2fo").exists() && !world.path("run/.lock").exists());
}

#[test]
fn jobs_that_exceed_the_memory_limit_are_refused_with_both_sizes() {
    let world = World::with_log();
    let train = [&["train", "--data", "log.csv", "--out", "run", "--max-memory", "8M"], SMALL].concat();
    let said = world.fails(2, &train);
    holds(&said, &["this training needs about", "of memory, but only 8.0 MB are available", "--max-memory"]);
    let said = world.fails(2, &["train", "--data", "log.csv", "--max-memory", "100"]);
    holds(&said, &["log.csv", "reading it needs about"]);
    world.train("run", &[]);
    let said = world.fails(2, &["evaluate", "run", "--k", "40", "--max-memory", "9k"]);
    holds(&said, &["of memory, but only 9.0 kB are available"]);
    let said = world.fails(2, &["train", "--data", "log.csv", "--max-memory", "lots"]);
    holds(&said, &["expected a size such as"]);
}

#[test]
fn the_doctor_finds_this_machine_well_and_a_damaged_file() {
    let world = World::new();
    let checks = world.json(&["doctor", "--json"]);
    let verdicts: Vec<&str> =
        checks.as_array().unwrap().iter().map(|c| c["verdict"].as_str().unwrap()).collect();
    assert!(verdicts.len() >= 10 && !verdicts.contains(&"bad"), "{checks}");
    world.write("data/gowalla.zip", "not the data");
    let output = world.run(&["doctor", "--data-dir", "data"]);
    assert_eq!(output.status.code(), Some(1));
    holds(&texts(&output).0, &["BAD   gowalla", "SHA-256", "remove it"]);
}
