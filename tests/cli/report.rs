//! `rivalry report`

use crate::support::{World, holds};

/// Two losses, one of them with two seeds and in a folder whose name is HTML, and an unfinished run.
fn world() -> World {
    let world = World::with_log();
    let more = ["--set", "eval.buckets=true", "--set", "eval.k=[5, 20]"];
    world.train("runs/sl", &[&more[..], &["--loss", "sl"]].concat());
    world.train("runs/<b>/0", &[&more[..], &["--loss", "dsl-ca"]].concat());
    world.train("runs/<b>/1", &[&more[..], &["--loss", "dsl-ca", "--seed", "1"]].concat());
    world.train("runs/stopped", &["--loss", "bpr"]);
    std::fs::remove_file(world.path("runs/stopped/metrics.json")).unwrap();
    world
}

#[test]
fn a_report_is_one_file_with_tables_figures_and_commands() {
    let world = world();
    let document = world.json(&["report", "runs", "-o", "report.html", "--json"]);
    assert_eq!((&document["runs"], &document["finished"]), (&4.into(), &3.into()));
    assert_eq!(document["unfinished"], serde_json::json!(["runs/stopped"]));
    assert_eq!(document["losses"], serde_json::json!(["bpr", "dsl-ca", "sl"]));
    assert_eq!(document["data"], serde_json::json!(["log"]));
    assert_eq!(document["figures"], serde_json::json!([]));
    let html = String::from_utf8(world.read("report.html")).unwrap();
    holds(
        &html,
        &[
            "<!DOCTYPE html>",
            "NDCG@20",
            "NDCG@5",
            "rivalry train --config runs/sl/config.toml",
            "rivalry train --config &#39;runs/&lt;b&gt;/1/config.toml&#39;",
            "unfinished; rivalry train --resume runs/stopped",
            "Head and tail items",
            "Learning curves",
            "±",
            "eval.mask = &quot;train+valid&quot;",
        ],
    );
    for foreign in ["<b>/", " src=", "url(", "@import"] {
        assert!(!html.contains(foreign), "{foreign}");
    }
    assert_eq!(html.matches("<script").count(), 1);
    holds(&html, &["default-src 'none'", "script-src 'sha256-"]);
    // The only URL is the SVG namespace.
    assert!(!html.replace("http://www.w3.org/2000/svg", "").contains("://"), "a URL");
    let (out, said) = world.ok(&["report", "runs/sl", "-o", "one.html"]);
    assert_eq!(out.trim(), "report  one.html");
    holds(&said, &["read 1 run"]);
}

#[test]
fn after_halving_the_report_agrees_with_itself_and_with_compare() {
    let world = World::with_log();
    let sweep =
        ["sweep", "--data", "log.csv", "--loss", "sl", "--loss", "dsl-ca", "--trials", "12", "--halving"];
    let small = ["--seeds", "2", "--epochs", "9", "--set", "train.eval_every=1", "--out", "sweep"];
    let small = [&small[..], &["--set", "train.negatives=20", "--set", "model.dim=8"]].concat();
    world.ok(&[&sweep[..], &small].concat());
    let document = world.json(&["report", "sweep", "-o", "report.html", "--json"]);
    let [runs, finished, pruned] = ["runs", "finished", "pruned"].map(|key| document[key].as_u64().unwrap());
    assert!(pruned > 0 && finished + pruned == runs, "{document}");
    let html = String::from_utf8(world.read("report.html")).unwrap();
    let compared = world.json(&["compare", "sweep", "--baseline", "sl", "--json"]);
    let difference = &compared["methods"]
        .as_array()
        .unwrap()
        .iter()
        .find(|method| method["differences"]["NDCG@20"].is_object());
    let [low, high] =
        [0, 1].map(|end| difference.unwrap()["differences"]["NDCG@20"]["interval"][end].as_f64().unwrap());
    holds(
        &html,
        &[
            &format!("<p>{runs} runs: {finished} finished, {pruned} pruned."),
            &format!("[{low:+.4}, {high:+.4}]"),
            "Wilcoxon signed-rank test",
            "selected epoch",
            "loss.tau",
        ],
    );
    assert!(!html.contains("unfinished"));
}

#[test]
fn the_same_runs_give_the_same_file() {
    let world = world();
    world.ok(&["report", "runs", "-o", "one.html"]);
    world.ok(&["report", "runs", "-o", "two.html"]);
    assert!(world.read("one.html") == world.read("two.html"));
}

#[test]
fn figures_are_written_as_svg() {
    let world = world();
    let document = world.json(&["report", "runs", "-o", "r.html", "--figures", "figures", "--json"]);
    let files: Vec<&str> =
        document["figures"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        assert!(file.ends_with(".svg"), "{file}");
        let text = String::from_utf8(world.read(file)).unwrap();
        assert!(text.starts_with("<svg xmlns=") && !text.contains("var("), "{file}");
    }
    let error = world.fails(2, &["report", "runs", "-o", "other.html", "--figures", "figures"]);
    holds(&error, &["figures: is not empty", "--force"]);
    world.ok(&["report", "runs", "-o", "other.html", "--figures", "figures", "--force"]);
}

#[test]
fn invalid_input_is_refused_by_name() {
    let world = world();
    holds(&world.fails(2, &["report", "nowhere", "-o", "r.html"]), &["nowhere: ", "no such file or folder"]);
    std::fs::create_dir(world.path("empty")).unwrap();
    holds(
        &world.fails(2, &["report", "empty", "-o", "r.html"]),
        &["empty: no runs in this folder", "rivalry train"],
    );
    holds(&world.fails(2, &["report", "runs", "-o", "empty", "--force"]), &["empty: is a folder"]);
    world.write("r.html", "mine");
    holds(&world.fails(2, &["report", "runs", "-o", "r.html"]), &["r.html: already exists", "--force"]);
    world.ok(&["report", "runs", "-o", "r.html", "--force"]);
    let log = String::from_utf8(world.read("runs/sl/log.jsonl")).unwrap();
    world.write("runs/sl/log.jsonl", &log.replacen("\n", "\n}", 1));
    // One damaged run doesn't stop a report on the others.
    let (_, said) = world.ok(&["report", "runs", "-o", "new.html"]);
    holds(&said, &["warning: left out a run: runs/sl/log.jsonl: has been changed or damaged"]);
    holds(&String::from_utf8(world.read("new.html")).unwrap(), &["1 run with a damaged file left out"]);
    std::fs::remove_file(world.path("new.html")).unwrap();
    world.write("runs/sl/log.jsonl", &log);
    world.write("runs/sl/metrics.json", "{");
    let (_, said) = world.ok(&["report", "runs", "-o", "new.html"]);
    holds(&said, &["left out a run: runs/sl/metrics.json:", "not the metrics of a run"]);
    holds(&world.fails(2, &["report", "runs/sl", "-o", "r.html", "--force"]), &["not the metrics of a run"]);
}
