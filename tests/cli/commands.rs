//! Commands on finished runs, the lists, completions and quickstart.

use serde_json::Value;

use crate::support::{World, holds, texts};

fn trained() -> World {
    let world = World::with_log();
    world.train("run", &[]);
    world
}

#[test]
fn evaluate_repeats_the_figures_of_the_run_and_measures_more_on_request() {
    let world = World::with_log();
    let figures = world.train("run", &[]);
    let again = world.json(&["evaluate", "run", "--json"]);
    assert_eq!(again["metrics"], figures["test"]);
    let valid = world.json(&["evaluate", "run", "--json", "--split", "valid"]);
    assert_eq!((&valid["metrics"], &valid["split"]), (&figures["valid"], &"valid".into()));
    let more = [
        "evaluate",
        "run",
        "--json",
        "--k",
        "1,5",
        "--buckets",
        "--beyond",
        "--mask",
        "train",
        "--average",
        "all",
    ];
    let more = world.json(&more);
    assert!(more["metrics"]["Recall@5"].is_f64() && more["metrics"].get("Recall@20").is_none());
    assert!(more["head"]["metrics"]["NDCG@1"].is_f64() && more["beyond"]["Coverage@5"].is_f64());
    assert_eq!((&more["mask"], &more["average"]), (&"train".into(), &"all".into()));
    let (out, _) = world.ok(&["evaluate", "run", "--k", "5", "--buckets", "--beyond"]);
    holds(&out, &["Recall@5", "head", "tail", "Gini@5", "training and validation items"]);
    holds(&world.fails(2, &["evaluate", "run", "--k", "41"]), &["K = 41", "at most 40"]);
    holds(&world.fails(2, &["evaluate", "run", "--k", "0"]), &["K"]);
}

#[test]
fn evaluate_finds_the_data_of_a_run_from_anywhere() {
    let world = trained();
    world.write("elsewhere/file", "");
    let mut command = world.command(&["evaluate", "../run", "--json"]);
    let output = command.current_dir(world.path("elsewhere")).output().unwrap();
    assert!(output.status.success(), "{}", texts(&output).1);
}

