//! A gradient model without a user table, through every command.

use crate::support::{SMALL, World};

fn trained(more: &[&str]) -> World {
    let world = World::with_log();
    let train =
        ["train", "--data", "log.csv", "--model", "fism", "--loss", "dsl-ca", "--out", "run", "--quiet"];
    world.ok(&[&train[..], SMALL, more].concat());
    world
}

#[test]
fn it_is_evaluated_repeated_inspected_compared_and_exported() {
    for more in [&[][..], &["--set", "model.user_weight=0.5"]] {
        let world = trained(more);
        let record: serde_json::Value = serde_json::from_slice(&world.read("run/metrics.json")).unwrap();
        let document = world.json(&["evaluate", "run", "--verify", "--json"]);
        assert_eq!(document["metrics"], record["test"]);
        assert_eq!(document["verification"]["reordered_users"], 0);
        assert_eq!(world.json(&["rerun", "run", "--json", "--threads", "3"])["same"], true);
        assert!(world.json(&["inspect", "run", "--pairs", "20", "--json"])["competition"].is_object());
        let similar = world.json(&["similar", "run", "--item", "item/3", "-n", "2", "--json"]);
        assert!(similar.to_string().matches("\"item\"").count() > 1, "{similar}");
        world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "other", "--quiet"]);
        world.ok(&["compare", "run", "other"]);
        let exported = world.json(&["export", "run", "--to", "npy", "-o", "vectors", "--json"]);
        assert_eq!((&exported["users"], &exported["dim"]), (&30.into(), &8.into()));
        world.ok(&["report", ".", "-o", "report.html"]);
    }
}

/// A new user with the training items of a known one has the same list.
#[test]
fn known_and_new_users_have_the_same_lists() {
    let world = World::with_log();
    let train =
        ["train", "--data", "log.csv", "--split", "none", "--model", "fism", "--loss", "sl", "--out", "run"];
    world.ok(&[&train[..], SMALL, &["--quiet"]].concat());
    let known = world.json(&["recommend", "run", "--all", "-n", "5", "--json"]);
    let new = world.json(&["recommend", "run", "--history", "log.csv", "-n", "5", "--json"]);
    let lists = |document: &serde_json::Value| {
        let mut lists = document["recommendations"].as_array().unwrap().clone();
        lists.sort_by_key(|list| list["user"].as_str().unwrap().to_owned());
        lists
    };
    assert_eq!(lists(&known), lists(&new));
    assert_eq!(lists(&known).len(), 30);
}

#[test]
fn a_sweep_searches_what_its_loss_has() {
    let world = World::with_log();
    let sweep =
        ["sweep", "--data", "log.csv", "--model", "fism", "--loss", "sl", "--trials", "2", "--out", "s"];
    let document = world.json(&[&sweep[..], SMALL_SWEEP, &["--json"]].concat());
    let trials = document["trials"].as_array().unwrap();
    assert_eq!((trials.len(), &trials[0]["state"]), (3, &"finished".into()), "the default and two drawn");
    assert!(
        trials[0]["settings"].get("loss.tau").is_some() && trials[0]["settings"].get("optim.lr").is_some()
    );
}

const SMALL_SWEEP: &[&str] = &["--epochs", "2", "--negatives", "10", "--set", "model.dim=8"];
