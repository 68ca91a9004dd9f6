//! The time to write a report on many runs: `cargo bench -p rivalry-report`.
//!
//! 200 runs of 40 evaluations: a grid of α × β × τ for one loss, and seeds of four others.

use std::path::Path;
use std::time::Instant;

use rivalry::config::{Config, setting_layer, source_layer};
use rivalry_report::Report;
use rivalry_runs::run::RunFolder;
use serde_json::json;

fn main() {
    let world = tempfile::tempdir().expect("a temporary folder");
    let mut settings: Vec<Vec<String>> = Vec::new();
    for (alpha, beta) in (0..5).flat_map(|a| (0..5).map(move |b| (a, b))) {
        for tau in [0.05, 0.1, 0.15, 0.2, 0.25, 0.3] {
            let numbers = [("alpha", f64::from(alpha)), ("beta", f64::from(beta)), ("tau", tau)];
            settings.push(numbers.map(|(key, value)| format!("loss.{key}={value}")).into());
        }
    }
    for loss in ["sl", "bsl", "psl", "dsl-ca", "dsl-kappa"] {
        settings.extend((0..10).map(|seed| vec![format!("loss.type={loss}"), format!("train.seed={seed}")]));
    }
    for (number, settings) in settings.iter().enumerate() {
        make(&world.path().join(format!("{number:03}")), settings, number as f64);
    }
    let start = Instant::now();
    let report =
        Report::read(world.path(), &Default::default(), &mut |_, _| {}).expect("the runs can be read");
    let read = start.elapsed();
    let bytes = report.html().len();
    let written = start.elapsed();
    let figures: Vec<usize> = report.figures().map(|(_, figure)| figure.svg().len()).collect();
    println!(
        "{} runs: read {read:.2?}, page of {} kB after {written:.2?}, {} figures as SVG after {:.2?}",
        settings.len(),
        bytes / 1000,
        figures.len(),
        start.elapsed()
    );
}

fn make(folder: &Path, settings: &[String], number: f64) {
    let mut layers = vec![source_layer("amazon2014-health")];
    layers.extend(settings.iter().map(|setting| setting_layer(setting).expect("a setting")));
    let config = Config::from_layers(&layers).expect("a config");
    let folder = RunFolder::create(folder, &config, false).expect("a run's folder");
    let metrics = |value: f64| json!({ "NDCG@20": value, "Recall@20": value * 1.4, "MAP@20": value * 0.5 });
    let seconds = json!({ "train": 1.0, "eval": 0.1 });
    let quality = 0.1 + 0.02 * (number * 0.37).sin();
    let log: String = (1..=40)
        .map(|step| {
            let valid = metrics(quality * (1.0 - (-0.1 * f64::from(step)).exp()));
            let record = json!({ "epoch": 5 * step, "loss": 7.0 / f64::from(step), "valid": valid, "best": true, "seconds": seconds });
            format!("{record}\n")
        })
        .collect();
    let bucket = |share: f64| json!({ "users": 1000, "metrics": metrics(quality * share) });
    let record = json!({
        "ending": "finished", "epochs": 200, "best_epoch": 200, "select": "valid", "valid": metrics(quality),
        "test": metrics(quality * 1.1), "head": bucket(1.5), "tail": bucket(0.3), "seconds": seconds,
        "epoch_seconds": 0.2, "pairs_per_second": 1e5, "version": "0", "simd": "avx2", "threads": 2,
        "data": "amazon2014-health", "data_checksum": "0",
    });
    for (name, text) in [("log.jsonl", log), ("metrics.json", record.to_string())] {
        std::fs::write(folder.path().join(name), text).expect("a file of the run");
    }
}
