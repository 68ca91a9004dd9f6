//! Feedback is stored before it is acknowledged, and counts from then on.

use rivalry::config::{Config, source_layer};
use rivalry_serve::{Recommendations, Source, Stored};
use serde_json::{Value, json};

use crate::support::{World, code, dsl, other};

fn with_log() -> World {
    World::with(&[("a", dsl()), ("b", other())], |folder, options| {
        options.feedback = Some(folder.join("feedback.jsonl"));
        options.split = vec![("a".to_owned(), 0.5), ("b".to_owned(), 0.5)];
    })
}

#[test]
fn seen_items_are_left_out_of_the_next_answer() {
    let world = with_log();
    let user = dsl().users.original(7);
    let path = format!("/api/recommend/{user}?n=10");
    let before: Recommendations = world.ask(&path);
    let events: Vec<Value> = before.items[..3]
        .iter()
        .map(|item| json!({ "user": user, "item": item.item, "event": "click" }))
        .collect();
    let stored: Stored = world.tell("/api/feedback", json!({ "events": events }));
    assert_eq!(stored.stored, 3);
    let after: Recommendations = world.ask(&path);
    assert_eq!(after.items.len(), 10, "exactly n after filtering");
    assert_eq!(after.items[..7], before.items[3..]);

    // A user that nobody knew has a history from now on.
    let newcomer: Recommendations = world.ask("/api/recommend/newcomer");
    assert_eq!(newcomer.source, Source::Popularity);
    let item = dsl().items.original(11);
    let _: Stored = world.tell("/api/feedback", json!({ "events": [{ "user": "newcomer", "item": item }] }));
    let newcomer: Recommendations = world.ask("/api/recommend/newcomer");
    assert!(newcomer.source == Source::FoldIn && newcomer.items.iter().all(|other| other.item != item));
}

#[test]
fn the_log_names_the_arm_and_is_read_by_the_library() {
    let world = with_log();
    let event = |user: u32, item: u32| {
        json!({
            "user": dsl().users.original(user), "item": dsl().items.original(item), "timestamp": 1_700_000_000 + item,
        })
    };
    let events: Vec<Value> =
        (0..40).flat_map(|user| (0..5).map(move |item| event(user, user + item))).collect();
    let _: Stored = world.tell("/api/feedback", json!({ "events": events }));
    let path = world.folder.path().join("feedback.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let list: Recommendations =
            world.ask(&format!("/api/recommend/{}?n=1", record["user"].as_str().unwrap()));
        assert_eq!(
            (record["arm"].as_str(), record["model"].as_str()),
            (list.arm.as_deref(), list.arm.as_deref())
        );
        assert_eq!(record["checksum"], json!(list.model.checksum));
    }
    let layers =
        [source_layer(path.to_str().unwrap()), "data.prepare.split.type = 'leave-last'".parse().unwrap()];
    let config = Config::from_layers(&layers).unwrap();
    let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {}).unwrap();
    assert_eq!((data.users.len(), data.train.len() + data.valid.len() + data.test.len()), (40, 200));
}

#[test]
fn a_server_that_starts_again_remembers() {
    let mut world = with_log();
    let user = dsl().users.original(7);
    let path = format!("/api/recommend/{user}?n=3");
    let before: Recommendations = world.ask(&path);
    let event = json!({ "user": user, "item": before.items[0].item });
    let _: Stored = world.tell("/api/feedback", json!({ "events": [event] }));
    let after: Recommendations = world.ask(&path);
    world.server = None;
    // The power failed in the middle of a line that nobody was told is stored.
    let log = world.folder.path().join("feedback.jsonl");
    let mut text = std::fs::read_to_string(&log).unwrap();
    let whole = text.clone();
    text.push_str(r#"{"user":"x","ite"#);
    std::fs::write(&log, text).unwrap();
    let again = World::with(&[("a", dsl()), ("b", other())], |_, options| {
        options.feedback = Some(log.clone());
        options.split = vec![("a".to_owned(), 0.5), ("b".to_owned(), 0.5)];
    });
    let remembered: Recommendations = again.ask(&path);
    assert_eq!((remembered.items, std::fs::read_to_string(&log).unwrap()), (after.items, whole));
}

#[test]
fn what_is_no_event_is_refused_and_nothing_is_stored() {
    let world = with_log();
    let refused = [
        json!({ "events": [] }),
        json!({ "events": [{ "user": "", "item": "1" }] }),
        json!({ "events": [{ "user": " 1", "item": "1" }] }),
        json!({ "events": [{ "user": "1", "item": "x".repeat(600) }] }),
        json!({ "events": [{ "user": "1", "item": "1" }, { "user": "1" }] }),
        json!({ "events": [{ "user": "1", "item": "1", "timestamp": 1_700_000_000_000_i64 }] }),
        json!({ "user": "1", "item": "1" }),
    ];
    for body in refused {
        assert_eq!(code(world.post("/api/feedback", &body.to_string())).0, 422, "{body}");
    }
    assert_eq!(std::fs::read_to_string(world.folder.path().join("feedback.jsonl")).unwrap(), "");
    let world = World::of(dsl());
    let answer = world.post("/api/feedback", r#"{"events": [{"user": "1", "item": "1"}]}"#);
    assert_eq!(code(answer), (404, "no_feedback".to_owned()));
}

#[test]
fn only_positive_events_are_interactions() {
    let world = with_log();
    let user = dsl().users.original(7);
    let path = format!("/api/recommend/{user}?n=10");
    let before: Recommendations = world.ask(&path);
    let event =
        |place: usize, event: &str| json!({ "user": user, "item": before.items[place].item, "event": event });
    let events = [event(0, "dislike"), event(1, "impression"), event(2, "Purchase")];
    let stored: Stored = world.tell("/api/feedback", json!({ "events": events }));
    assert_eq!((stored.stored, stored.positive), (3, 1));
    let after: Recommendations = world.ask(&path);
    assert_eq!((&after.items[..2], &after.items[2..9]), (&before.items[..2], &before.items[3..]));
    // What training reads holds interactions alone; the others are kept beside it.
    let lines = |file: &str| std::fs::read_to_string(world.folder.path().join(file)).unwrap().lines().count();
    assert_eq!((lines("feedback.jsonl"), lines("feedback.other.jsonl")), (1, 2));

    let disliked =
        json!({ "events": [{ "user": "critic", "item": before.items[0].item, "event": "dislike" }] });
    let _: Stored = world.tell("/api/feedback", disliked);
    let list: Recommendations = world.ask("/api/recommend/critic");
    assert_eq!(list.source, Source::Popularity, "nothing is recommended from a dislike");
}

#[test]
fn the_names_of_positive_events_are_an_option() {
    let world = World::with(&[("a", dsl())], |folder, options| {
        options.feedback = Some(folder.join("feedback.jsonl"));
        options.positive_events = vec!["finished".to_owned()];
    });
    let events = ["finished", "click"].map(|event| json!({ "user": 1, "item": 2, "event": event }));
    let stored: Stored = world.tell("/api/feedback", json!({ "events": events }));
    assert_eq!((stored.stored, stored.positive), (2, 1));
    let log = std::fs::read_to_string(world.folder.path().join("feedback.jsonl")).unwrap();
    assert!(log.contains(r#""user":"1","item":"2""#), "whole numbers are taken as text: {log}");
}