#[test]
fn per_user_values_have_original_ids_and_average_to_the_mean() {
    let world = trained();
    let mean =
        world.json(&["evaluate", "run", "--json", "--per-user", "users.csv"])["metrics"]["NDCG@20"].clone();
    let text = String::from_utf8(world.read("users.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| *name == "NDCG@20").unwrap();
    let rows: Vec<_> = lines.collect();
    assert!(
        rows.len() == 30 && rows.iter().all(|row| row[0].starts_with("user ") && row.len() == header.len())
    );
    let sum: f64 = rows.iter().map(|row| row[column].parse::<f64>().unwrap()).sum();
    assert!((sum / 30.0 - mean.as_f64().unwrap()).abs() < 1e-12);
}

#[test]
fn recommendations_have_original_ids_descend_and_leave_known_items_out() {
    let world = trained();
    let document = world.json(&["recommend", "run", "--user", "user 3", "user 0", "-n", "1000", "--json"]);
    let lists = document["recommendations"].as_array().unwrap();
    assert_eq!((lists.len(), &lists[0]["user"], &lists[1]["user"]), (2, &"user 3".into(), &"user 0".into()));
    let items = lists[0]["items"].as_array().unwrap();
    // All 10 items of the user are known, whether they went to training, validation or test.
    assert_eq!(items.len(), 40 - 10);
    assert!(items.iter().all(|item| item["item"].as_str().unwrap().starts_with("item/")));
    let scores: Vec<f64> = items.iter().map(|item| item["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
    let (out, _) = world.ok(&["recommend", "run", "--user", "user 3", "-n", "2"]);
    holds(&out, &["user 3", items[0]["item"].as_str().unwrap(), items[1]["item"].as_str().unwrap()]);

    world.ok(&["recommend", "run", "--all", "-n", "2", "--out", "all.csv"]);
    let all = String::from_utf8(world.read("all.csv")).unwrap();
    assert_eq!(all.lines().count(), 61);
    let score = items[0]["score"].as_f64().unwrap() as f32;
    holds(
        &all,
        &["user,rank,item,score\n", &format!("user 3,1,{},{score}", items[0]["item"].as_str().unwrap())],
    );
    world.write("who.txt", "user 3\nuser 0\n");
    let same = world.json(&["recommend", "run", "--users-file", "who.txt", "-n", "1000", "--json"]);
    assert_eq!(same, document);
}

#[test]
fn unknown_users_and_items_are_named_with_the_nearest() {
    let world = trained();
    let error = world.fails(2, &["recommend", "run", "--user", "usr 12"]);
    holds(&error, &["no user 'usr 12'", "did you mean 'user 12'?"]);
    let error = world.fails(2, &["similar", "run", "--item", "§§"]);
    holds(&error, &["no item '§§'", "such as 'item/"]);
    world.write("who.txt", "user 3\nnobody\n");
    let error = world.fails(2, &["recommend", "run", "--users-file", "who.txt"]);
    holds(&error, &["who.txt:2: ", "'nobody'"]);
    holds(&world.fails(2, &["recommend", "run"]), &["--user"]);
    holds(&world.fails(2, &["recommend", "run", "--all"]), &["--out"]);
}

#[test]
fn similar_items_have_original_ids() {
    let world = trained();
    let document = world.json(&["similar", "run", "--item", "item/3", "-n", "4", "--json"]);
    let similar = document["similar"].as_array().unwrap();
    assert_eq!(similar.len(), 4);
    assert!(
        similar.iter().all(|s| s["item"].as_str().unwrap().starts_with("item/") && s["item"] != "item/3")
    );
    let (out, _) = world.ok(&["similar", "run", "--item", "item/3", "-n", "1"]);
    holds(&out, &["item/3", similar[0]["item"].as_str().unwrap()]);
}

#[test]
fn every_list_has_names_and_summaries() {
    let world = World::new();
    for (kind, expected) in [
        ("losses", "dsl-ca"),
        ("models", "popularity"),
        ("backbones", "mf"),
        ("samplers", "uniform"),
        ("optimizers", "adam"),
        ("datasets", "gowalla"),
        ("metrics", "NDCG@K"),
        ("splits", "leave-last"),
        ("validations", "none"),
        ("formats", "parquet"),
    ] {
        let document = world.json(&["list", kind, "--json"]);
        let entries: Vec<&Value> = document.as_array().unwrap().iter().collect();
        assert!(entries.iter().any(|entry| entry["name"] == expected), "{kind}");
        assert!(entries.iter().all(|entry| !entry["summary"].as_str().unwrap().is_empty()), "{kind}");
        holds(&world.ok(&["list", kind]).0, &[expected]);
    }
    holds(&world.ok(&["list", "losses"]).0, &["loss.tau", "= 0.2", "> 0", "loss.drift_control", "= true"]);
}

#[test]
fn completions_version_and_help() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        holds(&world.ok(&["completions", shell]).0, &["rivalry", "quickstart"]);
    }
    assert_eq!(world.ok(&["--version"]).0.trim(), format!("rivalry {}", env!("CARGO_PKG_VERSION")));
    holds(&world.ok(&["--help"]).0, &["quickstart", "completions"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let world = World::new();
    world.ok(&["man", "pages"]);
    let page = |name: &str| std::fs::read_to_string(world.path("pages").join(name)).unwrap();
    holds(&page("rivalry.1"), &[".TH rivalry 1", "quickstart"]);
    for (command, option) in [("train", r"\-\-loss"), ("recommend", r"\-\-all"), ("data-stats", r"\-\-split")]
    {
        holds(&page(&format!("rivalry-{command}.1")), &[option]);
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let said = World::new().ok_with_closed_output(&["list", "losses"]);
    assert!(said.is_empty(), "{said}");
}

#[test]
fn quickstart_compares_methods_and_says_where_they_are() {
    let world = World::new();
    let document = world.json(&["quickstart", "--json", "--quiet"]);
    for method in ["ease", "sl", "default"] {
        assert!(document[method]["test"]["Recall@20"].as_f64() > Some(0.2), "{document}");
        assert_eq!(document[method]["run"], format!("runs/quickstart-1/{method}"));
        assert!(world.path(&format!("runs/quickstart-1/{method}/model.safetensors")).exists());
    }
    // The settings of `default` are those of a training without a loss.
    let short = ["--epochs", "1", "--negatives", "5", "--quiet"];
    world.ok(&[&["train", "--data", "synthetic", "--out", "plain"][..], &short].concat());
    let settings = |run: &str| {
        let config: toml::Table =
            String::from_utf8(world.read(&format!("{run}/config.toml"))).unwrap().parse().unwrap();
        (config["loss"].clone(), config["model"].clone())
    };
    assert_eq!(settings("runs/quickstart-1/default"), settings("plain"));
    let (said, _) = world.ok(&["quickstart"]);
    holds(
        &said,
        &[
            "Difference from ease",
            "\n  sl ",
            "\n  default ",
            "default is what 'rivalry train' does without settings: dsl-ca with a popularity prior",
            "One seed on generated data",
            "page    runs/quickstart-2/report.html",
            "next    rivalry auto",
        ],
    );
    let page = std::fs::read_to_string(world.path("runs/quickstart-2/report.html")).unwrap();
    holds(&page, &["Learning curves", "ease", "dsl-ca"]);
}
