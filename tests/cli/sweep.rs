//! `rivalry sweep`

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{World, holds, texts};

const SEARCH: &str = "
    seeds = 2
    base = { data.source = 'synthetic', model.dim = 8, train = { epochs = 4, eval_every = 2, negatives = 10 } }
    grid = { loss.type = ['sl', 'dsl-ca'], loss.tau = [0.1, 0.2] }
";

fn names(document: &Value) -> Vec<String> {
    let trials = document["trials"].as_array().unwrap();
    trials.iter().map(|trial| trial["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_search_file_gives_the_best_of_each_loss_and_a_folder_for_each_trial() {
    let world = World::new();
    world.write("search.toml", SEARCH);
    let found = world.json(&["sweep", "search.toml", "--json"]);
    assert_eq!(found["folder"], "runs/sweep-search");
    assert_eq!(found["chosen"].as_array().unwrap().len(), 2);
    for name in names(&found) {
        assert!(world.path(&format!("runs/sweep-search/{name}/metrics.json")).exists());
    }
    let index: Value = serde_json::from_slice(&world.read("runs/sweep-search/index.json")).unwrap();
    assert_eq!(index, found["trials"]);
    let (table, said) = world.ok(&["sweep", "search.toml"]);
    holds(&table, &["selected on validation", "mf sl", "mf dsl-ca", "±", "rivalry report runs/sweep-search"]);
    holds(&said, &["4 trials (2 of them defaults or presets) in runs/sweep-search"]);
    // Two losses from a second seed each are still to come.
    holds(&world.ok(&["sweep", "search.toml", "--out", "again"]).1, &["1/6   mf", "6/6   mf"]);
    // The selected trials can be compared, although the other models were removed.
    let compared = world.json(&["compare", "runs/sweep-search", "--json"]);
    assert_eq!(compared["methods"].as_array().unwrap().len(), 2);
    assert_eq!(compared["methods"][0]["runs"].as_array().map(Vec::len), Some(2), "{compared:#}");
}

#[test]
fn the_shares_of_an_array_job_are_one_sweep() {
    let world = World::new();
    world.write("search.toml", SEARCH);
    let alone = world.json(&["sweep", "search.toml", "--out", "alone", "--json"]);
    let share = |share: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rivalry"));
        command.args(["sweep", "search.toml", "--out", "shared", "--json", "--quiet", "--shard", share]);
        command.current_dir(world.path("")).stdout(Stdio::piped()).spawn().unwrap()
    };
    let tasks = ["0/3", "1/3", "2/3"].map(share);
    for task in tasks {
        let output = task.wait_with_output().unwrap();
        assert!(output.status.success());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(names(&found), names(&alone));
    }
    for name in names(&alone) {
        let log = |sweep: &str| String::from_utf8(world.read(&format!("{sweep}/{name}/log.jsonl"))).unwrap();
        let epochs = |sweep: &str| log(sweep).lines().count();
        assert_eq!(epochs("shared"), epochs("alone"), "every epoch of {name} was trained once");
    }
    let error = world.fails(2, &["sweep", "search.toml", "--shard", "4/3"]);
    holds(&error, &["found share 4 of 3, expected at most 3"]);
}

#[test]
fn values_of_a_closed_form_are_searched_without_a_loss() {
    let world = World::new();
    let args = ["sweep", "--data", "synthetic", "--model", "item-knn", "--grid", "model.k=5,10", "--json"];
    let found = world.json(&args);
    assert_eq!(names(&found).len(), 3, "two, and the default");
    assert!(names(&found).iter().all(|name| name.starts_with("item-knn-")), "{found:#}");
}

#[test]
fn a_loss_comes_with_its_grid() {
    let world = World::new();
    let args = [
        "sweep",
        "--data",
        "synthetic",
        "--loss",
        "sl",
        "--trials",
        "2",
        "--epochs",
        "2",
        "--negatives",
        "10",
    ];
    let found = world.json(&[&args[..], &["--json"]].concat());
    // Two, besides the default.
    assert_eq!((found["folder"].as_str().unwrap(), names(&found).len()), ("runs/sweep-synthetic-sl", 3));
}

#[test]
fn fast_shares_negatives_in_all_trials_that_have_any() {
    let world = World::new();
    let args = ["sweep", "--data", "synthetic", "--loss", "sl", "--model", "popularity", "--fast", "--json"];
    let found = world.json(&[&args[..], &["--trials", "1", "--epochs", "1", "--negatives", "10"]].concat());
    let sampler = |name: &str| {
        let text = world.read(&format!("runs/sweep-synthetic-sl-popularity/{name}/config.toml"));
        let config: toml::Table = String::from_utf8(text).unwrap().parse().unwrap();
        config.get("sampler").map(|sampler| sampler["type"].as_str().unwrap().to_owned())
    };
    let samplers: Vec<Option<String>> = names(&found).iter().map(|name| sampler(name)).collect();
    assert_eq!(
        samplers.iter().flatten().collect::<Vec<_>>(),
        ["shared", "shared"],
        "the default and one other"
    );
    assert!(samplers.contains(&None), "popularity has none");
}

#[test]
fn grids_are_given_on_the_command_line_and_the_defaults_are_among_the_trials() {
    let world = World::new();
    let small = ["--epochs", "2", "--negatives", "10", "--set", "model.dim=8"];
    let args = ["sweep", "--data", "synthetic", "--loss", "bpr", "--loss", "sl"];
    let grids = ["--grid", "loss.tau=0.4,0.5,0.6", "--grid", "optim.lr=0.001,0.0001"];
    let (table, said) = world.ok(&[&args[..], &small, &grids].concat());
    // SL: six points and its defaults. BPR: two learning rates and its defaults.
    holds(&said, &["10 trials (2 of them defaults or presets)"]);
    holds(&table, &["default", "(default)", "NDCG@20"]);
    let found = world.json(&[&args[..], &small, &grids, &["--json"]].concat());
    let origins: Vec<&Value> =
        found["trials"].as_array().unwrap().iter().map(|trial| &trial["origin"]).collect();
    assert_eq!(origins.iter().filter(|origin| **origin == "default").count(), 2);
    let chosen = found["chosen"].as_array().unwrap();
    let score = |one: &Value| one["seeds"][0]["valid"].as_f64().unwrap();
    assert!(score(&chosen[0]) >= score(&chosen[1]), "the best comes first");
    assert!(
        chosen.iter().all(|one| score(one) >= one["default"].as_f64().unwrap()),
        "never below the defaults"
    );
    // The published grid by name, and faults.
    let paper = ["sweep", "--data", "synthetic", "--loss", "sl", "--grid", "paper", "--lr", "0.1"];
    let more = ["--set", "optim.weight_decay=0", "--epochs", "1", "--set", "model.dim=4", "--out", "paper"];
    holds(&world.ok(&[&paper[..], &more, &["--negatives", "5"]].concat()).1, &["6 trials"]);
    let fails =
        |grid: &str| world.fails(2, &["sweep", "--data", "synthetic", "--loss", "sl", "--grid", grid]);
    holds(&fails("papr"), &["--grid", "found 'papr'", "--grid loss.tau=0.1,0.2,0.3"]);
    holds(&fails("loss.taus=1,2"), &["did you mean 'tau'?"]);
    holds(&fails("loss.tau="), &["lacks a value"]);
}

#[test]
fn the_best_at_an_edge_of_its_range_is_a_warning() {
    let world = World::new();
    let args = ["sweep", "--data", "synthetic", "--loss", "sl", "--grid", "optim.lr=1e-7,1e-6,1e-5,0.1"];
    let small = ["--epochs", "4", "--negatives", "10", "--set", "model.dim=8"];
    let (table, _) = world.ok(&[&args[..], &small].concat());
    holds(&table, &["warning mf sl: optim.lr 0.1 is at the upper end of 0.0000001 to 0.1"]);
    let found = world.json(&[&args[..], &small, &["--json"]].concat());
    assert_eq!(found["chosen"][0]["edges"][0]["key"], "optim.lr");
}

#[test]
fn progress_counts_rungs() {
    let world = World::new();
    world.write(
        "s.toml",
        &SEARCH.replace("epochs = 4", "epochs = 20").replace("[0.1, 0.2]", "[0.1, 0.15, 0.2, 0.3, 0.5]"),
    );
    let (_, said) = world.ok(&["sweep", "s.toml", "--halving", "--jobs", "1"]);
    holds(
        &said,
        &["rung 1/3: 10 trials", "rung 1/3 1/10   mf", "rung 1/3 10/10", "rung 2/3: ", "rung 3/3: "],
    );
}

#[test]
fn closed_form_models_are_trials_beside_the_losses() {
    let world = World::new();
    let small = ["--trials", "3", "--epochs", "2", "--negatives", "10", "--halving", "--seeds", "2"];
    let args = ["sweep", "--data", "synthetic", "--loss", "sl", "--model", "popularity", "--model", "mf"];
    let found = world.json(&[&args[..], &small, &["--json"]].concat());
    assert_eq!(found["folder"], "runs/sweep-synthetic-sl-popularity");
    let selected = found["chosen"].as_array().unwrap();
    let mut groups: Vec<(&str, Option<&str>)> =
        selected.iter().map(|one| (one["model"].as_str().unwrap(), one["loss"].as_str())).collect();
    groups.sort_unstable();
    assert_eq!(groups, [("mf", Some("sl")), ("popularity", None)]);
    let compared = world.json(&["compare", "runs", "--baseline", "popularity", "--json"]);
    assert_eq!((&compared["baseline"], &compared["select"]), (&"popularity".into(), &"valid".into()));
    let methods = compared["methods"].as_array().unwrap();
    let seeds = |name: &str| {
        methods.iter().find(|method| method["name"] == name).unwrap()["seeds"].as_array().unwrap().len()
    };
    assert_eq!((seeds("mf sl"), seeds("popularity")), (2, 1));
    assert!(methods.iter().any(|method| method["differences"]["NDCG@20"]["mean"].is_f64()), "{compared:#}");
    let error = world
        .fails(2, &["sweep", "--data", "synthetic", "--loss", "sl", "--model", "mf", "--model", "lightgcn"]);
    holds(&error, &["--model", "mf and lightgcn are both trained with a loss"]);
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_left_behind() {
    let world = World::new();
    let refused = |text: &str| {
        world.write("s.toml", text);
        world.fails(2, &["sweep", "s.toml"])
    };
    holds(&refused("gird = { loss.tau = [1] }"), &["s.toml", "unknown key 'gird'", "did you mean 'grid'?"]);
    holds(&refused("grid = { loss.tau = [] }"), &["s.toml", "loss.tau", "the list is empty"]);
    holds(&refused("base = { data.source = 'synthetic' }"), &["the search space is empty", "--loss"]);
    holds(&refused("grid = { loss.type = 'sl' }"), &["no data to train on", "--data"]);
    let with_data = |grid: &str| refused(&format!("base = {{ data.source = 'synthetic' }}\n{grid}"));
    holds(&with_data("grid = { loss.taus = [1] }"), &["did you mean 'tau'?"]);
    holds(&with_data("grid = { train.epoch = [1] }"), &["did you mean 'epochs'?"]);
    holds(&world.fails(2, &["sweep", "nothing.toml"]), &["nothing.toml", "no such file"]);
    holds(&world.fails(2, &["sweep", "--data", "synthetic", "--loss", "sll"]), &["did you mean 'sl'?"]);
}

#[test]
fn a_sweep_in_which_everything_fails_says_so_and_why() {
    let world = World::new();
    world.write("s.toml", &SEARCH.replace("loss.tau = [0.1, 0.2]", "optim.lr = 1e38"));
    let output = world.run(&["sweep", "s.toml"]);
    let (out, said) = texts(&output);
    assert_eq!((output.status.code(), &out[..]), (Some(2), ""), "{said}");
    holds(
        &said,
        &["error: runs/sweep-s: no trial could be trained: the loss became non-finite", "index.json"],
    );
}

/// Kills a sweep again and again, at moments that differ every time, until it is done.
#[test]
#[cfg(unix)]
fn killed_at_random_moments_no_trial_is_lost_or_other_than_it_should_be() {
    const KILLS: u64 = 20;
    let world = World::new();
    let search = SEARCH.replace("epochs = 4", "epochs = 24").replace("negatives = 10", "negatives = 40");
    world.write("search.toml", &search);
    let (mut kills, mut wait) = (0, 7919u64);
    loop {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rivalry"))
            .args(["sweep", "search.toml", "--out", "killed", "--quiet"])
            .current_dir(world.path(""))
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        wait = (wait * 48_271) % 2_147_483_647;
        // After as many kills as are wanted it may take as long as it likes.
        let patience = if kills < KILLS { 60 + wait % 190 } else { 600_000 };
        let began = std::time::Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if began.elapsed() > Duration::from_millis(patience) {
                break None;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        match ended {
            Some(status) => {
                assert!(status.success());
                break;
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                kills += 1;
            }
        }
    }
    assert!(kills >= KILLS, "it was done after {kills} kills");
    let killed = world.json(&["sweep", "search.toml", "--out", "killed", "--json"]);
    let whole = world.json(&["sweep", "search.toml", "--out", "whole", "--json"]);
    assert_eq!(names(&killed), names(&whole));
    for (killed, whole) in
        killed["trials"].as_array().unwrap().iter().zip(whole["trials"].as_array().unwrap())
    {
        for key in ["valid", "test", "best_epoch", "epochs"] {
            assert_eq!(killed["outcome"][key], whole["outcome"][key], "{}: {key}", killed["name"]);
        }
    }
}
