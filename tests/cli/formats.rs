//! `docs/src/formats.md` names exactly the files and tensors that are written.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rivalry::tensors::Tensors;

use crate::support::World;

/// The names in the first column of the tables of a section.
fn documented(section: &str) -> BTreeSet<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/formats.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, text) = page.split_once(&format!("\n## {section}\n")).expect("the section exists");
    let text = text.split("\n## ").next().unwrap();
    let first = text.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    first.flat_map(|column| column.split('`').skip(1).step_by(2)).map(str::to_owned).collect()
}

/// What is in a folder, without hidden files.
fn names(world: &World, folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(world.path(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.starts_with('.')).collect()
}

#[test]
fn the_files_of_runs_and_the_tensors_of_models_are_those_of_the_page() {
    let world = World::with_log();
    let (mut files, mut tensors) = (BTreeSet::new(), BTreeSet::new());
    world.train("mf", &["--loss", "dsl"]);
    world.train("lightgcn", &["--model", "lightgcn"]);
    let closed_forms = ["popularity", "ials", "ease", "item-knn"];
    for model in closed_forms {
        world.ok(&["train", "--data", "log.csv", "--model", model, "--out", model, "--quiet"]);
    }
    let piped = ["train", "--data", "-", "--model", "popularity", "--out", "piped", "--quiet"];
    world.command(&piped).write_stdin(world.read("log.csv")).assert().success();
    world.ok(&["inspect", "mf"]);
    world.write("new.csv", "user,item\nann,item/1\n");
    world.ok(&["update", "popularity", "new.csv", "--out", "updated", "--quiet"]);
    for run in ["mf", "lightgcn", "piped", "updated"].into_iter().chain(closed_forms) {
        files.extend(names(&world, run));
        let model = Tensors::read(&world.path(&format!("{run}/model.safetensors"))).unwrap();
        tensors.extend(model.names().map(str::to_owned));
    }
    assert_eq!(files, documented("Run folder"));
    assert_eq!(tensors, documented("Model file"));
}

#[test]
fn the_files_of_a_sweep_and_of_prepared_data_are_those_of_the_page() {
    let world = World::with_log();
    world.write(
        "search.toml",
        "[base]\ndata.source = 'log.csv'\nmodel = { dim = 8, score = 'dot' }\n\
         train = { epochs = 2, eval_every = 1, negatives = 10, batch_size = 50 }\n\
         [[grid]]\nloss = { type = 'sl', tau = [0.2] }\noptim.lr = [0.01, 1e30]\n",
    );
    world.ok(&["sweep", "search.toml", "--out", "sweep", "--quiet"]);
    let (mut found, runs) = (BTreeSet::new(), documented("Run folder"));
    for name in names(&world, "sweep") {
        if !world.path(&format!("sweep/{name}")).is_dir() {
            found.insert(name);
            continue;
        }
        found.insert("NAME/".to_owned());
        let own = names(&world, &format!("sweep/{name}")).into_iter().filter(|file| !runs.contains(file));
        found.extend(own.map(|file| format!("NAME/{file}")));
    }
    assert_eq!(found, documented("Sweep folder"));
    world.ok(&["data", "prepare", "log.csv", "set"]);
    assert_eq!(names(&world, "set"), documented("Prepared data"));
}
