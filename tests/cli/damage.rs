//! Files with flipped bits and files that were edited: refused by name, or made again with a note.

use rivalry::tensors::Tensors;

use crate::support::{World, holds};

const DAMAGED: &str = "has been changed or damaged";

/// Flips bits in the middle of a file: a number changes, and the file stays well formed.
fn flip(world: &World, file: &str, bytes: usize) {
    let mut content = world.read(file);
    let middle = content.len() / 2;
    content[middle..middle + bytes].iter_mut().for_each(|byte| *byte ^= 0x42);
    world.write(file, &content);
}

/// A run of two epochs, and the model it has after two more.
fn half_done() -> (World, Vec<u8>) {
    let world = World::with_log();
    let train =
        ["train", "--data", "log.csv", "--quiet", "--eval-every", "2", "--negatives", "10", "--dim", "8"];
    world.ok(&[&train[..], &["--epochs", "4", "--out", "whole"]].concat());
    world.ok(&[&train[..], &["--epochs", "2", "--out", "run"]].concat());
    let model = world.read("whole/model.safetensors");
    (world, model)
}

#[test]
fn a_flipped_checkpoint_is_not_resumed_from() {
    for bytes in [1, 4] {
        let (world, model) = half_done();
        flip(&world, "run/checkpoint", bytes);
        let (_, said) = world.ok(&["train", "--resume", "run", "--epochs", "4", "--quiet"]);
        holds(&said, &["run/checkpoint: ", DAMAGED, "restarting from the beginning"]);
        assert!(world.read("run/model.safetensors") == model);
    }
}

#[test]
fn a_damaged_checkpoint_is_never_called_the_last_good_one() {
    let world = World::with_log();
    let dot = ["--loss", "sl", "--set", "model.score=dot", "--batch-size", "50"];
    world.train("run", &dot);
    let config = world.without_checksum("run/config.toml").replace("lr = 0.1\n", "lr = 1e30\n");
    world.write("run/config.toml", &config);
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    flip(&world, "run/checkpoint", 4);
    let output = world.run(&["train", "--resume", "run", "--quiet"]);
    let said = String::from_utf8(output.stderr).unwrap();
    holds(&said, &[DAMAGED, "non-finite in epoch 1, batch 2", "there is no checkpoint yet"]);
}

#[test]
fn a_flipped_model_is_refused_and_made_again() {
    let world = World::with_log();
    world.train("run", &[]);
    let model = world.read("run/model.safetensors");
    for bytes in [1, 4] {
        flip(&world, "run/model.safetensors", bytes);
        for command in [
            &["evaluate", "run"][..],
            &["recommend", "run", "--user", "user 1"],
            &["similar", "run", "--item", "item/1"],
            &["inspect", "run"],
            &["compare", "run"],
        ] {
            holds(
                &world.fails(2, command),
                &["run/model.safetensors: ", DAMAGED, "rivalry train --resume RUN"],
            );
        }
        // Before the training, not after it.
        let said = world.fails(2, &["rerun", "run"]);
        holds(&said, &["run/model.safetensors: ", DAMAGED]);
        assert!(!said.contains("model   "), "{said}");
        let (_, said) = world.ok(&["train", "--resume", "run", "--quiet"]);
        holds(&said, &["run/model.safetensors: ", DAMAGED, "restarting from the beginning"]);
        assert!(world.read("run/model.safetensors") == model);
        world.ok(&["evaluate", "run", "--verify"]);
    }
}

#[test]
fn a_finished_run_with_a_damaged_checkpoint_keeps_its_result() {
    let world = World::with_log();
    world.train("run", &[]);
    let metrics = world.read("run/metrics.json");
    flip(&world, "run/checkpoint", 1);
    let (_, said) = world.ok(&["train", "--resume", "run"]);
    holds(&said, &["run/checkpoint: ", DAMAGED, "extended from the beginning only", "is finished"]);
    assert!(world.read("run/metrics.json") == metrics);
}

#[test]
fn figures_log_and_inspection_are_checked() {
    let world = World::with_log();
    world.train("run", &[]);
    world.ok(&["inspect", "run"]);
    for (file, help) in [
        ("run/metrics.json", "train --resume"),
        ("run/log.jsonl", "train --resume"),
        ("run/inspect.json", "rivalry inspect RUN"),
    ] {
        let intact = world.read(file);
        // A digit becomes another one: nothing but the checksum can tell.
        let digit = intact.iter().rposition(u8::is_ascii_digit).unwrap();
        let mut changed = intact.clone();
        changed[digit] ^= 1;
        world.write(file, &changed);
        holds(&world.fails(2, &["report", "run", "-o", "report.html"]), &[file, DAMAGED, help]);
        world.write(file, &intact);
    }
    world.ok(&["report", "run", "-o", "report.html"]);
    let metrics = world.read("run/metrics.json");
    flip(&world, "run/metrics.json", 1);
    let (_, said) = world.ok(&["train", "--resume", "run"]);
    holds(&said, &["run/metrics.json: ", DAMAGED, "making it again"]);
    let test = |content: &[u8]| serde_json::from_slice::<serde_json::Value>(content).unwrap()["test"].clone();
    assert_eq!(test(&world.read("run/metrics.json")), test(&metrics));
    let log = world.read("run/log.jsonl");
    flip(&world, "run/log.jsonl", 1);
    let (_, said) = world.ok(&["train", "--resume", "run"]);
    holds(&said, &["run/log.jsonl: ", DAMAGED, "made again from the checkpoint", "is finished"]);
    assert!(world.read("run/log.jsonl") == log);
}

