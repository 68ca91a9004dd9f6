//! A closed-form model through every command, and every model through those that take any.

use crate::support::{SMALL, World, holds};

const TRAIN: [&str; 7] = ["train", "--data", "log.csv", "--model", "popularity", "--out", "run"];

fn trained() -> World {
    let world = World::with_log();
    world.ok(&[&TRAIN[..], &["--quiet"]].concat());
    world
}

#[test]
fn it_is_trained_without_loss_or_epochs() {
    let world = World::with_log();
    let (out, err) = world.ok(&["train", "--data", "log.csv", "--model", "popularity"]);
    holds(&err, &["model   popularity"]);
    assert!(!err.contains("loss") && !err.contains("epoch"), "{err}");
    holds(&out, &["Recall@20", "validation", "test", "runs/log-popularity-1"]);
    assert!(!out.contains("epoch") && !out.contains("pairs/s"), "{out}");
    let document = world.json(&[&TRAIN[..], &["--json"]].concat());
    assert!(document["test"]["NDCG@20"].as_f64() > Some(0.0) && document.get("epochs").is_none());
    let config: toml::Table = String::from_utf8(world.read("run/config.toml")).unwrap().parse().unwrap();
    assert_eq!(config["model"], "type = 'popularity'".parse::<toml::Table>().unwrap().into());
    assert!(!config.contains_key("loss") && !config.contains_key("optim"), "{config}");
    assert!(!world.path("run/checkpoint").exists());
    // The run's config trains the same model again.
    world.ok(&["train", "--config", "run/config.toml", "--out", "again", "--quiet"]);
    assert_eq!(world.read("run/model.safetensors"), world.read("again/model.safetensors"));
}

#[test]
fn a_finished_run_is_shown_and_an_unfinished_one_is_fitted_on_resume() {
    let world = trained();
    let files = world.files();
    let (out, err) = world.ok(&["train", "--resume", "run"]);
    holds(&err, &["run is finished"]);
    holds(&out, &["Recall@20"]);
    assert!(world.files() == files && !err.contains("--epochs"), "{err}");
    let error = world.fails(2, &["train", "--resume", "run", "--epochs", "5"]);
    holds(&error, &["--epochs: popularity is a closed-form model", "help: remove --epochs"]);

    // What an interruption before the fit leaves behind: the config.
    let model = world.read("run/model.safetensors");
    for file in ["model.safetensors", "metrics.json"] {
        std::fs::remove_file(world.path("run").join(file)).unwrap();
    }
    holds(&world.fails(2, &["evaluate", "run"]), &["no model yet", "--resume"]);
    let (out, err) = world.ok(&["train", "--resume", "run"]);
    holds(&out, &["Recall@20"]);
    assert!(!err.contains("epoch"), "{err}");
    assert_eq!(world.read("run/model.safetensors"), model);
}

#[test]
fn it_is_evaluated_and_verified() {
    let world = trained();
    let record: serde_json::Value = serde_json::from_slice(&world.read("run/metrics.json")).unwrap();
    let document = world.json(&["evaluate", "run", "--json"]);
    assert_eq!(document["metrics"], record["test"]);
    assert!(document.get("epoch").is_none());
    let more = ["evaluate", "run", "--verify", "--buckets", "--beyond", "--per-user", "users.csv", "--json"];
    let document = world.json(&more);
    assert_eq!(document["metrics"], record["test"]);
    assert_eq!(document["verification"]["reordered_users"], 0);
    assert!(document["head"]["metrics"]["NDCG@20"].is_f64() && document["beyond"]["Gini@20"].is_f64());
    assert_eq!(String::from_utf8(world.read("users.csv")).unwrap().lines().count(), 31);
    let (out, _) = world.ok(&["evaluate", "run", "--verify", "--buckets", "--beyond"]);
    holds(&out, &["run     run\n", "verified: ", "head", "Coverage@20"]);
}

#[test]
fn it_recommends_the_most_popular_items_the_user_does_not_have() {
    let world = World::new();
    let pairs = [("a", "xyz"), ("b", "xyv"), ("c", "xv"), ("d", "wv"), ("e", "xyw")];
    let mut log = "user,item,time\n".to_owned();
    for (user, items) in pairs {
        for (time, item) in items.chars().enumerate() {
            log += &format!("{user},{item},{time}\n");
        }
    }
    world.write("log.csv", &log);
    let data = ["--split", "leave-last", "--validation", "none", "--set", "eval.k=[2]", "--quiet"];
    world.ok(&[&TRAIN[..], &data].concat());
    let document = world.json(&["recommend", "run", "--user", "d", "-n", "2", "--json"]);
    let items = document["recommendations"][0]["items"].as_array().unwrap();
    assert_eq!(items[0]["item"], "x", "{document}");
    assert!(items[0]["score"].as_f64() > items[1]["score"].as_f64(), "{document}");
    world.ok(&["recommend", "run", "--all", "-n", "1", "--out", "all.csv"]);
    let all = String::from_utf8(world.read("all.csv")).unwrap();
    assert_eq!(all.lines().count(), 1 + pairs.len());
    holds(&all, &["user,rank,item,score\n", "d,1,x,"]);
}

