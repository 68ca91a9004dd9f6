//! Models are replaced while requests are answered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rivalry::files::checksum::checksum;
use rivalry_serve::{ModelList, Recommendations, ReloadResults};
use serde_json::json;

use crate::support::{World, dsl, other};

#[test]
fn a_swap_drops_and_mixes_nothing() {
    let world =
        World::with(&[("model", dsl())], |_, options| options.watch = Some(Duration::from_millis(30)));
    let user = dsl().users.original(7);
    let path = format!("/api/recommend/{user}?n=20");
    // The right answer of each model, by its checksum.
    let first: Recommendations = world.ask(&path);
    let second: Recommendations = World::of(other()).ask(&path);
    let right = HashMap::from([
        (first.model.checksum, first.items),
        (checksum(&other().to_bytes().unwrap()), second.items),
    ]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut seen: HashMap<String, usize> = HashMap::new();
                    while !done.load(Ordering::Relaxed) {
                        let answer: Recommendations = world.ask(&path);
                        assert_eq!(&answer.items, &right[&answer.model.checksum]);
                        *seen.entry(answer.model.checksum).or_default() += 1;
                    }
                    seen
                })
            })
            .collect();
        for round in 0..10 {
            let model = if round % 2 == 0 { other() } else { dsl() };
            model.save(&world.path("model")).unwrap();
            let wanted = checksum(&model.to_bytes().unwrap());
            wait_for(|| world.ask::<ModelList>("/api/models").models[0].checksum == wanted);
        }
        done.store(true, Ordering::Relaxed);
        for client in clients {
            let seen = client.join().unwrap();
            assert_eq!(seen.len(), 2, "{seen:?}");
        }
    });
    let (_, metrics) = world.get("/metrics");
    assert!(metrics.contains(r#"rivalry_model_swaps_total{model="model",result="swapped"} 10"#), "{metrics}");
}

#[test]
fn a_broken_model_is_refused_and_the_old_one_stays() {
    let world =
        World::with(&[("model", dsl())], |_, options| options.watch = Some(Duration::from_millis(30)));
    let user = dsl().users.original(7);
    let path = format!("/api/recommend/{user}");
    let before: Recommendations = world.ask(&path);
    let mut bytes = other().to_bytes().unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(world.path("model"), &bytes).unwrap();
    let error = || world.ask::<ModelList>("/api/models").models[0].error.clone();
    wait_for(|| error().is_some());
    assert!(error().unwrap().contains("damaged"), "{:?}", error());
    assert_eq!(world.ask::<Recommendations>(&path), before);
    // Asked again, the same file is refused again, and a file that is gone is no reason to stop.
    let reloaded: ReloadResults = world.tell("/api/reload", json!({}));
    assert_eq!(
        (&*reloaded.models[0].result, &reloaded.models[0].checksum),
        ("refused", &before.model.checksum)
    );
    std::fs::remove_file(world.path("model")).unwrap();
    assert_eq!(world.ask::<Recommendations>(&path), before);
    // A good one clears the error.
    other().save(&world.path("model")).unwrap();
    wait_for(|| error().is_none());
    assert_ne!(world.ask::<Recommendations>(&path).model.checksum, before.model.checksum);
}

#[test]
fn reload_looks_at_once() {
    let world = World::of(dsl());
    let unchanged: ReloadResults = world.tell("/api/reload", json!({}));
    assert_eq!(unchanged.models[0].result, "unchanged");
    other().save(&world.path("model")).unwrap();
    let swapped: ReloadResults = world.tell("/api/reload", json!({}));
    assert_eq!(swapped.models[0].result, "swapped");
    assert_eq!(swapped.models[0].checksum, checksum(&other().to_bytes().unwrap()));
}

fn wait_for(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}