#[test]
fn an_edited_config_says_what_to_do() {
    let world = World::with_log();
    world.train("run", &[]);
    let config = String::from_utf8(world.read("run/config.toml")).unwrap();
    let edited = config.replace("lr = 0.1\n", "lr = 0.2\n");
    world.write("run/config.toml", &edited);
    let said = world.fails(2, &["train", "--resume", "run", "--epochs", "5"]);
    holds(&said, &["run/config.toml: ", DAMAGED, "--config COPY", "delete its first line"]);
    // As a config file of the user it is read, with a note, unless the line is deleted.
    let (_, said) = world.ok(&["train", "--config", "run/config.toml", "--out", "other", "--quiet"]);
    holds(&said, &["note    run/config.toml: was changed or damaged", "delete the first line"]);
    world.write("mine.toml", &world.without_checksum("run/config.toml"));
    let (_, said) = world.ok(&["train", "--config", "mine.toml", "--out", "mine", "--quiet"]);
    assert_eq!(said, "");
    assert!(world.read("mine/model.safetensors") == world.read("other/model.safetensors"));
}

#[test]
fn the_trials_of_a_sweep_are_checked() {
    let world = World::with_log();
    let sweep = ["sweep", "search.toml", "--out", "sweep", "--quiet"];
    world.write(
        "search.toml",
        "[base]\ndata.source = 'log.csv'\nmodel.dim = 8\ntrain = { epochs = 2, eval_every = 1, negatives = 10 }\n\
         [[grid]]\nloss = { type = 'sl', tau = [0.2, 0.3] }\n",
    );
    world.ok(&sweep);
    flip(&world, "sweep/chosen.json", 1);
    holds(&world.fails(2, &["compare", "sweep"]), &["sweep/chosen.json: ", DAMAGED, "run the sweep again"]);
    world.ok(&sweep);
    world.ok(&["compare", "sweep"]);
    let index: serde_json::Value = serde_json::from_slice(&world.read("sweep/index.json")).unwrap();
    let metrics = format!("sweep/{}/metrics.json", index[0]["name"].as_str().unwrap());
    flip(&world, &metrics, 1);
    holds(&world.fails(2, &sweep), &[&metrics, DAMAGED, "train --resume"]);
}

#[test]
fn prepared_data_are_checked() {
    let world = World::with_log();
    world.ok(&["data", "prepare", "log.csv", "set"]);
    let stats = world.json(&["data", "stats", "set", "--json"]);
    let intact = world.read("set/train.tsv");
    let mut changed = intact.clone();
    let at = changed.len() - 2;
    changed[at] ^= 1;
    world.write("set/train.tsv", &changed);
    let train = ["train", "--data", "set", "--epochs", "1", "--out", "run"];
    for command in [&["data", "stats", "set"][..], &train] {
        let said = world.fails(2, command);
        holds(&said, &["set/train.tsv: ", DAMAGED, "rivalry data prepare", "delete checksums.txt"]);
    }
    world.write("set/train.tsv", &intact);
    let part = world.read("set/valid.tsv");
    std::fs::remove_file(world.path("set/valid.tsv")).unwrap();
    holds(&world.fails(2, &["data", "stats", "set"]), &["no valid.tsv inside, which checksums.txt lists"]);
    world.write("set/valid.tsv", &part);
    assert_eq!(world.json(&["data", "stats", "set", "--json"]), stats);
    // Without the list the folder is any benchmark, and may be edited.
    std::fs::remove_file(world.path("set/checksums.txt")).unwrap();
    world.write("set/train.tsv", &changed);
    world.ok(&["data", "stats", "set"]);
}

#[test]
fn data_that_came_by_standard_input_are_checked() {
    let world = World::with_log();
    let train = ["train", "--data", "-", "--model", "popularity", "--out", "run", "--quiet"];
    world.command(&train).write_stdin(world.read("log.csv")).assert().success();
    world.ok(&["evaluate", "run"]);
    flip(&world, "run/stdin", 1);
    holds(&world.fails(2, &["evaluate", "run"]), &["run/stdin: ", DAMAGED, "train the run again"]);
}

#[test]
fn files_of_a_later_release_are_not_called_damaged() {
    let world = World::with_log();
    world.train("run", &[]);
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    for (file, format, command) in [
        ("run/checkpoint", "rivalry-checkpoint 9", &["train", "--resume", "run"][..]),
        ("run/model.safetensors", "rivalry-model 9", &["evaluate", "run"]),
    ] {
        let intact = world.read(file);
        let mut later = Tensors::read(&world.path(file)).unwrap();
        later.texts.insert("format".to_owned(), format.to_owned());
        later.write(&world.path(file)).unwrap();
        holds(&world.fails(2, command), &[file, "made by a later release", "update rivalry"]);
        world.write(file, &intact);
    }
}
