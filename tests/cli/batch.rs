//! Lists with titles and reasons, for new users, and embeddings for other tools.

use serde_json::Value;

use crate::support::{SMALL, World};

fn trained(more: &[&str]) -> World {
    let world = World::with_log();
    world.ok(&[&["train", "--data", "log.csv", "--out", "run"], SMALL, more].concat());
    world
}

/// Some item ids of the model.
fn items(world: &World) -> Vec<String> {
    let list = world.json(&["recommend", "run", "--all", "-n", "3", "-o", "-", "--format", "json"]);
    let id = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut items: Vec<String> = list.as_array().unwrap().iter().map(|row| id(&row["item"])).collect();
    items.sort();
    items.dedup();
    items
}

#[test]
fn new_users_get_lists_from_their_histories() {
    let world = trained(&["--loss", "sl"]);
    let items = items(&world);
    world.write(
        "new.csv",
        &format!("user,item\nann,{}\nann,{}\nbob,{}\nbob,unheard-of\n", items[0], items[1], items[2]),
    );
    let lists = world.json(&["recommend", "run", "--history", "new.csv", "-n", "4", "--json", "--explain"]);
    let lists = lists["recommendations"].as_array().unwrap();
    assert_eq!((lists.len(), &lists[0]["user"], &lists[1]["user"]), (2, &"ann".into(), &"bob".into()));
    let best = &lists[0]["items"][0];
    assert!(!items[..2].contains(&best["item"].to_string()));
    // Two items of history, and their contributions add up to the score.
    let because = best["because"].as_array().unwrap();
    let sum: f64 = because.iter().map(|part| part["contribution"].as_f64().unwrap()).sum();
    assert!(because.len() == 2 && (sum - best["score"].as_f64().unwrap()).abs() < 1e-5, "{best}");
    assert!(
        world
            .fails(2, &["recommend", "run", "--history", "new.csv", "--all", "-o", "x.csv"])
            .contains("--all")
    );
    world.write("alien.csv", "user,item\nann,x\n");
    assert!(
        world
            .fails(2, &["recommend", "run", "--history", "alien.csv"])
            .contains("no item of these histories")
    );
}

#[test]
fn titles_and_reasons_are_columns() {
    let world = trained(&["--loss", "sl"]);
    let items = items(&world);
    let rows: String = items.iter().map(|item| format!("{item},\"Title, {item}\"\n")).collect();
    world.write("items.csv", &format!("id,title\n{rows}"));
    world.ok(&[
        "recommend",
        "run",
        "--all",
        "-n",
        "2",
        "--items",
        "items.csv",
        "--explain",
        "-o",
        "lists.csv",
    ]);
    let text = String::from_utf8(world.read("lists.csv")).unwrap();
    assert!(text.starts_with("user,rank,item,title,score,because\n"), "{text}");
    assert!(text.contains(&format!("{0},\"Title, {0}\",", items[0])), "{text}");
    assert!(text.lines().nth(1).unwrap().contains(" ("), "{text}");
    world.ok(&["recommend", "run", "--all", "-n", "2", "--items", "items.csv", "-o", "lists.parquet"]);
}

#[test]
fn embeddings_are_exported_with_ids() {
    let world = trained(&["--loss", "sl"]);
    let document = world.json(&["export", "run", "--to", "npy", "-o", "npy", "--json"]);
    let (n_items, dim) =
        (document["items"].as_u64().unwrap() as usize, document["dim"].as_u64().unwrap() as usize);
    let bytes = world.read("npy/items.npy");
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let header = 10 + u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    assert_eq!((header % 64, bytes.len()), (0, header + 4 * n_items * dim));
    let text = String::from_utf8_lossy(&bytes[10..header]).into_owned();
    assert!(text.contains(&format!("'shape': ({n_items}, {dim})")), "{text}");
    let row: Vec<f32> = bytes[header..header + 4 * dim]
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    assert!((row.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5, "of length one");
    assert_eq!(String::from_utf8(world.read("npy/items.csv")).unwrap().lines().count(), n_items + 1);
    world.ok(&["export", "run", "--to", "safetensors", "-o", "st"]);
    let bytes = world.read("st/embeddings.safetensors");
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let first = tensors.tensor("items").unwrap().data()[..4 * dim].to_vec();
    assert_eq!(first, row.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    world.ok(&["export", "run", "--to", "parquet", "-o", "pq"]);
    assert!(world.path("pq/users.parquet").exists());
    assert!(world.fails(2, &["export", "run", "--to", "npy", "-o", "npy"]).contains("already exists"));
    world.ok(&["export", "run", "--to", "npy", "-o", "npy", "--force"]);
}

#[test]
fn a_model_without_embeddings_has_none_to_export() {
    let world = World::with_log();
    world.ok(&["train", "--data", "log.csv", "--model", "popularity", "--out", "run"]);
    assert!(world.fails(2, &["export", "run", "--to", "npy"]).contains("no embeddings"));
    world.ok(&["recommend", "run", "--all", "-n", "2", "--explain", "-o", "lists.csv"]);
}
