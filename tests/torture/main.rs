//! Ends Rivalry at random moments, in every way it can be ended, and counts what is lost. The target is nothing.
//!
//! `cargo test --release --test torture -- --seconds 600` spends ten minutes on it; without `--seconds` it is the short
//! version that runs with all other tests. `--seed N` repeats the moments of a run, as far as moments can be repeated.
#![cfg(unix)]

mod disk;
mod kill;
mod luck;
mod scenes;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use luck::Luck;
use scenes::{SCENES, Tally};

const SHORT: u64 = 25;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    if let Some("--download") = args.next().as_deref() {
        return scenes::download::child();
    }
    let seconds = Duration::from_secs(number("--seconds").unwrap_or(SHORT));
    let seed = number("--seed").unwrap_or_else(|| std::process::id().into());
    let began = Instant::now();
    println!("torture: {} s, --seed {seed}", seconds.as_secs());
    let mut luck = Luck::new(seed);
    let mut tallies: Vec<(&str, Tally)> = SCENES.iter().map(|scene| (scene.name, Tally::default())).collect();
    let mut failed = false;
    'time: loop {
        for (at, scene) in SCENES.iter().enumerate() {
            let (_, tally) = &mut tallies[at];
            if let Err(loss) = (scene.play)(&mut luck, tally) {
                println!("LOST in {}: {loss}", scene.name);
                tally.losses += 1;
                failed = true;
            }
            if began.elapsed() > seconds && tallies_begun(&tallies) {
                break 'time;
            }
        }
    }
    println!("\n| what was ended | times it was ended | ended too late | lost |\n|---|---:|---:|---:|");
    for (name, Tally { ended, too_late, losses, left_out }) in &tallies {
        match left_out {
            Some(why) => println!("| {name} | left out: {why} | | |"),
            None => println!("| {name} | {ended} | {too_late} | {losses} |"),
        }
    }
    let sum = |part: fn(&Tally) -> usize| tallies.iter().map(|(_, tally)| part(tally)).sum::<usize>();
    let (ended, losses) = (sum(|t| t.ended), sum(|t| t.losses));
    println!("\n{ended} times ended in {:.0} s, {losses} lost", began.elapsed().as_secs_f64());
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Whether every scene has been played.
fn tallies_begun(tallies: &[(&str, Tally)]) -> bool {
    tallies.iter().all(|(_, tally)| tally.ended + tally.too_late > 0 || tally.left_out.is_some())
}

/// The number after an option, if it is given.
fn number(option: &str) -> Option<u64> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == option)?;
    let value = args.get(at + 1).and_then(|text| text.parse().ok());
    Some(value.unwrap_or_else(|| panic!("{option} wants a whole number")))
}
