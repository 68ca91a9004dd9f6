//! `rivalry auto`

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{World, holds, texts};

/// 60 users of two groups, each with items of its own, in an order of time in which all users are active at all times.
fn two_groups() -> String {
    let mut text = "user,item,rating,time\n".to_owned();
    for n in 0..12 {
        for user in 0..60 {
            let item = user % 2 * 30 + (user * 7 + n * 11) % 30;
            let stars = if n % 6 == 5 { 1 } else { 3 + n % 3 };
            text += &format!("u{user},i{item},{stars},{}\n", 5000 + n * 100 + user);
        }
    }
    text
}

fn names(record: &Value) -> Vec<&str> {
    record["models"].as_array().unwrap().iter().map(|model| model["name"].as_str().unwrap()).collect()
}

fn best(record: &Value) -> f64 {
    record["models"][0]["valid"].as_f64().unwrap()
}

#[test]
fn a_log_becomes_a_tested_model_that_is_trained_on_everything() {
    let world = World::new();
    world.write("log.csv", &two_groups().replace("user,item,rating,time", "who,what,stars,when"));
    let columns = ["--user-col", "who", "--item-col", "what", "--rating-col", "stars", "--time-col", "when"];
    let args = [&["auto", "log.csv", "--minutes", "0.1", "--threads", "2"][..], &columns].concat();
    let (table, said) = world.ok(&args);
    holds(
        &said,
        &["user = who, item = what", "rows rated 3 or more are kept (600 of 720)", "by time", "leads   "],
    );
    holds(
        &table,
        &["winner  ", "95 % interval", "trained on all 600 pairs", "rivalry serve runs/auto-log/best"],
    );
    let record = world.json(&[&args[..], &["--json"]].concat());
    assert!(names(&record).contains(&"popularity") && names(&record).len() >= 3, "{:?}", names(&record));
    let values: Vec<f64> =
        record["models"].as_array().unwrap().iter().map(|model| model["valid"].as_f64().unwrap()).collect();
    assert!(values.is_sorted_by(|a, b| a >= b), "the best on validation comes first: {values:?}");
    let test = &record["test"];
    let [low, mean, high] =
        [&test["interval"][0], &test["mean"], &test["interval"][1]].map(|value| value.as_f64().unwrap());
    assert!(low <= mean && mean <= high && low < high, "{test}");
    // The figure is that of the run that is compared, not of the one trained on everything.
    let winner = record["models"][0]["run"].as_str().unwrap();
    let again = world.json(&["evaluate", &format!("runs/auto-log/{winner}"), "--json"]);
    let metric = record["metric"].as_str().unwrap();
    assert_eq!(again["metrics"][metric].as_f64().unwrap(), mean);
    assert_eq!(record["comparison"]["baseline"], record["models"][0]["name"]);
    let overlap = record["lists"]["overlap"].as_array().unwrap();
    assert!((0..overlap.len()).all(|n| overlap[n][n] == 1.0), "{overlap:?}");

    // The run is ready.
    let (list, _) = world.ok(&["recommend", "runs/auto-log/best", "--user", "u7", "-n", "3"]);
    assert!(list.contains("i"), "{list}");
    let metrics: Value = serde_json::from_slice(&world.read("runs/auto-log/best/metrics.json")).unwrap();
    assert_eq!((&metrics["data_size"]["train"], &metrics["data_size"]["test"]), (&600.into(), &0.into()));
    world.ok(&["compare", "runs/auto-log/models"]);
    let page = String::from_utf8(world.read("runs/auto-log/auto.html")).unwrap();
    let sections = [
        "In short",
        "Models that were tried",
        "How the lists differ",
        "What new users get",
        "Cost",
        "Commands",
    ];
    holds(&page, &sections.map(|title| format!("<h2>{title}</h2>")).each_ref().map(String::as_str));
    holds(
        &page,
        &[
            "rivalry update ",
            "rivalry serve ",
            "the winner",
            "rows rated 3 or more are kept",
            "--minutes 0.1",
        ],
    );
    world.ok(&["report", "runs/auto-log", "-o", "report.html"]);
}

#[test]
fn given_again_it_goes_on_and_loses_nothing() {
    let world = World::new();
    world.write("log.csv", &two_groups());
    let auto = |minutes: &str| world.json(&["auto", "log.csv", "--minutes", minutes, "--json", "--out", "a"]);
    let first = auto("0.03");
    let again = auto("0.03");
    assert!(best(&again) >= best(&first), "{} {}", best(&again), best(&first));
    assert!(again["trials"].as_u64() >= first["trials"].as_u64(), "{} {}", again["trials"], first["trials"]);
    let more = auto("0.1");
    assert!(best(&more) >= best(&again), "{} {}", best(&more), best(&again));
    assert!(more["trials"].as_u64() > first["trials"].as_u64());
    // Other data in the same folder are refused.
    world.write("log.csv", &two_groups().replace("i7", "i8"));
    let output = world.run(&["auto", "log.csv", "--minutes", "0.03", "--out", "a"]);
    assert_eq!(output.status.code(), Some(2));
    holds(&texts(&output).1, &["have changed since"]);
}

#[test]
fn a_budget_for_nothing_but_popularity_gives_that_and_says_so() {
    let world = World::with_log();
    let (table, _) = world.ok(&["auto", "log.csv", "--minutes", "0.00001"]);
    holds(&table, &["winner  popularity", "the budget was enough for popularity alone", "no time"]);
    world.ok(&["recommend", "runs/auto-log/best", "--user", "user 1"]);
}

