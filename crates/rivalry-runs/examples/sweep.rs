//! A sweep of two losses: selected on validation, compared on the test set over seeds.
//!
//! `cargo run --release -p rivalry-runs --example sweep [folder]`: with a folder, an interrupted sweep is continued.

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;

use rivalry::data::LoadOptions;
use rivalry::eval::MetricAt;
use rivalry_runs::sweep::{SearchSpace, Stop, SweepFolder, SweepObserver, SweepOptions, Trial, TrialEvent};

/// Prints each trial that is done.
struct Lines;

impl SweepObserver for Lines {
    fn observe(&self, trial: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop> {
        if let TrialEvent::Left(status) = event {
            println!("{}: {:?}", trial.name, status.valid);
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(folder) => sweep(Path::new(&folder)),
        None => sweep(tempfile::tempdir()?.path()),
    }
}

fn sweep(folder: &Path) -> Result<(), Box<dyn Error>> {
    let space = SearchSpace::parse(
        "base = { data.source = 'synthetic', model.dim = 16, train = { epochs = 4, eval_every = 2, negatives = 20 } }
         grid = { loss.type = ['sl', 'cap'], loss.tau = [0.1, 0.3] }
         seeds = 2",
    )?;
    let options = SweepOptions { jobs: 2, threads: 2, halving: None, keep_models: false, shard: None };
    let found = SweepFolder::open(folder, LoadOptions::default())?.sweep(&space, &options, &Lines)?;
    let Some(result) = found else { return Ok(()) };
    for best in &result.selected {
        let test = best.test(MetricAt::ndcg(20)).map_or_else(String::new, |test| format!("{:.4}", test.mean));
        println!("{} {:?}: validation {:?}, test NDCG@20 {test}", best.group, best.settings, best.valid());
    }
    Ok(())
}

#[test]
fn runs() {
    sweep(tempfile::tempdir().unwrap().path()).unwrap();
}
