//! Invalid input: exit code 2, an error with location, cause and help, and no file changed.

use crate::support::{SMALL, World, holds, log};

/// Trains on a file of this content and returns the error.
fn refused(content: &(impl AsRef<[u8]> + ?Sized), more: &[&str]) -> String {
    let world = World::new();
    world.write("log.csv", content);
    world.fails(2, &[&["train", "--data", "log.csv", "--out", "run"], SMALL, more].concat())
}

#[test]
fn a_missing_file() {
    let error = World::new().fails(2, &["train", "--data", "nowhere.csv"]);
    holds(&error, &["nowhere.csv: no such file", "help: "]);
    let error = World::new().fails(2, &["train", "--data", "amazon2014-heath"]);
    holds(&error, &["did you mean 'amazon2014-health'?"]);
    let error = World::new().fails(2, &["train", "--config", "nowhere.toml"]);
    holds(&error, &["nowhere.toml"]);
    holds(&World::new().fails(2, &["train"]), &["no data", "--data synthetic"]);
}

#[test]
fn a_similar_name_is_suggested_for_a_path_and_for_a_run() {
    let world = World::with_log();
    holds(&world.fails(2, &["train", "--data", "logg.csv"]), &["did you mean log.csv?"]);
    world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "runs/one"]);
    for command in [&["evaluate", "runs/onne"][..], &["train", "--resume", "runs/onne"]] {
        holds(&world.fails(2, command), &["runs/onne: no such file or folder", "did you mean runs/one?"]);
    }
}

#[test]
fn arguments_that_are_no_numbers_are_refused_in_words() {
    let world = World::with_log();
    for (args, words) in [
        (&["--epochs", "2.5"][..], "'--epochs <N>': expected a whole number"),
        (&["--seed", "-1"], "'--seed <N>': expected a whole number"),
        (&["-k", "5,x"], "expected a whole number"),
        (&["--min-rating", "high"], "expected a number"),
        (&["--out", "-"], "a run is a folder, not standard output"),
        (&["-k", "0"], "--k: K = 0"),
    ] {
        holds(&world.fails(2, &[&["train", "--data", "log.csv"], args].concat()), &[words]);
    }
    holds(&world.fails(2, &["serve", "run", "--listen", "127.0.0.1"]), &["expected ADDRESS:PORT"]);
}

#[test]
fn a_missing_column() {
    let error = refused(&log(), &["--user-col", "who"]);
    holds(&error, &["log.csv", "who", "user, item, rating, time", "help: "]);
}

#[test]
fn a_wrong_delimiter() {
    holds(&refused(&log(), &["--delimiter", ";"]), &["log.csv", "help: "]);
    let usage = World::new().fails(2, &["data", "stats", "log.csv", "--delimiter", "::"]);
    holds(&usage, &["one character"]);
}

#[test]
fn text_that_is_not_utf8() {
    let mut content = log().into_bytes();
    content.extend(b"user 1,caf\xe9,3,1\n");
    holds(&refused(&content, &[]), &["log.csv:302", "UTF-8", "help: "]);
}

#[test]
fn ragged_rows() {
    let error = refused(&(log() + "user 1,item/1\n"), &[]);
    holds(&error, &["log.csv:302", "2", "4", "help: "]);
}

#[test]
fn a_rating_that_is_no_number() {
    let error = refused(&(log() + "user 1,item/1,good,1\n"), &["--min-rating", "3"]);
    holds(&error, &["log.csv:302", "rating", "good"]);
}

#[test]
fn an_empty_file() {
    holds(&refused("", &[]), &["log.csv", "empty"]);
    holds(&refused("user,item\n", &[]), &["help: "]);
}

#[test]
fn a_user_with_every_item() {
    let world = World::new();
    let all: String = (0..25).map(|item| format!("0\t{item}\n")).collect();
    world.write("set/train.tsv", &format!("user\titem\n{all}1\t3\n1\t4\n"));
    world.write("set/test.tsv", "user\titem\n1\t5\n");
    let error = world.fails(2, &["train", "--data", "set", "--validation", "none", "--out", "run"]);
    holds(&error, &["user '0'", "every item", "help: "]);
}

