//! What is said about the data and their split, so that figures are not misread.

use crate::support::{SMALL, World, holds};

#[test]
fn the_split_is_printed_and_recorded_with_nothing_left_to_defaults() {
    let world = World::with_log();
    let (_, said) = world.ok(&["train", "--data", "log.csv", "--model", "item-knn", "--out", "run"]);
    let split =
        "random, 20 % of each user's items for test, 10 % of each user's other items for validation (seed 0)";
    holds(&said, &[&format!("split   {split}"), "the log has times", "--split time or leave-last"]);
    let config = String::from_utf8(world.read("run/config.toml")).unwrap();
    holds(&config, &["type = \"random\"", "test = 0.2", "ratio = 0.1"]);
    assert!(!config.contains("auto"), "{config}");
    let metrics = String::from_utf8(world.read("run/metrics.json")).unwrap();
    let metrics: serde_json::Value = serde_json::from_str(&metrics).unwrap();
    assert_eq!(metrics["split"]["test"], serde_json::json!({ "type": "random", "test": 0.2 }));
    world.ok(&["evaluate", "run"]);
    world.ok(&["report", ".", "-o", "report.html"]);
    let report = String::from_utf8(world.read("report.html")).unwrap();
    holds(&report, &["20 % of each user"]);
    assert!(!report.contains("split.type auto"));
    let (_, said) = world.ok(&[
        "train",
        "--data",
        "log.csv",
        "--model",
        "item-knn",
        "--split",
        "leave-last",
        "--out",
        "last",
    ]);
    holds(&said, &["split   leave-last, each user's last item for test, the item before for validation"]);
    assert!(!said.contains("the log has times"), "{said}");
}

#[test]
fn runs_with_a_split_left_to_defaults_and_written_out_are_one_group_of_a_report() {
    let world = World::with_log();
    world.train("runs/one", &["--loss", "sl"]);
    world.ok(&[
        &["sweep", "--data", "log.csv", "--loss", "sl", "--grid", "loss.tau=0.1,0.3", "--out", "runs/sweep"],
        &SMALL[..2],
    ]
    .concat());
    let report = world.json(&["report", "runs", "-o", "report.html", "--json"]);
    assert_eq!(report["groups"].as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn ratings_that_are_not_used_are_noted() {
    let world = World::with_log();
    let note = "ratings (from 1 to 5) are not used";
    let (out, _) = world.ok(&["data", "stats", "log.csv"]);
    holds(&out, &[note, "--min-rating 4 would leave out the 180 below (60 %)"]);
    let (_, said) = world.ok(&["train", "--data", "log.csv", "--model", "item-knn", "--out", "run"]);
    holds(&said, &[note]);
    let (out, _) = world.ok(&["data", "stats", "log.csv", "--min-rating", "4"]);
    assert!(!out.contains("not used"), "{out}");
    world.write("missing.csv", "user,item,rating\na,x,NA\na,y,nan\nb,x,\n");
    world.ok(&["data", "stats", "missing.csv"]);
}

#[test]
fn figures_that_are_artefacts_of_the_data_come_with_a_warning() {
    let world = World::new();
    let rows: String = (0..50).map(|item| format!("one,{item}\n")).collect();
    world.write("one.csv", &format!("user,item\n{rows}"));
    let (_, said) = world.ok(&["train", "--data", "one.csv", "--model", "popularity", "--out", "one"]);
    holds(
        &said,
        &["warning measured on 1 user only", "warning for 100 % of the users, a list of 20 holds all items"],
    );
    // Users come one after the other, so the latest pairs are of users that training doesn't have.
    let rows: String =
        (0..40).flat_map(|user| (0..10).map(move |n| format!("{user},{n},{}\n", user * 100 + n))).collect();
    world.write("late.csv", &format!("user,item,time\n{rows}"));
    let (_, said) = world.ok(&[
        "train",
        "--data",
        "late.csv",
        "--split",
        "time",
        "--model",
        "popularity",
        "--out",
        "late",
    ]);
    holds(&said, &["warning 100 % of the test pairs are of users not seen in training"]);
    assert!(!said.contains("untrained embeddings"), "{said}");
}

#[test]
fn the_default_list_length_fits_a_small_catalogue_and_a_given_one_is_refused() {
    let world = World::new();
    let rows: String = (0..35).map(|n| format!("{},{}\n", n % 5, n % 7)).collect();
    world.write("log.csv", &format!("user,item\n{rows}"));
    let trained =
        world.json(&["train", "--data", "log.csv", "--model", "popularity", "--out", "run", "--json"]);
    assert!(trained["test"]["NDCG@7"].is_number(), "{trained}");
    let error = world.fails(2, &["train", "--data", "log.csv", "--model", "popularity", "-k", "20"]);
    holds(&error, &["--k: K = 20, but there are only 7 items"]);
    world.ok(&[
        "train",
        "--data",
        "log.csv",
        "--model",
        "popularity",
        "--split",
        "none",
        "-k",
        "20",
        "--out",
        "all",
    ]);
}
