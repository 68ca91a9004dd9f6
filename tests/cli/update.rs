//! `rivalry update`

use serde_json::Value;

use crate::support::{World, holds, log};

/// Two users and two items that the run does not know, and pairs of known ones.
const NEW: &str = "user,item,rating,time\nnew 1,item/3,5,9000\nnew 1,fresh a,5,9001\nuser 2,fresh a,4,9002\n\
                   user 3,fresh b,5,9003\nnew 2,item/7,5,9004\nuser 0,item/0,5,9005\n";

fn trained(model: &[&str]) -> World {
    let world = World::with_log();
    let split = ["--split", "none"];
    match model {
        ["mf", loss @ ..] => {
            world.train("run", &[&split[..], loss].concat());
        }
        _ => {
            world
                .ok(&[&["train", "--data", "log.csv", "--out", "run"], &split[..], &["--model"], model]
                    .concat());
        }
    }
    world.write("new.csv", NEW);
    world
}

#[test]
fn new_users_and_items_come_in_and_old_ones_keep_their_places() {
    for model in [
        &["mf", "--loss", "sl"][..],
        &["mf", "--loss", "advinfonce"],
        &["mf", "--model", "lightgcn"],
        &["ease"],
        &["ials"],
    ] {
        let world = trained(model);
        let old = world.json(&["recommend", "run", "--user", "user 5", "-n", "40", "--json"]);
        let (_, said) = world.ok(&["update", "run", "new.csv", "--out", "next"]);
        holds(&said, &["6 rows, 5 new pairs", "2 new users, 2 new items; 305 pairs in all"]);
        let record: Value = serde_json::from_slice(&world.read("next/update.json")).unwrap();
        assert_eq!((&record["new_users"], &record["logs"][0]["new_pairs"]), (&2.into(), &5.into()));
        let metrics: Value = serde_json::from_slice(&world.read("next/metrics.json")).unwrap();
        assert_eq!(
            (&metrics["data_size"]["users"], &metrics["data_size"]["items"]),
            (&32.into(), &42.into())
        );
        // New users are known users now, and what they have is not recommended again.
        let (list, _) = world.ok(&["recommend", "next", "--user", "new 1", "-n", "40"]);
        assert!(!list.contains("fresh a") && list.contains("fresh b"), "{list}");
        let new = world.json(&["recommend", "next", "--user", "user 5", "-n", "40", "--json"]);
        assert_ne!(old, new);
        // The same bits again, and another update on top.
        world.ok(&["update", "run", "new.csv", "--out", "again", "--quiet", "--threads", "1"]);
        assert!(world.read("next/model.safetensors") == world.read("again/model.safetensors"), "{model:?}");
        world.write("more.csv", "user,item\nnew 2,fresh b\nnew 3,item/1\n");
        let more = world.json(&["update", "next", "more.csv", "--out", "third", "--json"]);
        assert_eq!(more["update"]["new_users"], 1);
        assert_eq!(more["data_size"]["train"], 307);
    }
}

#[test]
fn feedback_of_a_server_comes_in() {
    let world = trained(&["mf", "--loss", "sl", "--min-rating", "3"]);
    let line = |user: &str, item: &str| {
        format!(
            r#"{{"user":"{user}","item":"{item}","timestamp":1,"event":"click","model":"m","checksum":"c"}}"#
        )
    };
    world.write("feedback.jsonl", &[line("user 1", "item/2"), line("visitor", "item/4")].join("\n"));
    let found =
        world.json(&["update", "run", "--from-feedback", "feedback.jsonl", "--out", "next", "--json"]);
    assert_eq!((&found["update"]["new_users"], &found["update"]["logs"][0]["rows"]), (&1.into(), &2.into()));
    world.ok(&["recommend", "next", "--user", "visitor"]);
    // A log is filtered as that of the run; feedback has no ratings.
    world.write("new.csv", "user,item,rating,time\nuser 1,fresh,1,1\nuser 2,item/1,5,2\n");
    let both = ["update", "run", "new.csv", "--from-feedback", "feedback.jsonl", "--out", "both", "--json"];
    let found = world.json(&both);
    assert_eq!(
        (&found["update"]["logs"][0]["low_rated"], &found["update"]["new_items"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn a_log_with_new_users_only_is_fine() {
    let world = trained(&["mf", "--loss", "sl"]);
    world.write("new.csv", &log().replace("user ", "visitor "));
    let found = world.json(&["update", "run", "new.csv", "--out", "next", "--json", "--epochs", "1"]);
    assert_eq!((&found["update"]["new_users"], &found["update"]["new_items"]), (&30.into(), &0.into()));
    assert_eq!(found["epochs"], 1);
}

#[test]
fn what_does_not_belong_to_the_run_is_refused() {
    let world = trained(&["mf", "--loss", "sl"]);
    let refused = |text: &str| {
        world.write("new.csv", text);
        world.fails(2, &["update", "run", "new.csv", "--out", "next"])
    };
    holds(&refused("customer,product,score\na,b,1\n"), &["new.csv"]);
    holds(&refused("user,item\nx,y\n"), &["new.csv: has no user and no item of the run", "--user-col"]);
    holds(&refused("user,item\nuser 0,item/0\n"), &["there is nothing new"]);
    holds(&refused("user,item\nuser 0\n"), &["new.csv:2"]);
    holds(&world.fails(2, &["update", "nowhere", "new.csv"]), &["nowhere", "no such file or folder"]);
    holds(&world.fails(2, &["update", "run", "nothing.csv"]), &["nothing.csv"]);
    assert_eq!(world.run(&["update", "run"]).status.code(), Some(2));
    world.write("new.csv", NEW);
    holds(&world.fails(1, &["update", "run", "new.csv", "--out", "log.csv/x"]), &["log.csv/x"]);
    world.ok(&["update", "run", "new.csv", "--out", "next"]);
    holds(&world.fails(2, &["update", "run", "new.csv", "--out", "next"]), &["next: already exists"]);
    // An update is made again by the same command, not from its config.
    holds(
        &world.fails(2, &["train", "--resume", "next"]),
        &["is an update of another run", "rivalry update "],
    );
    holds(&world.fails(2, &["rerun", "next"]), &["is an update of another run"]);
    let ease = trained(&["ease"]);
    holds(&ease.fails(2, &["update", "run", "new.csv", "--epochs", "3"]), &["--epochs", "it has no epochs"]);
}
