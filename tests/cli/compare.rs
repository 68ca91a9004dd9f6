//! Comparison of methods, and runs that are not comparable.

use serde_json::Value;

use crate::support::{World, holds};

/// Trains on the embedded data for a moment.
fn train(world: &World, out: &str, more: &[&str]) {
    let args = ["train", "--data", "synthetic", "--quiet", "--out", out, "--dim", "8"];
    let small = ["--epochs", "2", "--eval-every", "1", "--negatives", "30"];
    world.ok(&[&args[..], &small, more].concat());
}

/// Two seeds of SL, two of DSL, in `runs`.
fn two_methods() -> World {
    let world = World::new();
    for (loss, seed) in [("sl", "1"), ("sl", "2"), ("dsl", "1"), ("dsl", "2")] {
        train(&world, &format!("runs/{loss}-{seed}"), &["--loss", loss, "--seed", seed]);
    }
    world
}

fn text(world: &World, args: &[&str]) -> String {
    world.ok(args).0
}

#[test]
fn seeds_make_a_method_and_methods_a_table() {
    let world = two_methods();
    let out = text(&world, &["compare", "runs/sl-1", "runs/sl-2", "runs/dsl-1", "runs/dsl-2"]);
    holds(&out, &["data    synthetic", "mf sl ", "mf dsl ", "NDCG@20", "Recall@20", " ± ", "Against mf sl"]);
    holds(
        &out,
        &["95 % interval", "t p", "Wilcoxon p", "better / same / worse", "head", "tail", "Coverage@20"],
    );
    holds(
        &out,
        &["percentile bootstrap over users, 2,000 resamples", "one comparison per metric", "2 per method"],
    );
    assert!(!out.contains("single seed"), "{out}");
    // A folder of runs is the same as its runs by name.
    let folder = world.json(&["compare", "runs", "--json"]);
    let named = world.json(&["compare", "runs/dsl-1", "runs/dsl-2", "runs/sl-1", "runs/sl-2", "--json"]);
    assert_eq!(folder, named);
}

#[test]
fn the_document_has_every_figure_and_agrees_with_evaluate() {
    let world = two_methods();
    let document = world.json(&["compare", "runs", "--baseline", "sl", "--json"]);
    assert_eq!((&document["baseline"], &document["data"]), (&"mf sl".into(), &"synthetic".into()));
    let methods = document["methods"].as_array().unwrap();
    let [dsl, sl] = [&methods[0], &methods[1]];
    assert_eq!((&dsl["name"], &dsl["seeds"]), (&"mf dsl".into(), &serde_json::json!([1, 2])));
    assert_eq!(sl["differences"], serde_json::json!({}));
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let mean_of = |run: &str| {
        let figures = world.json(&["evaluate", run, "--json", "--per-user", &format!("{run}.csv")]);
        assert_eq!(figures["users"], document["users"]);
        number(&figures["metrics"]["NDCG@20"])
    };
    let [one, two, other, another] = ["runs/dsl-1", "runs/dsl-2", "runs/sl-1", "runs/sl-2"].map(mean_of);
    assert!((number(&dsl["metrics"]["NDCG@20"]["mean"]) - (one + two) / 2.0).abs() < 1e-12);
    let deviation = (one - two).abs() / 2f64.sqrt();
    assert!((number(&dsl["metrics"]["NDCG@20"]["deviation"]) - deviation).abs() < 1e-12);
    let found = &dsl["differences"]["NDCG@20"];
    assert!((number(&found["mean"]) - (one + two - other - another) / 2.0).abs() < 1e-12);
    assert!(number(&found["interval"][0]) <= number(&found["mean"]));
    assert!(number(&found["interval"][1]) >= number(&found["mean"]));
    assert_eq!(found["t"]["p"], found["t_corrected"]);
    let shares = ["better", "same", "worse"].map(|key| number(&found[key]));
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    for key in ["relative", "head", "tail", "wilcoxon_corrected"] {
        number(&found[key]);
    }
    number(&dsl["head"]["NDCG@20"]["mean"]);
    number(&dsl["lists"]["Coverage@20"]["mean"]);
}

#[test]
fn threads_change_nothing() {
    let world = two_methods();
    let with = |threads: &str| text(&world, &["compare", "runs", "--json", "--threads", threads]);
    assert_eq!(with("1"), with("3"));
}

