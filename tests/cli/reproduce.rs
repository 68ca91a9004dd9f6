//! `rivalry reproduce`

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::{World, holds};

/// The records of our own measurements, the page and the figures that are made of them. `RIVALRY_WRITE_DOCS=1` writes them.
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reproduction/results");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reproduction/tables.md");
const FIGURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reproduction/figures");

const HEAD: &str = "# All measured cells

Made from the records in `docs/src/reproduction/results` by `rivalry reproduce --tables-from`, as are the figures; a test keeps it up to
date. What it says is in [the summary](index.md).

![The gain of DSL over SL, published and measured](figures/gain-of-dsl.svg)

![DSL and its branches alone, relative to SL](figures/ablation.svg)

![NDCG@20 of popular and of rare items relative to SL, MF](figures/head-and-tail-mf.svg)

![NDCG@20 of popular and of rare items relative to SL, LightGCN](figures/head-and-tail-lightgcn.svg)

";

#[test]
fn the_page_of_measured_cells_and_its_figures_are_up_to_date() {
    let world = World::new();
    let (tables, _) = world.ok(&["reproduce", "--tables-from", RECORDS, "--figures", "drawn"]);
    let page = HEAD.to_owned() + tables.split("## Left out").next().unwrap().trim_end() + "\n";
    let drawn: Vec<(PathBuf, String)> = std::fs::read_dir(world.path("drawn"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (Path::new(FIGURES).join(entry.file_name()), std::fs::read_to_string(entry.path()).unwrap())
        })
        .collect();
    assert!(drawn.iter().any(|(path, svg)| path.ends_with("ablation.svg") && svg.contains("dsl-kappa")));
    if std::env::var_os("RIVALRY_WRITE_DOCS").is_some() {
        std::fs::create_dir_all(FIGURES).unwrap();
        std::fs::write(PAGE, &page).unwrap();
        drawn.iter().for_each(|(path, svg)| std::fs::write(path, svg).unwrap());
    }
    let up_to_date = |path: &Path, text: &str| {
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == text,
            "{} is out of date: run this test with RIVALRY_WRITE_DOCS=1",
            path.display()
        );
    };
    up_to_date(Path::new(PAGE), &page);
    drawn.iter().for_each(|(path, svg)| up_to_date(path, svg));
    assert_eq!(std::fs::read_dir(FIGURES).unwrap().count(), drawn.len(), "a figure that is no longer drawn");
}

#[test]
fn a_dry_run_says_what_would_be_trained_and_what_has_no_settings() {
    let world = World::new();
    let (said, _) = world.ok(&["reproduce", "--only", "health", "--only", "mf", "--dry-run"]);
    holds(&said, &["amazon2014-health/mf/sl/seed-0", "published", "trainings, about"]);
    assert!(!said.contains("gowalla") && !said.contains("lightgcn"), "{said}");
    assert!(world.files().is_empty());
    let all = world.json(&["reproduce", "--dry-run", "--json", "--seeds", "2"]);
    let planned = all["planned"].as_array().unwrap();
    let costs: Vec<f64> = planned.iter().map(|training| training["cost"].as_f64().unwrap()).collect();
    assert!(costs.is_sorted() && costs[0] > 0.0, "the cheapest first");
    let left_out = all["left_out"].as_array().unwrap();
    // With published settings: eight losses with four data sets and two backbones, and with two shifted sets.
    let published = |training: &&Value| {
        let name = training["name"].as_str().unwrap();
        !["/dsl", "/cap", "/talos", "/drrl", "/tuned"].iter().any(|tuned| name.contains(tuned))
    };
    assert_eq!(planned.iter().filter(published).count(), 2 * (4 * 2 * 8 + 2 * 8), "from two seeds");
    // DSL, DSL@K, the ablations and CAP are planned where settings were found, and named where not.
    for loss in ["dsl", "dsl@k", "dsl-ca", "dsl-kappa", "cap"] {
        for data in ["amazon2014-health", "gowalla"] {
            let name = format!("{data}/mf/{loss}/seed-0");
            let is_planned = planned.iter().any(|training| training["name"] == name);
            let is_left_out = left_out
                .iter()
                .any(|cell| [&cell["data"], &cell["model"], &cell["loss"]] == [data, "mf", loss]);
            assert!(is_planned != is_left_out, "{name}");
        }
    }
}

#[test]
fn a_word_that_is_no_part_of_the_paper_is_named() {
    let world = World::new();
    holds(&world.fails(2, &["reproduce", "--only", "tabel1"]), &["--only", "did you mean 'table1'?"]);
    holds(&world.fails(2, &["reproduce", "--only", "table2", "--only", "health"]), &["no training is left"]);
    holds(&world.fails(2, &["reproduce", "--loss", "dls"]), &["--loss", "did you mean 'dsl'?"]);
}

#[test]
fn without_the_data_nothing_is_made() {
    let world = World::new();
    let args = ["reproduce", "--only", "health", "--only", "mf", "--loss", "bpr", "--data-dir", "nowhere"];
    let output = world.command(&args).env("ALL_PROXY", "http://127.0.0.1:9").output().unwrap();
    assert!(!output.status.success());
    assert!(!world.path("runs").exists());
}

#[test]
fn tables_need_records() {
    let world = World::new();
    holds(&world.fails(1, &["reproduce", "--tables-from", "."]), &["no records of these cells", "--record"]);
    holds(&world.fails(2, &["reproduce", "--tables-from", ".", "--record", "."]), &["cannot be used with"]);
    holds(&world.fails(2, &["reproduce", "--figures", "drawn"]), &["--tables-from"]);
    let record = world.path("amazon2014-health-mf-sl-seed-0.json");
    std::fs::write(&record, "{}").unwrap();
    let said = world.fails(2, &["reproduce", "--only", "health", "--record", ".", "--dry-run"]);
    holds(&said, &["amazon2014-health-mf-sl-seed-0.json", "restore the file, or remove it"]);
}
