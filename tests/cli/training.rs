//! `rivalry train`: the same bits for any number of threads, its outputs, settings and resumption.

use serde_json::Value;

use crate::support::{SMALL, World, holds};

/// What differs between two runs of the same: time, threads and place.
fn figures(mut document: Value) -> Value {
    let map = document.as_object_mut().unwrap();
    for key in ["seconds", "epoch_seconds", "pairs_per_second", "threads", "date", "command", "run"] {
        assert!(map.remove(key).is_some(), "{key}");
    }
    document
}

#[test]
fn one_two_and_three_threads_give_the_same_model_file() {
    for more in [&[][..], &["--fast", "--set", "optim.schedule=linear", "--set", "train.init=als"]] {
        let world = World::new();
        let train = |threads: &str| {
            let args = ["train", "--data", "synthetic", "--json", "--out", threads, "--threads", threads];
            let small = ["--epochs", "3", "--eval-every", "1", "--negatives", "30", "--dim", "20"];
            let document = world.json(&[&args[..], &small, more].concat());
            assert_eq!(document["threads"], threads.parse::<u64>().unwrap());
            (figures(document), world.read(&format!("{threads}/model.safetensors")))
        };
        let one = train("1");
        assert!(train("2") == one && train("3") == one, "{more:?}");
    }
}

#[test]
fn a_run_with_a_schedule_is_not_extended_and_an_unknown_schedule_is_refused() {
    let world = World::with_log();
    world.train("run", &["--loss", "sl", "--set", "optim.schedule=cosine"]);
    let error = world.fails(2, &["train", "--resume", "run", "--epochs", "50"]);
    holds(&error, &["learning rate", "decays", "can't be extended"]);
    let unknown = ["train", "--data", "log.csv", "--set", "optim.schedule=cosin", "--out", "other"];
    holds(&world.fails(2, &unknown), &["optim.schedule", "constant, linear, cosine"]);
}

#[test]
fn fast_means_shared_negatives() {
    let world = World::new();
    let args =
        ["train", "--data", "synthetic", "--fast", "--epochs", "1", "--negatives", "30", "--out", "run"];
    world.json(&[&args[..], &["--json"]].concat());
    let config = String::from_utf8(world.read("run/config.toml")).unwrap();
    assert!(config.contains("type = \"shared\"") && config.contains("deferred = true"), "{config}");
}

#[test]
fn the_json_document_has_the_promised_keys_and_the_run_folder_the_promised_files() {
    let world = World::with_log();
    let document = world.train("run", &["--loss", "dsl-ca", "--set", "eval.k=[5, 20]"]);
    for key in ["best_epoch", "epoch_seconds", "pairs_per_second", "epochs", "threads"] {
        assert!(document[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {document}");
    }
    for (part, metric) in
        [("valid", "NDCG@20"), ("test", "Recall@20"), ("test", "NDCG@5"), ("test", "MAP@20")]
    {
        assert!(document[part][metric].as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)), "{part} {metric}");
    }
    assert!(
        document["seconds"]["train"].as_f64() > Some(0.0) && document["seconds"]["eval"].as_f64() > Some(0.0)
    );
    assert_eq!(document["run"], "run");
    let mut names: Vec<_> =
        std::fs::read_dir(world.path("run")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["checkpoint", "config.toml", "log.jsonl", "metrics.json", "model.safetensors"]);
    let log = String::from_utf8(world.read("run/log.jsonl")).unwrap();
    let epochs: Vec<Value> =
        log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["epoch"].clone()).collect();
    assert_eq!(epochs, [2, 4]);
}

