//! The description of the interface is the one that is checked in, and says what is true.

use std::path::Path;

use serde_json::Value;

use crate::support::{World, dsl};

#[test]
fn the_document_is_the_one_in_the_repository() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let now = rivalry_serve::openapi();
    if std::env::var_os("RIVALRY_WRITE_OPENAPI").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let then = std::fs::read_to_string(&path).unwrap();
    assert!(
        then == now,
        "write it again: RIVALRY_WRITE_OPENAPI=1 cargo test -p rivalry-serve --test http openapi"
    );
}

#[test]
fn every_path_is_described_and_answers() {
    let world = World::of(dsl());
    let document: Value = serde_json::from_str(&rivalry_serve::openapi()).unwrap();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 15);
    for (path, methods) in paths {
        let filled =
            path.replace("{user}", dsl().users.original(3)).replace("{item}", dsl().items.original(3));
        for method in methods.as_object().unwrap().keys() {
            let (status, body) = if method == "get" { world.get(&filled) } else { world.post(&filled, "{}") };
            assert!(
                methods[method]["responses"].get(status.to_string()).is_some(),
                "{method} {path}: {status} {body}"
            );
        }
    }
}
