//! Interrupts Rivalry at random moments by signals, full disks and read-only disks, and counts runs that lose data or end
//! with another result. Then flips random bits of its files, and counts those that no command notices. The target is zero.
//!
//! `cargo test --release --test torture -- --seconds 600 --flips 1000` runs for ten minutes and flips a thousand bits;
//! without these options it is the short version that runs with all other tests. `--seed N` repeats the random choices of
//! a run.
#![cfg(unix)]

mod disk;
mod flips;
mod kill;
mod random;
mod scenarios;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use random::Random;
use scenarios::{SCENARIOS, Tally};

const SHORT: u64 = 15;
const FEW_FLIPS: u64 = 12;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if let Some("--download") = args.next().as_deref() {
        return scenarios::download::child();
    }
    let seconds = Duration::from_secs(number("--seconds").unwrap_or(SHORT));
    let seed = number("--seed").unwrap_or_else(|| std::process::id().into());
    let began = Instant::now();
    println!("torture: {} s, --seed {seed}", seconds.as_secs());
    let mut random = Random::new(seed);
    let mut tallies: Vec<(&str, Tally)> =
        SCENARIOS.iter().map(|scenario| (scenario.name, Tally::default())).collect();
    let mut failed = false;
    'time: loop {
        for (at, scenario) in SCENARIOS.iter().enumerate() {
            let (_, tally) = &mut tallies[at];
            if let Err(fault) = (scenario.run)(&mut random, tally) {
                println!("FAILED: {}: {fault}", scenario.name);
                tally.failures += 1;
                failed = true;
            }
            if began.elapsed() > seconds && all_started(&tallies) {
                break 'time;
            }
        }
    }
    println!("\n| scenario | interrupted | completed first | failed |\n|---|---:|---:|---:|");
    for (name, Tally { interrupted, completed, failures, skipped }) in &tallies {
        match skipped {
            Some(why) => println!("| {name} | skipped: {why} | | |"),
            None => println!("| {name} | {interrupted} | {completed} | {failures} |"),
        }
    }
    let sum = |part: fn(&Tally) -> usize| tallies.iter().map(|(_, tally)| part(tally)).sum::<usize>();
    let (interrupted, failures) = (sum(|t| t.interrupted), sum(|t| t.failures));
    println!("\n{interrupted} interruptions in {:.0} s, {failures} failures", began.elapsed().as_secs_f64());
    failed |= !no_flip_unnoticed(&mut random, number("--flips").unwrap_or(FEW_FLIPS) as usize);
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Flips bits, prints what became of them, and returns whether all were noticed.
fn no_flip_unnoticed(random: &mut Random, count: usize) -> bool {
    let flips = match flips::flip_bits(random, count) {
        Ok(flips) => flips,
        Err(fault) => {
            println!("FAILED: flipped bits: {fault}");
            return false;
        }
    };
    flips.unnoticed.iter().for_each(|flip| println!("FAILED: unnoticed: {flip}"));
    let (total, unnoticed) = (flips.total(), flips.unnoticed.len());
    println!(
        "{total} flipped bits: {} refused, {} repaired, {unnoticed} unnoticed",
        flips.refused, flips.repaired
    );
    unnoticed == 0
}

/// Whether every scenario has run at least once.
fn all_started(tallies: &[(&str, Tally)]) -> bool {
    tallies.iter().all(|(_, tally)| tally.interrupted + tally.completed > 0 || tally.skipped.is_some())
}

/// The number after an option, if it is given.
fn number(option: &str) -> Option<u64> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == option)?;
    let value = args.get(at + 1).and_then(|text| text.parse().ok());
    Some(value.unwrap_or_else(|| panic!("{option} expects a whole number")))
}