#[test]
fn logs_go_to_stderr_the_table_to_stdout_and_quiet_means_quiet() {
    let world = World::with_log();
    let train = [&["train", "--data", "log.csv", "--loss", "sl"], SMALL].concat();
    let (out, err) = world.ok(&train);
    holds(
        &err,
        &[
            "30 users, 40 items; ",
            "sl (log_q false, tau 0.2)",
            "epoch 2/4   loss ",
            "epoch 4/4   loss ",
            "NDCG@20",
        ],
    );
    holds(
        &out,
        &["Recall@20", "validation", "test", "runs/log-mf-sl-1", "rivalry recommend", "--user 'user 0'"],
    );
    let (out, err) = world.ok(&[&train[..], &["--quiet"]].concat());
    assert_eq!(err, "");
    holds(&out, &["Recall@20", "runs/log-mf-sl-2"]);
    assert!(world.path("runs/log-mf-sl-2/model.safetensors").exists());
}

#[test]
fn settings_come_from_the_file_the_flags_and_the_sets() {
    let world = World::with_log();
    world.write("c.toml", "loss.type = 'sl'\noptim.lr = 0.5\ntrain.seed = 7\ndata.source = 'log.csv'");
    let train =
        ["train", "--config", "c.toml", "--lr", "0.25", "--set", "loss.tau=0.125", "--out", "run", "--quiet"];
    world.ok(&[&train[..], SMALL].concat());
    let config = String::from_utf8(world.read("run/config.toml")).unwrap();
    let absolute = std::fs::canonicalize(world.path("log.csv")).unwrap();
    let config: toml::Table = config.parse().unwrap();
    assert_eq!(
        config["loss"],
        "type = 'sl'\ntau = 0.125\nlog_q = false".parse::<toml::Table>().unwrap().into()
    );
    assert_eq!((&config["optim"]["lr"], &config["train"]["seed"]), (&0.25.into(), &7.into()));
    let source = std::path::Path::new(config["data"]["source"].as_str().unwrap());
    assert!(source.is_absolute() && std::fs::canonicalize(source).unwrap() == absolute);
    // The run's own config makes the same run again.
    world.ok(&["train", "--config", "run/config.toml", "--out", "again", "--quiet"]);
    assert_eq!(world.read("run/model.safetensors"), world.read("again/model.safetensors"));
}

#[test]
fn a_finished_run_resumed_shows_its_figures_again_and_can_be_extended() {
    let world = World::with_log();
    let first = world.train("run", &[]);
    let files = world.files();
    assert_eq!(world.json(&["train", "--resume", "run", "--json"]), first);
    let (out, err) = world.ok(&["train", "--resume", "run"]);
    holds(&err, &["run is finished"]);
    holds(&out, &["Recall@20"]);
    assert!(world.files() == files);

    let longer = world.json(&["train", "--resume", "run", "--epochs", "8", "--json"]);
    assert_eq!(longer["epochs"], 8);
    let args = ["train", "--data", "log.csv", "--json", "--out", "direct", "--epochs", "8"];
    let direct = world.json(&[&args[..], &SMALL[2..]].concat());
    assert_eq!(figures(direct), figures(longer));
    holds(&world.fails(2, &["train", "--resume", "run", "--epochs", "5"]), &["8 epochs", "not shortened"]);
    for flag in [["--lr", "1"], ["--loss", "sl"], ["--split", "time"], ["--out", "x"]] {
        let error = world.fails(2, &[&["train", "--resume", "run"], &flag[..]].concat());
        holds(&error, &["--resume", "cannot be used with", flag[0]]);
    }
}

#[test]
fn patience_ends_a_run_early_and_resuming_it_changes_nothing() {
    let world = World::with_log();
    let args = ["train", "--data", "log.csv", "--json", "--out", "run", "--negatives", "10", "--dim", "8"];
    let early =
        world.json(&[&args[..], &["--epochs", "500", "--eval-every", "1", "--patience", "3"]].concat());
    assert_eq!(early["ending"], "out-of-patience");
    assert_eq!(early["epochs"].as_u64().unwrap(), early["best_epoch"].as_u64().unwrap() + 3);
    assert_eq!(world.json(&["train", "--resume", "run", "--json"]), early);
}

