//! Where results go, and in which format.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{World, holds, texts};

fn trained() -> World {
    let world = World::with_log();
    world.train("run", &[]);
    world
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn the_extension_decides_the_format_of_recommendations() {
    let world = trained();
    let all = |file: &str| {
        world.ok(&["recommend", "run", "--all", "-k", "3", "--out", file]);
        world.read(file)
    };
    let csv = text(all("a.csv"));
    assert_eq!((csv.lines().count(), csv.lines().next()), (91, Some("user,rank,item,score")));
    assert_eq!(text(all("a.tsv")), csv.replace(',', "\t"));
    let rows: Vec<Value> =
        text(all("a.jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(Value::from(rows.clone()), serde_json::from_slice::<Value>(&all("a.json")).unwrap());
    for (row, line) in rows.iter().zip(csv.lines().skip(1)) {
        let (user, item) = (row["user"].as_str().unwrap(), row["item"].as_str().unwrap());
        let score = row["score"].as_f64().unwrap() as f32;
        assert_eq!(format!("{user},{},{item},{score}", row["rank"]), line);
    }
    assert!(all("a.csv.gz").starts_with(&[0x1f, 0x8b]) && all("a.ndjson.zst").starts_with(&[0x28, 0xb5]));
    assert!(all("a.parquet").starts_with(b"PAR1"));
    // Our own readers read them: a score is a rating, a rank a time.
    for file in ["a.csv.gz", "a.parquet"] {
        let columns = ["--rating-col", "score", "--time-col", "rank"];
        let stats = world.json(&[&["data", "stats", file, "--json"], &columns[..]].concat());
        let [train, valid, test] = ["train", "valid", "test"].map(|part| stats[part].as_u64().unwrap());
        assert_eq!(train + valid + test, 90, "{file}");
    }
    // Refused before the model is even looked for.
    for file in ["a.xlsx", "a", "a.parquet.gz"] {
        let error = world.fails(2, &["recommend", "nowhere", "--all", "--out", file]);
        holds(&error, &[file, "help: "]);
    }
    let error = world.fails(2, &["recommend", "run", "--all", "--out", "b.csv", "--format", "parquet"]);
    holds(&error, &["b.csv: the extension is not that of the format 'parquet'"]);
    let metrics = ["evaluate", "run", "--per-user", "users.jsonl"];
    world.ok(&metrics);
    assert!(text(world.read("users.jsonl")).lines().all(|line| line.starts_with("{\"user\":\"user ")));
}

#[test]
fn results_go_to_standard_output_and_to_other_streams() {
    let world = trained();
    world.ok(&["recommend", "run", "--all", "-k", "2", "--out", "a.csv"]);
    for out in ["-", "/dev/stdout"] {
        let (csv, said) = world.ok(&["recommend", "run", "--all", "-k", "2", "-o", out, "--force"]);
        assert_eq!(csv.as_bytes(), world.read("a.csv"));
        holds(&said, &["wrote the top 2 for 30 users to standard output"]);
    }
    let lines = world.ok(&["recommend", "run", "--all", "-k", "2", "-o", "-", "--format", "jsonl"]).0;
    assert!(lines.lines().count() == 60 && lines.starts_with("{\"user\":"), "{lines}");
    let (csv, _) = world.ok(&["evaluate", "run", "--per-user", "-"]);
    assert!(csv.starts_with("user,") && csv.lines().count() == 31, "{csv}");
    let (lines, _) = world.ok(&["evaluate", "run", "--per-user", "-", "--format", "jsonl"]);
    assert!(lines.starts_with("{\"user\":") && lines.lines().count() == 30, "{lines}");
    holds(&world.fails(2, &["evaluate", "run", "--per-user", "-", "--json"]), &["--per-user"]);
    let (html, _) = world.ok(&["report", ".", "-o", "-"]);
    assert!(html.starts_with("<!doctype html") || html.starts_with("<!DOCTYPE html"));
    holds(&world.fails(2, &["report", ".", "-o", "report.pdf"]), &["report.pdf: a report is an HTML file"]);
}

#[cfg(unix)]
#[test]
fn links_stay_devices_are_written_to_and_a_reader_may_leave() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let world = trained();
    let recommend = ["recommend", "run", "--all", "-k", "20", "--force", "--out"];
    symlink("real.csv", world.path("link.csv")).unwrap();
    world.write("real.csv", "old");
    world.ok(&[&recommend[..], &["link.csv"]].concat());
    assert!(world.path("link.csv").is_symlink() && text(world.read("real.csv")).starts_with("user,rank"));
    // A null device of its own: as root, a mistake would replace the machine's.
    let own = world.path("null");
    let made =
        std::process::Command::new("mknod").arg(&own).args(["c", "1", "3"]).stderr(Stdio::null()).status();
    let device = if made.is_ok_and(|status| status.success()) { own } else { "/dev/null".into() };
    world.ok(&[&recommend[..], &[device.to_str().unwrap()]].concat());
    assert!(std::fs::metadata(device).unwrap().file_type().is_char_device());
    // A pipe whose reader leaves before the end is no error.
    let said = world.ok_with_closed_output(&[&recommend[..], &["-"]].concat());
    assert!(!said.contains("error"), "{said}");
}

#[test]
fn the_files_of_a_run_are_never_overwritten() {
    let world = trained();
    for args in [
        &["report", ".", "--force", "-o", "run/config.toml"][..],
        &["compare", "run", "--force", "--json", "-o", "run/metrics.json"],
        &["inspect", "run", "--force", "-o", "run/metrics.json"],
        &["recommend", "run", "--all", "--force", "--format", "csv", "-o", "run/model.safetensors"],
        &["recommend", "run", "--all", "--force", "-o", "run/log.jsonl"],
        &["recommend", "run", "--all", "--format", "csv", "-o", "run/checkpoint"],
        &["evaluate", "run", "--force", "--per-user", "run/log.jsonl"],
    ] {
        holds(&world.fails(2, args), &["belongs to a run", "choose another name"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("run/model.safetensors", world.path("out.csv")).unwrap();
        let error = world.fails(2, &["recommend", "run", "--all", "--force", "-o", "out.csv"]);
        holds(&error, &["out.csv: belongs to a run"]);
    }
    world.ok(&["recommend", "run", "--all", "-o", "run/recommendations.csv"]);
}

#[test]
fn an_inspection_can_be_kept_elsewhere() {
    let world = trained();
    let before = world.files();
    let (out, _) = world.ok(&["inspect", "run", "-o", "found.json"]);
    holds(&out, &["written to found.json"]);
    let found: Value = serde_json::from_slice(&world.read("found.json")).unwrap();
    assert!(found["pairs"].is_u64());
    assert_eq!(world.ok(&["inspect", "run", "-o", "-"]).0.as_bytes(), world.read("found.json"));
    std::fs::remove_file(world.path("found.json")).unwrap();
    assert!(world.files() == before, "the run is as it was");
    holds(&world.fails(2, &["inspect", "run", "-o", "found.csv"]), &["found.csv", ".json"]);
}

#[test]
fn k_is_the_length_of_a_list_and_the_cut_off_everywhere() {
    let world = World::with_log();
    let figures = world.train("run", &["-k", "5,10"]);
    assert!(figures["test"]["NDCG@5"].is_f64() && figures["test"].get("NDCG@20").is_none());
    assert!(world.json(&["evaluate", "run", "-k", "3", "--json"])["metrics"]["Recall@3"].is_f64());
    for flag in ["-k", "--k", "-n"] {
        let lists = world.json(&["recommend", "run", "--user", "user 1", flag, "4", "--json"]);
        assert_eq!(lists["recommendations"][0]["items"].as_array().unwrap().len(), 4);
        let similar = world.json(&["similar", "run", "--item", "item/3", flag, "4", "--json"]);
        assert_eq!(similar["similar"].as_array().unwrap().len(), 4);
    }
    let compared = world.json(&["compare", "run", "-k", "5", "--json"]);
    assert!(compared["methods"][0]["metrics"]["NDCG@5"].is_object());
}

#[test]
fn unknown_users_of_a_batch_are_skipped_on_request_and_counted() {
    let world = trained();
    world.write("who.txt", "user 3\r\nnobody\r\n\r\nuser 0\r\nno one\r\n");
    let error = world.fails(2, &["recommend", "run", "--users-file", "who.txt"]);
    holds(&error, &["who.txt:2: no user 'nobody'", "--skip-unknown"]);
    let args = ["recommend", "run", "--users", "who.txt", "--skip-unknown", "-k", "2"];
    let (_, said) = world.ok(&[&args[..], &["-o", "lists.csv"]].concat());
    holds(&said, &["skipped 2 users not in the training data: 'nobody', 'no one'"]);
    holds(&said, &["wrote the top 2 for 2 users"]);
    let document = world.json(&[&args[..], &["--json"]].concat());
    assert_eq!(document["recommendations"].as_array().unwrap().len(), 2);
    assert_eq!(document["skipped"], serde_json::json!(["nobody", "no one"]));
    let error = world.fails(2, &["recommend", "run", "--user", "a", "b", "--skip-unknown"]);
    holds(&error, &["none of the 2 users", "such as 'user "]);
    let mut piped = world.command(&["recommend", "run", "--users-file", "-", "-k", "1", "--json"]);
    let output = piped.write_stdin("user 3\n").output().unwrap();
    holds(&texts(&output).0, &["\"user 3\""]);
}

#[test]
fn a_training_that_learned_nothing_ends_with_a_warning() {
    let world = World::with_log();
    let args = ["train", "--data", "log.csv", "--loss", "sl", "--epochs", "2", "--negatives", "10", "--out"];
    let (_, said) = world.ok(&[&args[..], &["bad", "--lr", "1e30", "--quiet"]].concat());
    holds(&said, &["warning: nothing was learned: ", "overflowed", "try a smaller learning rate (--lr)"]);
    let record: Value = serde_json::from_slice(&world.read("bad/metrics.json")).unwrap();
    holds(record["nothing_learned"].as_str().unwrap(), &["overflowed"]);
    let (_, said) = world.ok(&[&args[..], &["good"]].concat());
    assert!(!said.contains("nothing was learned"), "{said}");
}
