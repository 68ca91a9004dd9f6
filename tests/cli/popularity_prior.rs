//! A popularity prior in the score, through the commands.

use serde_json::Value;

use crate::support::{World, holds};

/// 30 users with 8 items each, of which some are much more popular.
fn skewed() -> String {
    let row = |user: usize, n: usize| format!("u{user},i{}\n", (user * 3 + n * n * n) % (5 + n * 5));
    "user,item\n".to_owned() + &(0..30).flat_map(|user| (0..8).map(move |n| row(user, n))).collect::<String>()
}

fn lists(world: &World, run: &str) -> Vec<Vec<String>> {
    let document = world.json(&["recommend", run, "--all", "-n", "5", "--json"]);
    let items = |list: &Value| {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["item"].as_str().unwrap().to_owned()).collect()
    };
    document["recommendations"].as_array().unwrap().iter().map(items).collect()
}

#[test]
fn a_run_with_a_prior_goes_through_the_commands() {
    for model in [&["--model", "mf"][..], &["--model", "fism"], &["--model", "lightgcn", "--loss", "dsl-ca"]]
    {
        let world = World::new();
        world.write("log.csv", &skewed());
        let record = world.train("run", &[model, &["--set", "model.popularity_weight=0.2"]].concat());
        let document = world.json(&["evaluate", "run", "--verify", "--json"]);
        assert_eq!(document["metrics"], record["test"]);
        assert_eq!(document["verification"]["reordered_users"], 0);
        assert_eq!(world.json(&["rerun", "run", "--json", "--threads", "3"])["same"], true);
        assert!(world.json(&["inspect", "run", "--pairs", "20", "--json"])["competition"].is_object());
        let exported = world.json(&["export", "run", "--to", "npy", "-o", "vectors", "--json"]);
        assert_eq!((&exported["dim"], &exported["unit_length"]), (&9.into(), &false.into()));
        world.write("new.csv", "user,item\nnew,i0\nu1,fresh\n");
        world.ok(&["update", "run", "new.csv", "--out", "next", "--quiet"]);
        world.ok(&["recommend", "next", "--user", "new", "--explain"]);
    }
}

#[test]
fn a_large_weight_ranks_by_popularity_and_none_leaves_everything_as_it_was() {
    let world = World::new();
    world.write("log.csv", &skewed());
    world.train("plain", &["--loss", "sl"]);
    world.train("zero", &["--loss", "sl", "--set", "model.popularity_weight=0"]);
    assert!(world.read("plain/model.safetensors") == world.read("zero/model.safetensors"));
    world.train("large", &["--set", "model.popularity_weight=1000"]);
    world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "popularity", "--quiet"]);
    let counts = |run: &str| {
        let lists = lists(&world, run);
        let train = skewed();
        let count = |item: &String| train.lines().filter(|line| line.ends_with(&format!(",{item}"))).count();
        lists.iter().flatten().map(count).sum::<usize>()
    };
    // Items that are equally popular may change places.
    assert!(counts("large").abs_diff(counts("popularity")) < 20 && counts("large") > counts("plain") + 100);
}

#[test]
fn weights_that_mean_nothing_are_refused() {
    let world = World::with_log();
    let refused =
        |model: &[&str]| world.fails(2, &[&["train", "--data", "log.csv", "--out", "run"], model].concat());
    holds(&refused(&["--set", "model.popularity_weight=-0.1"]), &["model.popularity_weight", "≥ 0"]);
    holds(&refused(&["--set", "model.popularity_weight=much"]), &["model.popularity_weight", "a number"]);
    holds(&refused(&["--model", "ease", "--set", "model.popularity_weight=0.1"]), &["popularity_weight"]);
}
