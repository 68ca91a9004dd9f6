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

#[test]
fn a_log_that_exceeds_the_memory_limit_gives_the_same_files() {
    let world = World::new();
    world.write("log/_SUCCESS", "");
    for part in 0..4 {
        let mut text = "user,item,timestamp\n".to_owned();
        for n in 0..10_000_u64 {
            let n = 10_000 * part + n;
            text += &format!("u{},{},{}\n", n * 37 % 1201, n * n % 311, 1_700_000_000 + n * 7919 % 65_537);
        }
        world.write(&format!("log/part-{part:05}-c000.csv"), &text);
    }
    let options = ["--k-core", "3", "--split", "time"];
    let prepare = |out: &str, memory: &str| {
        let (said, _) =
            world.ok(&[&["data", "prepare", "log", out, "--max-memory", memory], &options[..]].concat());
        said.replace(out, "OUT")
    };
    // 1 MB is less than the log takes, and 8 GB are more.
    assert_eq!(prepare("parts", "1M"), prepare("whole", "8G"));
    for file in [
        "train.tsv",
        "valid.tsv",
        "test.tsv",
        "user_list.tsv",
        "item_list.tsv",
        "summary.txt",
        "blocks.txt",
        "checksums.txt",
    ] {
        assert!(world.read(&format!("parts/{file}")) == world.read(&format!("whole/{file}")), "{file}");
    }
    let refused =
        world.fails(2, &["data", "prepare", "log", "x", "--max-memory", "1M", "--split", "popularity"]);
    holds(&refused, &["a popularity split needs all pairs in memory", "--max-memory"]);
    assert!(!world.path("x").exists());

    // Other commands read the folder as one log, too.
    let stats = world.json(&["data", "stats", "log", "--json"]);
    assert_eq!((&stats["users"], &stats["name"]), (&1201.into(), &"log".into()));
}
