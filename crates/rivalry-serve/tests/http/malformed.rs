//! Ten thousand malformed requests: no panic, and an answer in the 400s to each.

use std::io::{Read, Write};

use rivalry::rng::{Purpose, below, stream};
use rivalry_serve::Recommendations;

use crate::support::{World, dsl};

/// A generator of requests that are wrong in many ways.
struct Generator {
    numbers: Box<dyn FnMut(usize) -> usize>,
}

const PATHS: [&str; 14] = [
    "/api/recommend",
    "/api/rank",
    "/api/explain",
    "/api/feedback",
    "/api/reload",
    "/api/recommend/1",
    "/api/items",
    "/api/items/1/similar",
    "/api/users/1",
    "/api/users/1/similar",
    "/api/models",
    "/",
    "/nowhere",
    "/api/health/live",
];
const VALUES: [&str; 16] = [
    "null",
    "true",
    "-1",
    "1e999",
    "99999999999999999999",
    "0.5",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[1]",
    "\"\\ud800\"",
    "{\"a\":{\"a\":{}}}",
    "\"\\u0000\"",
];
const FIELDS: [&str; 12] = [
    "users",
    "items",
    "n",
    "offset",
    "include",
    "exclude",
    "model",
    "user",
    "candidates",
    "item",
    "events",
    "what",
];
const QUERIES: [&str; 10] = [
    "?n=0",
    "?n=-1",
    "?n=x",
    "?offset=99999999999999999999",
    "?%FF=%FE",
    "?n=1&n=2",
    "?model=",
    "?=&=&",
    "?n",
    "?q=%",
];

impl Generator {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[(self.numbers)(from.len())]
    }

    /// A body of JSON with wrong values, which is then damaged in one of several ways.
    fn body(&mut self) -> Vec<u8> {
        let fields = (self.numbers)(4);
        let fields: Vec<String> =
            (0..fields).map(|_| format!("\"{}\":{}", self.pick(&FIELDS), self.pick(&VALUES))).collect();
        let mut body = format!("{{{}}}", fields.join(",")).into_bytes();
        match (self.numbers)(6) {
            0 => body.truncate((self.numbers)(body.len())),
            1 => {
                let place = (self.numbers)(body.len());
                body[place] = (self.numbers)(256) as u8;
            }
            2 => body = vec![b'['; (self.numbers)(3000)],
            3 => body.extend_from_slice(b"{}"),
            _ => {}
        }
        body
    }

    /// A request, and whether its framing is right, so that an answer must come.
    fn request(&mut self) -> (Vec<u8>, bool) {
        let method =
            self.pick(&["GET", "POST", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "G\u{1}T", ""]);
        let query = if (self.numbers)(3) == 0 { self.pick(&QUERIES) } else { "" };
        let path = format!("{}{query}", self.pick(&PATHS));
        let body = self.body();
        let kind = self.pick(&[
            "application/json",
            "application/json",
            "application/json",
            "text/plain",
            "",
            "\u{e9}",
        ]);
        let (length, whole) = match (self.numbers)(8) {
            0 => ("Content-Length: -1\r\n".to_owned(), false),
            1 => ("Content-Length: 99999999999\r\n".to_owned(), false),
            2 => ("Transfer-Encoding: chunked\r\n".to_owned(), false),
            _ => (format!("Content-Length: {}\r\n", body.len()), true),
        };
        let whole = whole && method.bytes().all(|byte| byte.is_ascii_alphabetic()) && !method.is_empty();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {kind}\r\n{length}\r\n"
        );
        ([head.into_bytes(), body].concat(), whole)
    }
}

#[test]
fn ten_thousand_malformed_requests_are_answered_without_a_panic() {
    let world =
        World::with(&[("model", dsl())], |folder, options| options.feedback = Some(folder.join("log.jsonl")));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let world = &world;
            scope.spawn(move || {
                let mut rng = stream(1, Purpose::InspectedPairs, &[thread]);
                let numbers = Box::new(move |n: usize| below(&mut rng, n.max(1) as u32) as usize);
                let mut generator = Generator { numbers };
                for number in 0..2500 {
                    let (bytes, whole) = generator.request();
                    let answer = world.raw(&bytes, !whole);
                    let shown = String::from_utf8_lossy(&bytes);
                    let status: Option<u16> = answer.get(9..12).and_then(|status| status.parse().ok());
                    match status {
                        None => assert!(!whole, "{thread}/{number}: no answer to\n{shown}"),
                        // Some of the requests are right by chance.
                        Some(status) => {
                            assert!((200..500).contains(&status), "{thread}/{number}: {answer} to\n{shown}");
                        }
                    }
                }
            });
        }
    });
    let answer: Recommendations = world.ask(&format!("/api/recommend/{}", dsl().users.original(7)));
    assert_eq!(answer.items.len(), 20, "it still answers");
    let (_, metrics) = world.get("/metrics");
    assert!(!metrics.contains("status=\"500\""), "{metrics}");
}

#[test]
fn paths_never_reach_the_file_system() {
    let world = World::of(dsl());
    for path in [
        "/../../../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/api/items/..%2F..%2Fetc%2Fpasswd/similar",
    ] {
        let mut stream = world.connect();
        stream
            .write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes())
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404") && !answer.contains("root:"), "{path}: {answer}");
    }
}

#[test]
fn every_kept_body_of_the_fuzzer_is_answered() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/request");
    let world =
        World::with(&[("model", dsl())], |folder, options| options.feedback = Some(folder.join("log.jsonl")));
    let mut bodies = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        let body = std::fs::read(file.unwrap().path()).unwrap();
        for path in ["/api/recommend", "/api/rank", "/api/explain", "/api/feedback"] {
            let head = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let answer = world.raw(&[head.as_bytes(), &body].concat(), false);
            let status: u16 = answer.get(9..12).and_then(|status| status.parse().ok()).unwrap_or_default();
            assert!((200..500).contains(&status), "{answer} to {}", String::from_utf8_lossy(&body));
        }
        bodies += 1;
    }
    assert!(bodies > 5);
}

#[test]
fn whole_numbers_are_ids_and_other_values_are_refused_in_plain_words() {
    let world = World::of(dsl());
    let user = dsl().users.original(7);
    for body in [r#"{"users": [196, -3]}"#.to_owned(), format!(r#"{{"user": {user:?}, "candidates": [5]}}"#)]
    {
        let path = if body.contains("candidates") { "/api/rank" } else { "/api/recommend" };
        let (status, answer) = world.post(path, &body);
        assert_eq!(status, 200, "{body}: {answer}");
    }
    let (status, answer) = world.post("/api/recommend", r#"{"users": [true]}"#);
    assert_eq!(status, 422);
    assert!(
        answer.contains("users[0]: found boolean `true`, expected an id (text or a whole number)"),
        "{answer}"
    );
    assert!(!answer.contains("target type") && !answer.contains("column"), "{answer}");
}
