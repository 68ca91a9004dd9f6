//! Looking inside the loss of a run.

use serde_json::Value;

use crate::support::{World, holds};

fn trained(loss: &str) -> World {
    let world = World::with_log();
    world.train("run", &["--loss", loss, "--set", "train.negatives=25"]);
    world
}

#[test]
fn the_summary_is_printed_and_the_result_kept_in_the_folder() {
    let world = trained("dsl");
    let (out, _) = world.ok(&["inspect", "run"]);
    holds(&out, &["epoch", "loss    dsl (", "mf model", "training pairs of log, 25 negatives each"]);
    holds(&out, &["κ", "competition, c", "temperature", "KL radius, SL", "gradient share by rank", "21–25"]);
    holds(&out, &["hold for all", "the same positive", "calm: ", "contested: ", "the most contested pairs"]);
    holds(&out, &["user ", "item/", "run/inspect.json"]);
    let document = world.json(&["inspect", "run", "--json"]);
    let kept: Value = serde_json::from_str(&world.without_checksum("run/inspect.json")).unwrap();
    assert_eq!(document, kept);
    for key in ["kappa", "competition", "multiplier", "temperature"] {
        assert!(document[key]["mean"].is_f64() && document[key]["histogram"]["counts"].is_array(), "{key}");
    }
    let bounds = &document["radius"]["bounds"];
    assert_eq!((&bounds["value_broken"], &bounds["radius_broken"]), (&0.into(), &0.into()));
    let slate = &document["most_contested"][0];
    assert!(slate["user"].as_str().unwrap().starts_with("user "));
    assert!(slate["negatives"][0]["item"].as_str().unwrap().starts_with("item/"));
}

#[test]
fn a_run_that_can_not_be_written_to_is_inspected_into_another_file() {
    let world = trained("sl");
    world.ok(&["inspect", "run", "--out", "elsewhere.json"]);
    assert!(!world.path("run/inspect.json").exists());
    let written = world.read("elsewhere.json");
    holds(&world.fails(2, &["inspect", "run", "-o", "elsewhere.json"]), &["already exists", "--force"]);
    // A file can't replace a folder, not even as root; tests/torture has a read-only disk.
    world.write("run/inspect.json/in-the-way", "");
    let said = world.fails(1, &["inspect", "run"]);
    holds(&said, &["run/inspect.json: can't write", "rivalry inspect RUN -o FILE"]);
    let (out, _) = world.ok(&["inspect", "run", "-o", "elsewhere.json", "--force"]);
    holds(&out, &["written to elsewhere.json"]);
    assert!(world.read("elsewhere.json") == written);
}

#[test]
fn what_is_looked_at_can_be_chosen() {
    let world = trained("sl");
    let args = ["inspect", "run", "--json", "--pairs", "50", "--slates", "2", "--seed", "7"];
    let document = world.json(&args);
    assert_eq!((&document["pairs"], &document["seed"]), (&50.into(), &7.into()));
    assert_eq!(document["most_contested"].as_array().unwrap().len(), 2);
    assert!(document["kappa"].is_null() && document["temperature"].is_null());
    assert_eq!(document["gradient"]["own"], document["gradient"]["sl"]);
    let threads = [&args[..], &["--threads", "3"]].concat();
    assert_eq!(world.json(&threads), document);
    holds(&world.fails(2, &["inspect", "run", "--pairs", "0"]), &["--pairs"]);
}

#[test]
fn an_inspected_run_goes_on_and_can_be_replaced() {
    let world = trained("dsl-ca");
    world.ok(&["inspect", "run"]);
    let more = ["train", "--resume", "run", "--epochs", "8", "--json"];
    let document = world.json(&more);
    assert_eq!(document["epochs"], 8);
    // The inspection is of the model of its epoch, and goes when another takes its place.
    assert_eq!(world.path("run/inspect.json").exists(), document["best_epoch"].as_u64() <= Some(4));
    world.ok(&["inspect", "run"]);
    world.train("run", &["--loss", "sl", "--force"]);
    assert!(!world.path("run/inspect.json").exists());
}

#[test]
fn a_loss_outside_the_family_and_a_folder_that_is_no_run_are_refused() {
    let world = trained("sl");
    world.train("bpr", &["--loss", "bpr", "--set", "train.negatives=1"]);
    let error = world.fails(2, &["inspect", "bpr"]);
    holds(
        &error,
        &["bpr does not belong to the softmax family", "can be inspected: sl, bsl, psl, sl@k, dsl, "],
    );
    world.write("other/file", "");
    holds(&world.fails(2, &["inspect", "other"]), &["other: not a run"]);
}