#[test]
fn a_run_stops_early_by_default_says_so_and_runs_to_the_end_with_patience_none() {
    let world = World::with_log();
    let args = ["train", "--data", "log.csv", "--negatives", "10", "--dim", "8", "--eval-every", "1"];
    let (out, said) = world.ok(&[&args[..], &["--epochs", "500", "--out", "early"]].concat());
    holds(&out, &["stopped after 10 evaluations without improvement, of at most 500 epochs"]);
    holds(&said, &["stops after 10 evaluations without improvement"]);
    let early = world.json(&["train", "--resume", "early", "--json"]);
    assert_eq!(early["ending"], "out-of-patience");
    let all = ["--epochs", "60", "--patience", "none", "--json", "--out", "all"];
    let all = world.json(&[&args[..], &all].concat());
    assert_eq!((&all["ending"], &all["epochs"]), (&"finished".into(), &60.into()));
    let config = String::from_utf8(world.read("all/config.toml")).unwrap();
    holds(&config, &["patience = \"none\""]);
    // Where the last epoch is taken there is nothing to wait for.
    let last = ["--validation", "none", "--epochs", "30", "--json", "--out", "last"];
    assert_eq!(world.json(&[&args[..], &last].concat())["epochs"], 30);
    holds(&world.fails(2, &[&args[..], &["--patience", "0"]].concat()), &["--patience", "'none'"]);
}

#[test]
fn the_metric_that_selects_is_a_choice() {
    let world = World::with_log();
    let (_, said) =
        world
            .ok(&[&["train", "--data", "log.csv", "--out", "r", "--select-by", "recall@20"], SMALL].concat());
    holds(&said, &["validation Recall@20"]);
    holds(&String::from_utf8(world.read("r/config.toml")).unwrap(), &["select_by = \"Recall@20\""]);
    let args = ["train", "--data", "log.csv", "--select-by", "NDCG@10"];
    holds(&world.fails(2, &args), &["--select-by: NDCG@10 is not measured", "NDCG@20", "--k 20,10"]);
    let sweep = [
        "sweep",
        "--data",
        "log.csv",
        "--loss",
        "sl",
        "--grid",
        "loss.tau=0.1,0.2",
        "--select-by",
        "Recall@20",
    ];
    let (table, said) = world.ok(&[&sweep[..], &["--epochs", "4", "--negatives", "10"]].concat());
    holds(&said, &["validation Recall@20"]);
    holds(&table, &["Recall@20", "NDCG@20"]);
}

/// A run of an earlier release says nothing of patience, and ran all epochs.
#[test]
fn the_config_of_an_earlier_run_means_what_it_meant() {
    let world = World::with_log();
    world.train("run", &["--patience", "none"]);
    let config = String::from_utf8(world.read("run/config.toml")).unwrap();
    world.write("earlier.toml", &config.replace("patience = \"none\"\n", ""));
    assert_ne!(world.read("earlier.toml"), config.as_bytes());
    let args = ["train", "--config", "earlier.toml", "--out", "again", "--quiet"];
    world.ok(&args);
    assert_eq!(String::from_utf8(world.read("again/config.toml")).unwrap(), config);
}

#[test]
fn the_help_names_the_defaults_the_library_has() {
    let (help, _) = World::new().ok(&["train", "--help"]);
    let help: Vec<&str> = help.split_whitespace().collect();
    let help = help.join(" ");
    let config = rivalry::config::Config::default();
    let gradient = config.gradient.as_ref().unwrap();
    for (flag, default) in [
        ("--epochs", gradient.train.epochs.to_string()),
        ("--batch-size", gradient.train.batch_size.to_string()),
        ("--eval-every", gradient.train.eval_every.to_string()),
        ("--seed", config.seed.to_string()),
        ("--dim", config.model.dim().unwrap().to_string()),
        ("--patience", gradient.train.patience.unwrap().to_string()),
        ("--loss", format!("{} with a popularity prior", gradient.loss.name())),
        ("--model", config.model.name().to_owned()),
    ] {
        let after = &help[help.find(&format!(" {flag} <")).unwrap_or_else(|| panic!("{flag}"))..];
        let shown = &after[after.find("[default: ").unwrap()..];
        assert!(shown.starts_with(&format!("[default: {default}]")), "{flag}: {shown}");
    }
}
