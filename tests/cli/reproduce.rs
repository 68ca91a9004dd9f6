//! `rivalry reproduce`

use crate::support::{World, holds};

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
    // Four data sets × two backbones × eight losses, and two shifted sets × eight, with settings; from two seeds.
    assert!(planned.len() >= 2 * (4 * 2 * 8 + 2 * 8), "{}", planned.len());
    assert!(left_out.iter().any(|cell| cell[2] == "dsl") || planned.len() > 160);
}

#[test]
fn a_word_that_is_no_part_of_the_paper_is_named() {
    let world = World::new();
    holds(&world.fails(2, &["reproduce", "--only", "tabel1"]), &["--only", "did you mean 'table1'?"]);
    holds(&world.fails(2, &["reproduce", "--only", "table2", "--only", "health"]), &["nothing is left"]);
    holds(&world.fails(2, &["reproduce", "--loss", "dls"]), &["--loss", "did you mean 'dsl'?"]);
}