#[test]
fn every_format_says_what_was_done_and_marks_the_best() {
    let world = two_methods();
    let markdown = text(&world, &["compare", "runs", "--format", "markdown", "--metric", "ndcg@5"]);
    holds(
        &markdown,
        &[
            "| method | seeds | NDCG@5 |",
            "| --- | ---: |",
            "**0.",
            "Wilcoxon signed-rank test",
            "Data: synthetic",
        ],
    );
    let latex = text(&world, &["compare", "runs", "--format", "latex", "-k", "5,10"]);
    holds(
        &latex,
        &[r"\begin{tabular}{lrrrrr}", r"\textbf{0.", r"$\pm$", r"95 \% interval", "NDCG@10", "Recall@5"],
    );
    assert_eq!(latex.matches('{').count(), latex.matches('}').count());
    let csv = text(&world, &["compare", "runs", "--format", "csv"]);
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    // Two metrics and three figures of the lists for each method, under a header.
    assert_eq!(lines.len(), 1 + 2 * 5);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
    holds(&csv, &["wilcoxon_p_holm", "mf dsl,mf dsl,2,", "mf sl,mf dsl,2,"]);

    let (out, err) = world.ok(&["compare", "runs", "--format", "csv", "-o", "table.csv"]);
    assert_eq!((out.as_str(), world.read("table.csv")), ("", csv.clone().into_bytes()));
    holds(&err, &["table.csv"]);
    holds(
        &world.fails(2, &["compare", "runs", "-o", "table.csv"]),
        &["table.csv: already exists", "--force"],
    );
    // The extension decides the format.
    world.ok(&["compare", "runs", "-o", "table.csv", "--force"]);
    assert_eq!(world.read("table.csv"), csv.into_bytes());
    world.ok(&["compare", "runs", "-o", "table.json"]);
    serde_json::from_slice::<Value>(&world.read("table.json")).unwrap();
    let error = world.fails(2, &["compare", "runs", "--json", "-o", "table.csv", "--force"]);
    holds(&error, &["table.csv: the extension is not that of the format", ".json"]);
    holds(&world.fails(2, &["compare", "runs", "-o", "table.pdf"]), &["table.pdf", ".txt, .md, .tex, .csv"]);
    let (out, _) = world.ok(&["compare", "runs", "--format", "markdown", "--metric", "ndcg@5", "-o", "-"]);
    assert_eq!(out.trim(), markdown.trim());
}

#[test]
fn names_show_the_settings_that_differ_and_p_values_are_corrected() {
    let world = World::new();
    for (out, tau) in [("a", "0.2"), ("b", "0.1"), ("c", "0.05")] {
        train(&world, out, &["--loss", "sl", "--set", &format!("loss.tau={tau}")]);
    }
    let out = text(&world, &["compare", "a", "b", "c"]);
    holds(
        &out,
        &["mf sl loss.tau=0.2", "mf sl loss.tau=0.1", "mf sl loss.tau=0.05", "Against mf sl loss.tau=0.2"],
    );
    holds(&out, &["Holm-corrected for 2 comparisons per metric", "Some methods have a single seed"]);
    let out = text(&world, &["compare", "a", "b", "c", "--baseline", "c"]);
    holds(&out, &["Against mf sl loss.tau=0.05"]);
    let error = world.fails(2, &["compare", "a", "b", "--baseline", "mf sl loss.tau=0.3"]);
    holds(&error, &["unknown method 'mf sl loss.tau=0.3'", "did you mean 'mf sl loss.tau=0."]);
    // A loss that two methods have does not say which is meant.
    holds(&world.fails(2, &["compare", "a", "b", "--baseline", "sl"]), &["unknown method 'sl'"]);
}

#[test]
fn the_seed_of_a_closed_form_is_no_matter() {
    let world = World::with_log();
    world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "runs/popular"]);
    let out = text(&world, &["compare", "runs/popular"]);
    holds(&out, &["The seed makes no difference to popularity."]);
    assert!(!out.contains("single seed"), "{out}");
    world.train("runs/sl", &["--loss", "sl"]);
    let out = text(&world, &["compare", "runs/popular", "runs/sl"]);
    holds(&out, &["The seed makes no difference to popularity.", "Some methods have a single seed"]);
}

#[test]
fn a_single_method_is_shown_without_a_comparison() {
    let world = World::new();
    train(&world, "run", &["--loss", "sl"]);
    let out = text(&world, &["compare", "run"]);
    holds(&out, &["mf sl", "NDCG@20", "Some methods have a single seed"]);
    assert!(!out.contains("Against") && !out.contains("Wilcoxon"), "{out}");
}

