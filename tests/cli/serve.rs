//! `rivalry serve` as a process: the same lists as `rivalry recommend`, an orderly end, and nothing lost by a violent one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{SMALL, World};

/// A server that is killed when the test ends.
pub struct Running {
    process: Child,
    pub address: String,
}

impl Running {
    pub fn start(folder: &Path, args: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_rivalry"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(args)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving on http://").expect("an address").to_owned();
        Self { process, address }
    }

    /// The answer to a request; `None` if the server is gone.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        Some((head.get(9..12)?.parse().ok()?, serde_json::from_str(body).ok()?))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn trained() -> World {
    let world = World::with_log();
    world.ok(&[&["train", "--data", "log.csv", "--loss", "dsl-ca", "--out", "run"], SMALL].concat());
    world
}

#[test]
fn lists_are_those_of_recommend() {
    let world = trained();
    let server = Running::start(&world.path(""), &["run"]);
    world.ok(&["recommend", "run", "--all", "-n", "7", "-o", "lists.jsonl"]);
    let text = String::from_utf8(world.read("lists.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let id = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for of_user in rows.chunk_by(|a, b| a["user"] == b["user"]) {
        let (status, answer) = server
            .ask("GET", &format!("/api/recommend/{}?n=7", id(&of_user[0]["user"]).replace(' ', "%20")), "")
            .unwrap();
        assert_eq!(status, 200, "{answer}");
        let served: Vec<_> = answer["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (id(&item["item"]), &item["score"]))
            .collect();
        let written: Vec<_> = of_user.iter().map(|row| (id(&row["item"]), &row["score"])).collect();
        assert_eq!(served, written);
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it_in_order() {
    let world = trained();
    let mut server = Running::start(&world.path(""), &["run"]);
    let pid = server.process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(server.process.wait().unwrap().success());
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    let world = trained();
    for round in 0..3 {
        let mut server = Running::start(&world.path(""), &["run", "--feedback", "feedback.jsonl"]);
        let acknowledged = Mutex::new(Vec::new());
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for client in 0..6 {
                let (server, acknowledged, count) = (&server, &acknowledged, &count);
                scope.spawn(move || {
                    for number in 0.. {
                        let item = format!("{round}-{client}-{number}");
                        let body =
                            json!({ "events": [{ "user": format!("u{client}"), "item": item }] }).to_string();
                        match server.ask("POST", "/api/feedback", &body) {
                            Some((200, _)) => {
                                acknowledged.lock().unwrap().push(item);
                                count.fetch_add(1, Ordering::Relaxed);
                            }
                            Some((status, answer)) => panic!("{status}: {answer}"),
                            None => break,
                        }
                    }
                });
            }
            while count.load(Ordering::Relaxed) < 60 {
                std::thread::sleep(Duration::from_millis(1));
            }
            // SIGKILL.
            let pid = server.process.id().to_string();
            assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        });
        server.process.wait().unwrap();
        let text = String::from_utf8(world.read("feedback.jsonl")).unwrap();
        let stored: Vec<String> = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .map(|record| record["item"].as_str().unwrap().to_owned())
            .collect();
        let acknowledged = acknowledged.into_inner().unwrap();
        let lost: Vec<&String> = acknowledged.iter().filter(|item| !stored.contains(item)).collect();
        assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), acknowledged.len());
    }
}

/// The way of docs/serving.md: a link to the run that is served, which is set to its update.
#[cfg(unix)]
#[test]
fn feedback_comes_back_as_a_new_model() {
    use std::os::unix::fs::symlink;
    let world = World::with_log();
    let train = ["train", "--data", "log.csv", "--loss", "sl", "--split", "none", "--out", "first"];
    world.ok(&[&train[..], SMALL].concat());
    symlink("first", world.path("current")).unwrap();
    let server = Running::start(&world.path(""), &["production=current", "--feedback", "feedback.jsonl"]);
    let ask = |method: &str, path: &str, body: Value| {
        let (status, answer) = server.ask(method, path, &body.to_string()).unwrap();
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let list = |user: &str| ask("GET", &format!("/api/recommend/{user}?n=5"), json!({}));
    assert_eq!(list("visitor")["source"], "popularity");
    let events = json!({ "events": [
        { "user": "visitor", "item": "item/3", "event": "click" }, { "user": "visitor", "item": "item/4" },
        { "user": "visitor", "item": "item/5", "event": "dislike" }, { "user": "user 5", "item": "new item" },
    ] });
    assert_eq!(ask("POST", "/api/feedback", events)["positive"], 3);
    assert_eq!(list("visitor")["source"], "fold-in");

    let update = ["update", "current", "--from-feedback", "feedback.jsonl", "--out", "second", "--json"];
    let update = world.json(&update)["update"].clone();
    assert_eq!((&update["new_users"], &update["new_items"]), (&1.into(), &1.into()));
    symlink("second", world.path("next")).unwrap();
    std::fs::rename(world.path("next"), world.path("current")).unwrap();
    assert_eq!(
        ask("POST", "/api/reload", json!({}))["models"][0]["checksum"],
        list("visitor")["model"]["checksum"]
    );
    let served = list("visitor");
    assert_eq!(served["source"], "model");
    let written = world.json(&["recommend", "second", "--user", "visitor", "-n", "5", "--json"]);
    let items = |lists: &Value| -> Vec<Value> {
        lists.as_array().unwrap().iter().map(|item| item["item"].clone()).collect()
    };
    assert_eq!(items(&served["items"]), items(&written["recommendations"][0]["items"]));
    assert!(items(&served["items"]).iter().all(|item| item != "item/3" && item != "item/4"));
    // The whole log again brings nothing that the run doesn't have.
    let again = world.fails(2, &["update", "current", "--from-feedback", "feedback.jsonl", "--out", "third"]);
    assert!(again.contains("there is nothing new"), "{again}");
}

#[test]
fn what_can_t_be_served_is_refused() {
    let world = trained();
    world.write("key", "short");
    assert!(world.fails(2, &["serve", "run", "--key-file", "key"]).contains("at least 16 printable"));
    assert!(world.fails(2, &["serve", "nowhere"]).contains("nowhere"));
    assert!(
        world.fails(2, &["serve", "a=run", "b=run", "--split", "a=0.5,c=0.5"]).contains("unknown model 'c'")
    );
    world.write("items.csv", "id,url\n1,ftp://x\n");
    assert!(world.fails(2, &["serve", "run", "--items", "items.csv"]).contains("items.csv:2"));
}
