//! Keys, limits, timeouts, shutdown, health and metrics.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use rivalry_serve::{Health, ModelSource, Recommendations, ServeOptions, Server};
use serde_json::json;

use crate::support::{World, code, dsl};

#[test]
fn without_the_key_nothing_is_told() {
    let mut world = World::with(&[("model", dsl())], |_, options| options.key = Some("k".repeat(20)));
    let paths = ["/api/recommend/1", "/api/models", "/api/items", "/metrics", "/api/users/1"];
    for path in paths {
        assert_ne!(world.get(path).0, 401, "{path}");
    }
    for wrong in [None, Some(""), Some("k"), Some("kkkkkkkkkkkkkkkkkkkx"), Some("kkkkkkkkkkkkkkkkkkkkk")] {
        world.key = wrong.map(str::to_owned);
        for path in paths {
            assert_eq!(code(world.get(path)), (401, "unauthorized".to_owned()), "{path} with {wrong:?}");
        }
        let answer = world.post("/api/recommend", r#"{"users": ["1"]}"#);
        assert_eq!(code(answer), (401, "unauthorized".to_owned()));
    }
    for path in
        ["/", "/app.js", "/style.css", "/docs", "/openapi.json", "/api/health/live", "/api/health/ready"]
    {
        assert_eq!(world.get(path).0, 200, "{path}");
    }
    let answer = world.raw(b"GET /api/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false);
    assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
}

#[test]
fn limits_are_answered_with_their_reason() {
    let world = World::with(&[("model", dsl())], |_, options| {
        options.limits.max_n = 50;
        options.limits.max_batch = 10;
        options.limits.max_body = 2000;
    });
    let invalid = (422, "invalid_request".to_owned());
    for query in ["n=0", "n=51", "n=40&offset=11", "n=18446744073709551615&offset=18446744073709551615"] {
        assert_eq!(code(world.get(&format!("/api/recommend/1?{query}"))), invalid, "{query}");
    }
    for query in ["n=-1", "n=x", "n=1&n=2", "what=1", "n=99999999999999999999999"] {
        assert_eq!(
            code(world.get(&format!("/api/recommend/1?{query}"))),
            (400, "bad_query".to_owned()),
            "{query}"
        );
    }
    let many: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let requests = [
        ("/api/recommend", json!({ "users": many })),
        ("/api/recommend", json!({ "items": many })),
        ("/api/recommend", json!({ "users": ["1"], "exclude": many })),
        ("/api/recommend", json!({ "users": ["1"], "include": many })),
        ("/api/recommend", json!({ "users": ["1"], "items": ["1"] })),
        ("/api/recommend", json!({})),
        ("/api/rank", json!({ "user": "1", "candidates": many })),
    ];
    for (path, body) in requests {
        assert_eq!(code(world.post(path, &body.to_string())), invalid, "{body}");
    }
    let long = json!({ "users": ["x".repeat(3000)] }).to_string();
    assert_eq!(code(world.post("/api/recommend", &long)), (413, "too_large".to_owned()));
}

#[test]
fn too_many_requests_are_turned_away() {
    let world = World::with(&[("model", dsl())], |_, options| options.limits.rate = Some(5.0));
    let statuses: Vec<u16> = (0..20).map(|_| world.get("/api/models").0).collect();
    let (answered, refused): (Vec<u16>, Vec<u16>) = statuses.iter().partition(|&&status| status == 200);
    assert!(answered.len() >= 5 && refused.len() >= 5 && refused.iter().all(|&status| status == 429));
    assert_eq!(code(world.get("/api/models")), (429, "too_many_requests".to_owned()));
    assert_eq!(world.get("/api/health/ready").0, 200, "health is always answered");
    let world = World::with(&[("model", dsl())], |_, options| options.limits.max_requests = 0);
    assert_eq!(code(world.get("/api/models")), (503, "busy".to_owned()));
}

#[test]
fn slow_and_half_open_clients_are_cut_off() {
    let world = World::with(&[("model", dsl())], |_, options| {
        options.limits.header_timeout = Duration::from_millis(300);
        options.limits.request_timeout = Duration::from_millis(300);
        options.limits.max_connections = 4;
    });
    // As many as there is room for: nothing sent, half a head, half a body, an idle connection after an answer.
    let beginnings: [&[u8]; 4] = [
        b"",
        b"GET /api/models HTTP/1.1\r\nHo",
        b"POST /api/recommend HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
        b"GET /api/health/live HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    let start = Instant::now();
    let mut streams: Vec<_> = beginnings
        .iter()
        .map(|bytes| {
            let mut stream = world.connect();
            stream.write_all(bytes).unwrap();
            stream
        })
        .collect();
    // The next one waits until there is room, and is answered.
    assert_eq!(world.get("/api/models").0, 200);
    let answers: Vec<String> = streams
        .iter_mut()
        .map(|stream| {
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        })
        .collect();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(answers[2].starts_with("HTTP/1.1 408") && answers[2].contains("timeout"), "{}", answers[2]);
    assert!(answers[3].starts_with("HTTP/1.1 200"), "{}", answers[3]);
}

#[test]
fn clients_that_don_t_read_are_cut_off() {
    let world = World::with(&[("model", dsl())], |_, options| {
        options.limits.write_timeout = Duration::from_millis(300);
        options.limits.max_connections = 1;
    });
    // More than the buffers of a connection hold.
    let mut deaf = world.connect();
    deaf.write_all("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000).as_bytes()).unwrap();
    // There is room for one connection: the next one is answered when this one is gone.
    assert_eq!(world.get("/api/models").0, 200);
    let mut received = Vec::new();
    let _ = deaf.read_to_end(&mut received);
    let (_, whole) = World::of(dsl()).get("/openapi.json");
    assert!(!received.is_empty() && received.len() < 1000 * whole.len(), "{}", received.len());
}

#[test]
fn what_was_begun_is_finished_at_shutdown() {
    let mut world = World::of(dsl());
    let body = br#"{"users": ["1"], "n": 1}"#;
    let mut stream = world.connect();
    let head = format!(
        "POST /api/recommend HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..5]).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    let server = world.server.take().unwrap();
    let stopper = server.stopper();
    let stopping = std::thread::spawn(move || {
        stopper.stop();
        server.wait();
    });
    std::thread::sleep(Duration::from_millis(200));
    assert!(std::net::TcpStream::connect(world.address()).is_err(), "no new connections");
    stream.write_all(&body[5..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stopping.join().unwrap();
}

#[test]
fn health_metrics_and_headers() {
    let world = World::of(dsl());
    let ready: Health = world.ask("/api/health/ready");
    assert_eq!(ready, world.ask("/api/health/live"));
    let _: Recommendations = world.ask("/api/recommend/1");
    let (_, metrics) = world.get("/metrics");
    for line in [
        r#"rivalry_requests_total{path="/api/recommend/{user}",status="200"} 1"#,
        "rivalry_request_seconds_bucket",
        r#"rivalry_lists_total{model="model",source="#,
        "# EOF",
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
    let answer = world.raw(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", false).to_lowercase();
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
    ] {
        assert!(answer.contains(header), "{header} in\n{answer}");
    }
    assert!(!answer.contains("server:"));
}

#[test]
fn what_can_t_be_served_is_refused_before_anything_listens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    dsl().save(&path).unwrap();
    let source = |name: &str| ModelSource { name: name.to_owned(), path: path.clone() };
    let error =
        |options: ServeOptions| Server::start(options).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error(ServeOptions::new(vec![])).contains("no model is given"));
    assert!(
        error(ServeOptions::new(vec![ModelSource::at(folder.path().join("nowhere"))]))
            .contains("there is no model")
    );
    let logging = || {
        let mut options = ServeOptions::new(vec![source("a")]);
        options.listen.set_port(0);
        ServeOptions { feedback: Some(folder.path().join("feedback.jsonl")), ..options }
    };
    let first = Server::start(logging()).unwrap();
    assert!(error(logging()).contains("another server writes to this feedback log"));
    drop(first);
    assert_eq!(error(logging()), "", "the log is free again");
    assert!(error(ServeOptions::new(vec![source("a"), source("a")])).contains("two models are called 'a'"));
    let split = |shares: &[(&str, f64)]| {
        let mut options = ServeOptions::new(vec![source("a"), source("b")]);
        options.split = shares.iter().map(|&(name, share)| (name.to_owned(), share)).collect();
        error(options)
    };
    assert!(split(&[("a", 0.5), ("c", 0.5)]).contains("unknown model 'c'"));
    assert!(split(&[("a", 0.5), ("b", 0.4)]).contains("add up to 0.9"));
    assert!(split(&[("a", 1.5), ("b", -0.5)]).contains("the share of 'b'"));
    std::fs::write(&path, b"not a model").unwrap();
    let broken = error(ServeOptions::new(vec![source("a")]));
    assert!(broken.contains("a.safetensors"), "{broken}");
}
