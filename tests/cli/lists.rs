//! What `recommend` leaves out, and what it says about it.

use std::collections::HashSet;

use crate::support::{World, holds};

/// A closed-form model of the log.
fn trained() -> World {
    let world = World::with_log();
    world.ok(&["train", "--data", "log.csv", "--model", "item-knn", "--out", "run"]);
    world
}

/// The pairs of user and item in a table.
fn pairs(world: &World, file: &str, columns: [usize; 2]) -> HashSet<(String, String)> {
    let text = String::from_utf8(world.read(file)).unwrap();
    let cell = |line: &str, column: usize| line.split([',', '\t']).nth(column).unwrap().to_owned();
    text.lines().skip(1).map(|line| (cell(line, columns[0]), cell(line, columns[1]))).collect()
}

#[test]
fn test_items_are_found_with_the_mask_of_the_evaluation_and_left_out_by_default() {
    let world = World::with_log();
    world.ok(&["data", "prepare", "log.csv", "prepared"]);
    world.ok(&["train", "--data", "prepared", "--model", "item-knn", "--out", "run"]);
    let part = |name: &str| -> usize {
        let file = String::from_utf8(world.read(&format!("prepared/{name}.tsv"))).unwrap();
        file.lines().count() - 1 // the header
    };
    let lists = |name: &str, exclude: &[&str]| {
        let all = ["recommend", "run", "--all", "-k", "40", "-o", name];
        let (_, said) = world.ok(&[&all[..], exclude].concat());
        (pairs(&world, name, [0, 2]).len(), said)
    };
    // 30 users and 40 items: every list holds all that is not left out.
    let (all, said) = lists("all.csv", &[]);
    holds(&said, &["items of the training, validation and test sets are left out", "--exclude train+valid"]);
    assert_eq!(all, 1200 - part("train") - part("valid") - part("test"));
    let (known, said) = lists("known.csv", &["--exclude", "train+valid"]);
    assert_eq!(known, 1200 - part("train") - part("valid"));
    assert!(!said.contains("note:"), "{said}");
    assert_eq!(lists("train.csv", &["--exclude", "train"]).0, 1200 - part("train"));
    let (help, _) = world.ok(&["recommend", "--help"]);
    holds(&help, &["--exclude", "no item of the test"]);
}

#[test]
fn histories_of_known_users_are_noted_and_users_without_a_known_item_left_out() {
    let world = trained();
    world.write("new.csv", "user,item\nuser 1,item/3\nann,item/4\nbob,unheard-of\n");
    let (_, said) = world.ok(&["recommend", "run", "--history", "new.csv", "-k", "3", "-o", "lists.csv"]);
    holds(
        &said,
        &[
            "1 user of this file is in the training data, too",
            "skipped 1 user whose items are all unknown, of 3",
        ],
    );
    let users: HashSet<String> =
        pairs(&world, "lists.csv", [0, 2]).into_iter().map(|(user, _)| user).collect();
    assert_eq!(users, HashSet::from(["user 1".to_owned(), "ann".to_owned()]));
}

#[test]
fn a_user_asked_for_twice_gets_one_list_and_short_lists_are_noted() {
    let world = trained();
    let lists = world.json(&["recommend", "run", "--user", "user 1", "user 1", "-k", "3", "--json"]);
    assert_eq!(lists["recommendations"].as_array().unwrap().len(), 1);
    let (_, said) = world.ok(&["recommend", "run", "--user", "user 1", "-k", "1000", "-o", "lists.csv"]);
    holds(&said, &["the model has 40 items, so lists are shorter than 1000", "for 1 user to"]);
}

#[test]
fn ids_can_be_text_whatever_the_data_are() {
    let world = World::new();
    let rows: String = (0..60).map(|n| format!("{},{}\n", n % 6, (n * 7) % 11)).collect();
    world.write("log.csv", &format!("user,item\n{rows}"));
    world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "run"]);
    let first = |ids: &[&str]| {
        let args = ["recommend", "run", "--user", "3", "-k", "1", "-o", "-", "--format", "json"];
        world.json(&[&args[..], ids].concat())[0]["user"].clone()
    };
    assert_eq!((first(&[]), first(&["--ids", "text"])), (3.into(), "3".into()));
}

#[test]
fn lists_of_an_unfinished_run_are_noted() {
    let world = World::with_log();
    world.train("run", &[]);
    let (_, said) = world.ok(&["recommend", "run", "--user", "user 1"]);
    assert!(!said.contains("unfinished"), "{said}");
    std::fs::remove_file(world.path("run/metrics.json")).unwrap();
    let (_, said) = world.ok(&["recommend", "run", "--user", "user 1"]);
    holds(&said, &["the run is unfinished", "rivalry train --resume run"]);
}