#[test]
fn it_has_no_similar_items_and_no_loss_to_inspect() {
    let world = trained();
    let error = world.fails(2, &["similar", "run", "--item", "item/3"]);
    holds(&error, &["popularity", "similarity", "help: "]);
    let error = world.fails(2, &["inspect", "run"]);
    holds(&error, &["popularity is a closed-form model", "inspected"]);
}

#[test]
fn it_is_repeated_to_the_bit() {
    let world = trained();
    let document = world.json(&["rerun", "run", "--json", "--threads", "3"]);
    assert_eq!((&document["same"], &document["model_compared"]), (&true.into(), &true.into()));
}

#[test]
fn settings_of_the_gradient_trainer_are_refused() {
    let world = World::with_log();
    for (setting, key) in [
        (["--loss", "sl"], "--loss: "),
        (["--set", "loss.tau=1"], "loss.tau: "),
        (["--epochs", "5"], "--epochs: "),
        (["--lr", "0.1"], "--lr: "),
        (["--negatives", "5"], "--negatives: "),
    ] {
        let error = world.fails(2, &[&TRAIN[..], &setting].concat());
        holds(&error, &[key, "popularity", "help: "]);
    }
    let error = world.fails(2, &[&TRAIN[..], &["--dim", "8"]].concat());
    holds(&error, &["--dim: popularity takes no parameters"]);
    let mistyped = ["train", "--data", "log.csv", "--model", "popularty", "--out", "run"];
    holds(&world.fails(2, &mistyped), &["unknown model 'popularty'", "did you mean 'popularity'?"]);
    let ok = [&TRAIN[..], &["--seed", "3", "--quiet"]].concat();
    world.ok(&ok);
}

#[test]
fn the_list_of_models_has_closed_forms_and_that_of_backbones_does_not() {
    let world = World::new();
    holds(&world.ok(&["list", "models"]).0, &["popularity  ", "model.dim", "= 64"]);
    let backbones = world.ok(&["list", "backbones"]).0;
    assert!(backbones.contains("lightgcn") && !backbones.contains("\npopularity "), "{backbones}");
}

#[test]
fn the_old_flag_still_chooses_a_model() {
    let world = World::with_log();
    let args = ["train", "--data", "log.csv", "--backbone", "popularity", "--quiet", "--json"];
    assert_eq!(world.json(&args)["run"], "runs/log-popularity-1");
}

#[test]
fn every_model_is_trained_verified_repeated_and_asked_for_lists() {
    let world = World::with_log();
    world.write("new.csv", "user,item\nnobody,item/3\nnobody,item/4\n");
    let names = |list: &str| -> Vec<String> {
        let document = world.json(&["list", list, "--json"]);
        document.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    let (models, backbones) = (names("models"), names("backbones"));
    assert!(models.len() > 10 && backbones.len() < models.len());
    for model in &models {
        let training = if backbones.contains(model) { SMALL } else { &[] };
        let train = ["train", "--data", "log.csv", "--model", model, "--out", model, "--quiet"];
        world.ok(&[&train[..], training].concat());
        let record: serde_json::Value =
            serde_json::from_slice(&world.read(&format!("{model}/metrics.json"))).unwrap();
        let evaluated = world.json(&["evaluate", model, "--verify", "--json"]);
        assert_eq!(evaluated["metrics"], record["test"], "{model}");
        assert_eq!(evaluated["verification"]["reordered_users"], 0, "{model}");
        assert_eq!(world.json(&["rerun", model, "--json", "--threads", "3"])["same"], true, "{model}");
        let all = world.json(&["recommend", model, "--all", "-n", "3", "--json"]);
        assert_eq!(all["recommendations"].as_array().unwrap().len(), 30, "{model}");
        let new = world.json(&["recommend", model, "--history", "new.csv", "-n", "3", "--json"]);
        assert_eq!(new["recommendations"][0]["items"].as_array().unwrap().len(), 3, "{model}");
        holds(&world.fails(2, &["recommend", model, "--user", "nobody"]), &["nobody"]);
        if model != "popularity" {
            let similar = world.json(&["similar", model, "--item", "item/3", "-n", "2", "--json"]);
            assert!(similar.to_string().matches("\"item\"").count() > 1, "{model}: {similar}");
            holds(&world.fails(2, &["similar", model, "--item", "nothing"]), &["nothing"]);
        }
    }
    let runs: Vec<&str> = models.iter().map(String::as_str).collect();
    world.ok(&[&["compare"], &runs[..]].concat());
    world.ok(&["report", ".", "-o", "report.html"]);
}

#[test]
fn every_closed_form_is_searched_over_its_own_grid() {
    let world = World::with_log();
    for model in ["ials", "ease", "fs-slim", "item-knn", "rp3beta", "turbo-cf"] {
        let sweep = ["sweep", "--data", "log.csv", "--model", model, "--trials", "3", "--out", model];
        let document = world.json(&[&sweep[..], &["--json"]].concat());
        let trials = document["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 4, "{model}: the default and three drawn");
        let finished = |trial: &serde_json::Value| trial["state"] == "finished";
        assert!(trials.iter().all(finished), "{model}: {document}");
    }
}
