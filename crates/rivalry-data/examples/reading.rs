//! Reads and splits a log, and prints how long both took, the peak memory and the checksum of the data set, as JSON.
//!
//! ```sh
//! cargo run --release -p rivalry-data --all-features --example reading -- LOG [SPLIT] [KEY=VALUE …]
//! ```
//!
//! `SPLIT` is `random` unless given; further arguments are settings of the sections `read` and `prepare` of a config,
//! such as `read.header=false` or `prepare.user_core=5`. `benches/reading/measure.py` calls it beside pandas.

use std::error::Error;
use std::time::Instant;

use rivalry_data::{DataConfig, LoadOptions, load_raw, prepare};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let source = args.next().ok_or("give the path of a log")?;
    let split = args.next().unwrap_or_else(|| "random".to_owned());
    let mut settings = format!("source = {source:?}\nprepare.split.type = {split:?}\n");
    args.for_each(|setting| settings += &(setting + "\n"));
    let config: DataConfig = toml::from_str(&settings)?;

    let start = Instant::now();
    let (name, raw) = load_raw(&config, &LoadOptions::default(), &mut |_| {})?;
    let (read, after_reading) = (start.elapsed().as_secs_f64(), peak_megabytes());
    let dataset = prepare(&name, raw, &config.prepare)?;
    let total = start.elapsed().as_secs_f64();
    println!(
        "{}",
        serde_json::json!({
            "read_seconds": read,
            "total_seconds": total,
            "peak_megabytes_reading": after_reading,
            "peak_megabytes": peak_megabytes(),
            "users": dataset.users.len(),
            "items": dataset.items.len(),
            "pairs": [dataset.train.len(), dataset.valid.len(), dataset.test.len()],
            "skipped": dataset.skipped.count,
            "notes": dataset.notes,
            "checksum": dataset.checksum,
        })
    );
    Ok(())
}

/// The peak of the resident memory of this process so far; `None` where the system doesn't say.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024.0 / 1e6)
}
