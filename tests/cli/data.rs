//! `rivalry data`, and reading options on `train`.

use crate::support::{SMALL, World, holds};

#[test]
fn what_is_prepared_can_be_trained_on_with_the_original_ids() {
    let world = World::with_log();
    let prepare = ["data", "prepare", "log.csv", "sets/mine", "--min-rating", "2", "--k-core", "2"];
    let options = [
        "--split",
        "leave-last",
        "--n",
        "2",
        "--validation",
        "random",
        "--valid-ratio",
        "0.2",
        "--seed",
        "3",
    ];
    let (out, _) = world.ok(&[&prepare[..], &options].concat());
    holds(&out, &["interactions", "written to sets/mine", "rivalry train --data sets/mine"]);
    let refused = world.fails(2, &["data", "prepare", "log.csv", "sets/mine"]);
    holds(&refused, &["sets/mine", "--force"]);
    world.ok(&["data", "prepare", "log.csv", "sets/mine", "--force", "--split", "time", "--test", "0.1"]);
    let stats = world.json(&["data", "stats", "sets/mine", "--json"]);
    assert_eq!((&stats["test"], &stats["users"], &stats["name"]), (&30.into(), &30.into(), &"mine".into()));

    // Prepared on the way or beforehand, it is the same data.
    let options = ["--split", "time", "--test", "0.1", "--quiet", "--json"];
    let direct =
        world.json(&[&["train", "--data", "log.csv", "--out", "direct"], &options[..], SMALL].concat());
    let prepared =
        world.json(&[&["train", "--data", "sets/mine", "--out", "p", "--quiet", "--json"], SMALL].concat());
    assert_eq!((&direct["test"], &direct["data_checksum"]), (&prepared["test"], &prepared["data_checksum"]));
    let (out, _) = world.ok(&["recommend", "p", "--user", "user 3", "-n", "2"]);
    holds(&out, &["user 3", "item/"]);
}

#[test]
fn columns_and_delimiters_can_be_told() {
    let world = World::new();
    world.write("odd.txt", "9;u1;x\n8;u1;y\n7;u2;x\n6;u2;z\n");
    let options = ["--delimiter", ";", "--no-header", "--user-col", "2", "--item-col", "3"];
    let stats = world.json(&[&["data", "stats", "odd.txt", "--json"], &options[..]].concat());
    assert_eq!((&stats["users"], &stats["items"], &stats["interactions"]), (&2.into(), &3.into(), &4.into()));
    world.write("tabs.txt", "who\twhat\nu1\tx\nu1\ty\nu2\tx\nu2\tz\n");
    let options = ["--delimiter", "tab", "--header", "--user-col", "who", "--item-col", "what"];
    let stats = world.json(&[&["data", "stats", "tabs.txt", "--json"], &options[..]].concat());
    assert_eq!(stats["items"], 3);
}

#[test]
fn the_embedded_set_has_stats() {
    let (out, _) = World::new().ok(&["data", "stats", "synthetic"]);
    holds(&out, &["synthetic", "users              1,500", "popularity Gini", "note"]);
}