#[test]
fn runs_that_cannot_be_compared_are_refused_with_the_difference() {
    let world = World::with_log();
    train(&world, "run", &["--loss", "sl"]);
    world.train("other-data", &[]);
    train(&world, "other-split", &["--loss", "dsl", "--split-seed", "9"]);
    train(&world, "other-mask", &["--set", "eval.mask=train"]);
    train(&world, "other-average", &["--set", "eval.average=all"]);
    train(&world, "other-select", &["--set", "train.select=last"]);
    train(&world, "other-k", &["--set", "eval.k=[5]"]);
    train(&world, "twin", &["--loss", "sl"]);
    for (other, difference) in [
        ("other-data", "different data, 'log', not 'synthetic'"),
        ("other-split", "different split, data.prepare."),
        ("other-mask", "eval.mask is train, not train+valid"),
        ("other-average", "eval.average is all, not evaluable"),
        ("other-select", "train.select is last, not valid"),
        ("other-k", "NDCG@5, not NDCG@20"),
        ("twin", "the same seed (0) as run"),
    ] {
        let error = world.fails(2, &["compare", "run", other]);
        holds(&error, &[&format!("error: {other}: "), difference, "help: "]);
    }
    holds(
        &world.fails(2, &["compare", "run", "--metric", "ndgc@20"]),
        &["unknown metric", "did you mean 'NDCG'?"],
    );
    holds(&world.fails(2, &["compare", "run", "-k", "100000"]), &["K = 100000", "at most"]);
}

#[test]
fn a_mean_over_all_users_and_the_differences_agree() {
    let world = World::with_log();
    for loss in ["sl", "bpr"] {
        world.train(loss, &["--loss", loss, "--split", "time", "--test", "0.1", "--set", "eval.average=all"]);
    }
    let document = world.json(&["compare", "sl", "bpr", "--json"]);
    let stats = world.json(&["data", "stats", "log.csv", "--split", "time", "--test", "0.1", "--json"]);
    assert_eq!(document["users"], stats["users"]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}"));
    let mean = |method: usize| number(&document["methods"][method]["metrics"]["NDCG@20"]["mean"]);
    let difference = number(&document["methods"][1]["differences"]["NDCG@20"]["mean"]);
    assert!(mean(0) > 0.0 && (mean(1) - mean(0) - difference).abs() < 1e-12, "{difference}");
}

#[test]
fn missing_unfinished_and_damaged_runs_are_named() {
    let world = World::new();
    train(&world, "run", &["--loss", "sl"]);
    holds(&world.fails(2, &["compare", "run", "nowhere"]), &["nowhere: no such folder"]);
    world.write("empty/file", "");
    holds(
        &world.fails(2, &["compare", "run", "empty"]),
        &["empty: is not a run and contains none", "help: "],
    );

    let (metrics, log) = (world.read("run/metrics.json"), world.read("run/log.jsonl"));
    world.write("run/metrics.json", &metrics[..metrics.len() / 2]);
    holds(&world.fails(2, &["compare", "run"]), &["run/metrics.json: has been changed or damaged", "help: "]);
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    let error = world.fails(2, &["compare", "run"]);
    holds(&error, &["run: the run is not finished", "rivalry train --resume run"]);
    world.write("run/metrics.json", &metrics);

    let first = log.iter().position(|&byte| byte == b'\n').unwrap();
    world.write("run/log.jsonl", &[&log[..=first], b"{\"epoch\": 2,\n"].concat());
    holds(&world.fails(2, &["compare", "run"]), &["run/log.jsonl: has been changed or damaged", "help: "]);
    world.write("run/log.jsonl", "");
    holds(&world.fails(2, &["compare", "run"]), &["run/log.jsonl: has no evaluation of epoch"]);
    world.write("run/log.jsonl", &log);
    world.ok(&["compare", "run"]);
}

#[test]
fn a_narrow_terminal_gets_a_block_for_each_method() {
    let world = two_methods();
    let out = world.command(&["compare", "runs"]).env("COLUMNS", "60").output().unwrap();
    let out = String::from_utf8(out.stdout).unwrap();
    // Captions and notes are text, which the terminal wraps.
    assert!(out.lines().filter(|line| line.starts_with(' ')).all(|line| line.chars().count() <= 60), "{out}");
    assert!(out.contains("\n  95 % interval "), "{out}");
    let wide = world.command(&["compare", "runs"]).env("COLUMNS", "300").output().unwrap();
    assert!(!String::from_utf8(wide.stdout).unwrap().contains("\n  95 % interval "));
}
