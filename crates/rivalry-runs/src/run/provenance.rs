//! The provenance of metrics: everything that could change them on another machine, and the command.

use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::quoted;

/// The program and machine that made a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The release of Rivalry.
    pub version: String,
    /// The commit it was built from, with `+` if files were modified; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The instruction set of the kernels.
    pub simd: String,
    /// The processor, as named by the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// The number of logical cores that the process could use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<usize>,
    /// The number of threads, which does not affect the results.
    pub threads: usize,
    /// When the results were obtained, in UTC: `2026-01-31T12:00:00Z`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The command line of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Provenance {
    /// The provenance of results of this process.
    pub fn here() -> Self {
        let words: Vec<String> = std::env::args_os().map(|word| quoted(Path::new(&word))).collect();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("RIVALRY_COMMIT").map(str::to_owned),
            simd: rivalry_kernels::level_name().to_owned(),
            cpu: cpu(),
            cores: std::thread::available_parallelism().ok().map(usize::from),
            threads: rayon::current_num_threads(),
            date: now(),
            command: (!words.is_empty()).then(|| words.join(" ")),
        }
    }

    /// What may explain a difference between two runs of the same config, as `what: then, now`.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let unknown = || "unknown".to_owned();
        let pairs = [
            ("version", self.version.clone(), now.version.clone()),
            (
                "commit",
                self.commit.clone().unwrap_or_else(unknown),
                now.commit.clone().unwrap_or_else(unknown),
            ),
            ("instructions", self.simd.clone(), now.simd.clone()),
            ("processor", self.cpu.clone().unwrap_or_else(unknown), now.cpu.clone().unwrap_or_else(unknown)),
        ];
        let differing = pairs.into_iter().filter(|(_, then, now)| then != now);
        differing.map(|(what, then, now)| format!("{what}: {then} then, {now} now")).collect()
    }
}

/// The time in UTC, in whole seconds.
fn now() -> Option<String> {
    Timestamp::from_second(Timestamp::now().as_second()).ok().map(|now| now.to_string())
}

/// The name of the processor, if the system provides it.
fn cpu() -> Option<String> {
    let info = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_from_before_there_was_a_commit_is_read_and_compared() {
        let old: Provenance =
            serde_json::from_str(r#"{"version": "0.1.0", "simd": "avx512", "threads": 4}"#).unwrap();
        let now =
            Provenance { simd: "avx2".to_owned(), commit: Some("abc".to_owned()), threads: 2, ..old.clone() };
        assert_eq!(
            old.differences(&now),
            ["commit: unknown then, abc now", "instructions: avx512 then, avx2 now"]
        );
        assert_eq!(now.differences(&now.clone()), [""; 0]);
    }

    #[test]
    fn this_process_knows_what_it_is() {
        let here = Provenance::here();
        assert_eq!(here.version, env!("CARGO_PKG_VERSION"));
        assert!(here.command.is_some() && here.threads > 0 && here.cores.is_some(), "{here:?}");
        assert!(here.date.is_some_and(|date| date.len() == 20 && date.ends_with('Z')));
    }
}