#[test]
fn the_split_follows_the_log() {
    let world = World::with_log();
    let split = |args: &[&str]| {
        let (_, said) =
            world.ok(&[&["auto", "log.csv", "--minutes", "0.00001", "--out", "s"], args].concat());
        std::fs::remove_dir_all(world.path("s")).unwrap();
        said
    };
    // Each user is active for a short time, so that the latest pairs are of new users.
    holds(&split(&[]), &["the last item of each user", "ratings: 1 to 5: rows rated 3 or more"]);
    holds(&split(&["--time-col", ""]), &["at random, because the times are missing", "times: none"]);
    holds(
        &split(&["--split", "random", "--min-rating", "2"]),
        &["random, as asked for", "rated 2 or more are kept, as"],
    );
    let constant: String = crate::support::log()
        .lines()
        .map(|line| {
            let (row, time) = line.rsplit_once(',').unwrap();
            format!("{row},{}\n", if time == "time" { "time" } else { "7" })
        })
        .collect();
    world.write("log.csv", &constant);
    holds(&split(&[]), &["at random, because the times are all the same"]);
}

#[test]
fn what_can_not_be_searched_is_refused_and_nothing_is_written() {
    let world = World::with_log();
    let refused = |log: &str, args: &[&str]| {
        world.write("bad.csv", log);
        world.fails(2, &[&["auto", "bad.csv"], args].concat())
    };
    let rows = |user: &dyn Fn(usize) -> usize, item: &dyn Fn(usize) -> usize, n: usize| -> String {
        let row = |n: usize| format!("u{},i{}\n", user(n), item(n));
        "user,item\n".to_owned() + &(0..n).map(row).collect::<String>()
    };
    holds(&refused(&rows(&|n| n, &|n| n, 40), &[]), &["too small to choose a model by", "at least 3 items"]);
    holds(&refused(&rows(&|n| n, &|_| 0, 40), &[]), &["a single item: there is nothing to rank"]);
    holds(&refused("user,item\n", &[]), &["error: "]);
    holds(&refused("user,item\na,b\n", &["--user-col", "who"]), &["--user-col", "who"]);
    let good = rows(&|n| n / 5, &|n| n * 7 % 30, 100);
    holds(&refused(&good, &["--minutes", "0"]), &["minutes", "expected a time above zero"]);
    holds(&refused(&good, &["--minutes", "-1"]), &["expected a time above zero"]);
    holds(&refused(&good, &["--metric", "NDCG@500", "--minutes", "0.001"]), &["500"]);
    holds(&world.fails(2, &["auto", "nothing.csv"]), &["nothing.csv"]);
    holds(&world.fails(2, &["auto", "-"]), &["can't read standard input"]);
    assert_eq!(world.run(&["auto", "log.csv", "--metric", "NDCG"]).status.code(), Some(2));
    // A folder of something else, and one that can't be written.
    world.write("else/best/model", "precious");
    holds(
        &world.fails(2, &["auto", "log.csv", "--quiet", "--out", "else"]),
        &["holds 'best', which is not part of a search"],
    );
    holds(
        &world.fails(1, &["auto", "log.csv", "--quiet", "--out", "log.csv/a"]),
        &["log.csv/a", "can't create"],
    );
}

#[test]
fn twenty_rows_are_enough_and_it_says_how_little_that_tells() {
    let world = World::new();
    let rows: String = (0..20).map(|n| format!("u{},i{}\n", n / 4, n * 3 % 7)).collect();
    world.write("log.csv", &("user,item\n".to_owned() + &rows));
    let (table, said) = world.ok(&["auto", "log.csv", "--minutes", "0.02"]);
    holds(&said, &["too few to tell good models from lucky ones", "so lists of 3 are measured"]);
    holds(&table, &["winner  "]);
}

/// Starts a search and kills it after so long; `true` if it ended before.
fn ends_within(world: &World, args: &[&str], patience: Duration) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rivalry"))
        .args(args)
        .current_dir(world.path(""))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success());
            return true;
        }
        if began.elapsed() > patience {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn killed_at_random_moments_it_goes_on_and_ends_with_a_model() {
    const KILLS: u64 = 12;
    let world = World::new();
    world.write("log.csv", &two_groups());
    let args = ["auto", "log.csv", "--minutes", "0.1", "--quiet", "--out", "killed"];
    let mut wait = 7919u64;
    for _ in 0..KILLS {
        wait = (wait * 48_271) % 2_147_483_647;
        ends_within(&world, &args, Duration::from_millis(100 + wait % 900));
    }
    assert!(ends_within(&world, &args, Duration::from_secs(600)));
    let record = world.json(&[&args[..], &["--json"]].concat());
    assert!(best(&record) > 0.0);
    world.ok(&["recommend", "killed/best", "--user", "u3"]);
    // Every trial that has figures has those of an undisturbed one.
    let index: Value = serde_json::from_slice(&world.read("killed/trials/index.json")).unwrap();
    let trials = index.as_array().unwrap();
    let one = trials.iter().find(|trial| trial["state"] == "finished" && trial["valid"].is_f64()).unwrap();
    let name = one["name"].as_str().unwrap();
    let again = world.json(&["rerun", &format!("killed/trials/{name}"), "--json"]);
    assert_eq!(again["same"], true, "{again}");
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_it_with_the_best_so_far() {
    let world = World::new();
    world.write("log.csv", &two_groups());
    let child = Command::new(env!("CARGO_BIN_EXE_rivalry"))
        .args(["auto", "log.csv", "--minutes", "5", "--out", "a"])
        .current_dir(world.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while !world.path("a/trials/index.json").exists() && began.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(300));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (table, said) = texts(&output);
    assert!(output.status.success(), "{said}");
    holds(&said, &["stopped; the best so far is tested"]);
    holds(&table, &["winner  ", "the same command goes on"]);
    assert!(began.elapsed() < Duration::from_secs(200));
    world.ok(&["recommend", "a/best", "--user", "u3"]);
}
