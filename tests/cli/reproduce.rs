//! `rivalry reproduce`

use serde_json::Value;

use crate::support::{World, holds};

/// The records of our own measurements, and the page that is made of them. `RIVALRY_WRITE_DOCS=1` writes it.
const RECORDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reproduction/results");
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reproduction/tables.md");

const HEAD: &str = "# All measured cells

Made from the records in `docs/src/reproduction/results` by `rivalry reproduce --tables-from`; a test keeps it up to date. What the
figures say is in [the summary](index.md).

";

#[test]
fn the_page_of_measured_cells_is_up_to_date() {
    let (tables, _) = World::new().ok(&["reproduce", "--tables-from", RECORDS]);
    let page = HEAD.to_owned() + tables.split("## Left out").next().unwrap().trim_end() + "\n";
    if std::env::var_os("RIVALRY_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/src/reproduction/tables.md is out of date: run this test with RIVALRY_WRITE_DOCS=1"
    );
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
        !["/dsl", "/cap"].iter().any(|tuned| name.contains(tuned))
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
    let record = world.path("amazon2014-health-mf-sl-seed-0.json");
    std::fs::write(&record, "{}").unwrap();
    let said = world.fails(2, &["reproduce", "--only", "health", "--record", ".", "--dry-run"]);
    holds(&said, &["amazon2014-health-mf-sl-seed-0.json", "restore the file, or remove it"]);
}