#[test]
fn fewer_items_than_k() {
    holds(&refused(&log(), &["--set", "eval.k=[41]"]), &["K = 41", "40 items", "at most 40"]);
}

#[test]
fn an_unknown_loss_or_key() {
    holds(&refused(&log(), &["--loss", "dls"]), &["unknown loss 'dls'", "did you mean 'dsl'?"]);
    holds(&refused(&log(), &["--set", "loss.alpah=2"]), &["alpah", "did you mean 'alpha'?"]);
    holds(&refused(&log(), &["--set", "train.epoch=2"]), &["did you mean 'epochs'?"]);
    holds(&refused(&log(), &["--backbone", "mff"]), &["did you mean 'mf'?"]);
    holds(&refused(&log(), &["--split", "randon"]), &["randon", "random"]);
    holds(&refused(&log(), &["--format", "cvs"]), &["did you mean 'csv'?"]);
    holds(&World::new().fails(2, &["trian"]), &["train"]);
}

#[test]
fn parameters_out_of_range() {
    for tau in ["0", "-0.1", "nan", "inf"] {
        let error = refused(&log(), &["--set", &format!("loss.tau={tau}")]);
        holds(&error, &["loss.tau: expected a number > 0", tau, "help: "]);
    }
    holds(&refused(&log(), &["--lr", "nan"]), &["--lr: expected a number > 0"]);
    holds(&refused(&log(), &["--lr", "-1"]), &["--lr: expected a number > 0"]);
    holds(&refused(&log(), &["--set", "model.dim=0"]), &["model.dim: expected a whole number in [1, 16384]"]);
    holds(&refused(&log(), &["--set", "model.dim=1000000000"]), &["model.dim", "in [1, 16384]"]);
    holds(&refused(&log(), &["--set", "train.negatives=1000000000"]), &["too many", "help: "]);
    holds(&refused(&log(), &["--seed", "9223372036854775808"]), &["--seed"]);
    holds(&refused(&log(), &["--min-rating", "nan"]), &["NaN"]);
    holds(&refused(&log(), &["--split", "random", "--test", "1.5"]), &["test", "1.5"]);
}

#[test]
fn ids_that_a_benchmark_folder_cannot_have() {
    for id in ["-1", "4294967296"] {
        let world = World::new();
        world.write("set/train.tsv", &format!("user\titem\n0\t0\n0\t{id}\n"));
        world.write("set/test.tsv", "user\titem\n0\t1\n");
        let error = world.fails(2, &["train", "--data", "set", "--out", "run"]);
        holds(&error, &["train.tsv:3", id]);
    }
}

