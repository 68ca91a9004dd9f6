//! What is done with an input, for each kind of it. The fuzzer calls these with whatever it comes up with, the tests with
//! what it came up with before. Nothing is asserted: to return is to pass.

use std::path::{Path, PathBuf};

use rivalry::config::{Config, read_layer};
use rivalry::data::read::{ReadOptions, read};
use rivalry::data::{Preparation, prepare};
use rivalry::memory::MemoryLimit;
use rivalry::model::Model;
use rivalry_runs::run::RunFolder;

/// What an input is given to.
pub type Input = fn(&[u8]);

/// Every kind of input, by the name of its fuzz target and of its folder in `fuzz/corpus`.
pub const INPUTS: &[(&str, Input)] = &[
    ("csv", csv),
    ("inter", inter),
    ("jsonl", jsonl),
    ("adjacency", adjacency),
    ("zip", zip),
    ("parquet", parquet),
    ("model", model),
    ("checkpoint", checkpoint),
    ("config", config),
];

/// Tables of any kind, under the names that lead to different readers, with and without being told what they are.
fn csv(bytes: &[u8]) {
    for name in ["a.csv", "u.data", "ratings.dat"] {
        load(name, bytes, &ReadOptions::default());
    }
    let named =
        ReadOptions { user: Some("user".to_owned()), item: Some("2".to_owned()), ..ReadOptions::default() };
    load("a.tsv", bytes, &named);
    let plain = ReadOptions { header: Some(false), delimiter: Some('\t'), ..ReadOptions::default() };
    load("a.tsv", bytes, &plain);
}

fn inter(bytes: &[u8]) {
    load("a.inter", bytes, &ReadOptions::default());
}

/// JSON lines, strict and lenient.
fn jsonl(bytes: &[u8]) {
    load("a.jsonl", bytes, &ReadOptions { format: Some("jsonl".to_owned()), ..ReadOptions::default() });
    load("a.jsonl", bytes, &ReadOptions { skip_bad_rows: true, ..ReadOptions::default() });
}

/// Adjacency lists, and a list of original ids.
fn adjacency(bytes: &[u8]) {
    load("a.txt", bytes, &ReadOptions { format: Some("lightgcn".to_owned()), ..ReadOptions::default() });
    let folder = place("bundle");
    for (name, text) in
        [("train.txt", &b"0 0 1\n1 1\n"[..]), ("test.txt", b"0 2\n"), ("user_list.txt", bytes)]
    {
        std::fs::write(folder.join(name), text).expect("memory can be written to");
    }
    let _ = read(&folder, &ReadOptions::default(), MemoryLimit::default());
}

/// Zip files, and the other wrappings.
fn zip(bytes: &[u8]) {
    load("a.zip", bytes, &ReadOptions::default());
}

fn parquet(bytes: &[u8]) {
    load("a.parquet", bytes, &ReadOptions::default());
}

fn model(bytes: &[u8]) {
    if let Ok(model) = Model::from_bytes(bytes) {
        let _ = model.scorer().map(|scorer| scorer.n_items());
    }
}

/// A checkpoint, in a run that is otherwise whole.
fn checkpoint(bytes: &[u8]) {
    let folder = place("run");
    std::fs::write(folder.join("config.toml"), Config::default().to_toml())
        .expect("memory can be written to");
    std::fs::write(folder.join("checkpoint"), bytes).expect("memory can be written to");
    let _ = RunFolder::resume(&folder).map(|run| run.state.is_some());
}

fn config(bytes: &[u8]) {
    let path = place("configs").join("config.toml");
    std::fs::write(&path, bytes).expect("memory can be written to");
    if let Ok(config) = read_layer(&path).and_then(|layer| Config::from_layers(&[layer])) {
        // What was understood is written so that it is understood again, as the same.
        let again = Config::from_layers(&[config.to_toml().parse().expect("TOML")]).expect("a config");
        assert_eq!(config, again);
    }
}

/// Reads the bytes as a file of that name, and prepares what they say.
fn load(name: &str, bytes: &[u8], options: &ReadOptions) {
    let path = place("files").join(name);
    std::fs::write(&path, bytes).expect("memory can be written to");
    if let Ok(raw) = read(&path, options, MemoryLimit::default()) {
        let _ = prepare("fuzz", raw, &Preparation::default());
    }
}

/// Where all files of this process are, in memory where the system has such a place.
pub fn root() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    root.join(format!("rivalry-fuzz-{}", std::process::id()))
}

fn place(name: &str) -> PathBuf {
    let folder = root().join(name);
    std::fs::create_dir_all(&folder).expect("memory can be written to");
    folder
}