#[test]
fn duplicates_are_merged_and_unseen_items_kept_and_both_are_reported() {
    let world = World::new();
    world.write("set/train.tsv", "user\titem\n0\t0\n0\t1\n0\t1\n1\t1\n1\t2\n");
    world.write("set/test.tsv", "user\titem\n0\t2\n1\t3\n");
    let train = ["train", "--data", "set", "--validation", "none", "--set", "eval.k=[2]", "--out", "run"];
    let (_, said) = world.ok(&[&train, SMALL].concat());
    holds(&said, &["merged 1 duplicate pair", "1 item of the test set not seen in training", "4 training"]);
    let stats = world.json(&["data", "stats", "set", "--validation", "none", "--json"]);
    assert_eq!((&stats["train"], &stats["unseen_in_test"]["items"]), (&4.into(), &1.into()));
    assert_eq!(stats["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn a_folder_that_exists() {
    let world = World::with_log();
    world.train("run", &[]);
    let again: Vec<&str> = [&["train", "--data", "log.csv", "--out", "run"], SMALL].concat();
    holds(&world.fails(2, &again), &["run: already exists", "--force"]);
    let old = world.read("run/model.safetensors");
    world.train("run", &["--force", "--seed", "1"]);
    assert_ne!(world.read("run/model.safetensors"), old);
    holds(&world.fails(2, &["data", "prepare", "log.csv", "run", "--force"]), &["not part of a data set"]);
    world.write("notes.txt", "mine");
    holds(
        &world.fails(2, &["recommend", "run", "--all", "--out", "notes.txt"]),
        &["already exists", "--force"],
    );
    holds(&world.fails(2, &["evaluate", "run", "--per-user", "notes.txt"]), &["already exists", "--force"]);
}

#[test]
fn a_config_file_with_a_fault() {
    let world = World::with_log();
    world.write("c.toml", "[train]\nepochs = 3\nseed == 4\n");
    let error = world.fails(2, &["train", "--data", "log.csv", "--config", "c.toml", "--out", "run"]);
    holds(&error, &["c.toml:3"]);
    world.write("c.toml", "[los]\ntype = 'sl'\n");
    let error = world.fails(2, &["train", "--data", "log.csv", "--config", "c.toml", "--out", "run"]);
    holds(&error, &["c.toml", "did you mean 'loss'?"]);
}

#[test]
fn force_replaces_runs_and_nothing_else() {
    let world = World::with_log();
    world.write("mine/config.toml", "precious");
    world.write("notes/log.jsonl", "precious too");
    world.write("notes/thoughts.txt", "mine");
    for (out, said) in
        [("mine", "config.toml"), ("notes", "'thoughts.txt'"), ("log.csv", "a run is a folder")]
    {
        let error = world.fails(2, &["train", "--data", "log.csv", "--out", out, "--force"]);
        holds(&error, &[said]);
    }
    world.train("run", &[]);
    world.write("run/config.toml", "[data");
    world.train("run", &["--force"]);
    assert_ne!(world.read("run/config.toml"), b"[data");
}

#[test]
fn settings_that_contradict_each_other_are_refused() {
    let world = World::with_log();
    let refused = |more: &[&str], said: &str| {
        let error = world.fails(2, &[&["train", "--data", "log.csv", "--out", "run"], more].concat());
        holds(&error, &[said, "help: "]);
    };
    refused(&["--loss", "dsl", "--set", "model.score=dot"], "model.score: ");
    refused(&["--patience", "2", "--set", "train.select=last"], "--patience: ");
    refused(&["--loss", "guidedrec", "--negatives", "20"], "guidedrec works with 9 negatives, not 20");
    refused(&["--loss", "sl@k", "--set", "loss.refresh_every=0"], "loss.refresh_every: ");
    refused(&["--loss", "psl", "--set", "loss.activation=relo"], "did you mean 'relu'?");
    refused(&["--model", "lightgcn", "--set", "model.layers=1000000000"], "model.layers: ");
}

#[test]
fn a_preset_that_is_not_there_or_not_whole() {
    let world = World::new();
    let refused = |name: &str| world.fails(2, &["train", "--preset", name, "--out", "run"]);
    holds(&refused("paper/amazon2014-helth/mf/sl"), &["did you mean 'paper/amazon2014-health/mf/sl'?"]);
    holds(&refused("paper/amazon2014-health/mf/dsl"), &["not its settings", "--loss dsl"]);
    let both = ["train", "--preset", "paper/amazon2014-health/mf/sl", "--loss", "bpr", "--out", "run"];
    holds(&world.fails(2, &both), &["--preset", "cannot be used with", "--loss"]);
}

#[test]
fn shared_negatives_for_a_user_who_has_nearly_everything() {
    // One user has all of twenty items but one, and keeps more than half of them whatever the split.
    let mut content = String::from("user,item\n");
    for item in 0..20 {
        if item > 0 {
            content += &format!("glutton,item {item}\n");
        }
        content += &format!("other {item},item {item}\nother {item},item {}\n", (item + 1) % 20);
    }
    let error = refused(&content, &["--fast"]);
    holds(&error, &["user 'glutton'", "too many to share", "help: ", "uniform"]);
}
