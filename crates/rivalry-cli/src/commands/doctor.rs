//! `rivalry doctor`

use std::path::{Path, PathBuf};

use rivalry::{Error, data, memory};
use rivalry_runs::run::Provenance;
use rivalry_runs::{SelfTest, self_test};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::output::{print, print_json};

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    Good,
    /// It works, with a limitation.
    Note,
    Bad,
}

#[derive(Serialize)]
struct Check {
    what: String,
    verdict: Verdict,
    found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
}

impl Check {
    fn new(what: impl Into<String>, verdict: Verdict, found: impl Into<String>) -> Self {
        Self { what: what.into(), verdict, found: found.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

pub fn run(args: &DoctorArgs) -> anyhow::Result<()> {
    let mut checks = vec![release(), processor(), threads(), free_memory()];
    checks.extend(folders(args.data_dir.as_deref()));
    checks.extend(data_sets(args.data_dir.as_deref()));
    checks.extend(trainings());
    if args.json {
        print_json(&checks)?;
    } else {
        for Check { what, verdict, found, help } in &checks {
            let mark = match verdict {
                Verdict::Good => "ok  ",
                Verdict::Note => "note",
                Verdict::Bad => "BAD ",
            };
            print(format_args!("{mark}  {what}: {found}"))?;
            if let Some(help) = help {
                print(format_args!("      {help}"))?;
            }
        }
    }
    match checks.iter().filter(|check| check.verdict == Verdict::Bad).count() {
        0 => Ok(()),
        1 => Err(Error::Unverified { what: "one check failed, see above".to_owned() }.into()),
        n => Err(Error::Unverified { what: format!("{n} checks failed, see above") }.into()),
    }
}

fn release() -> Check {
    let Provenance { version, commit, .. } = Provenance::here();
    let commit = commit.map_or_else(String::new, |commit| format!(", commit {commit}"));
    Check::new("rivalry", Verdict::Good, format!("{version}{commit}"))
}

fn processor() -> Check {
    let Provenance { simd, cpu, .. } = Provenance::here();
    let found = format!("{}, kernels use {simd}", cpu.unwrap_or_else(|| std::env::consts::ARCH.to_owned()));
    if let Ok(forced) = std::env::var("RIVALRY_SIMD") {
        let help = "unset RIVALRY_SIMD to use the best instruction set of the processor";
        return Check::new("processor", Verdict::Note, format!("{found}, because RIVALRY_SIMD is {forced}"))
            .help(help);
    }
    if simd == "baseline" {
        let help = "everything works, but several times slower than on a processor with AVX2";
        return Check::new("processor", Verdict::Note, found).help(help);
    }
    Check::new("processor", Verdict::Good, found)
}

fn threads() -> Check {
    match std::thread::available_parallelism() {
        Ok(n) => Check::new("threads", Verdict::Good, n.to_string()),
        Err(e) => Check::new("threads", Verdict::Note, e.to_string())
            .help("set the number of threads with --threads"),
    }
}

fn free_memory() -> Check {
    const SCARCE: u64 = 512 << 20;
    match memory::MemoryLimit::default().get() {
        Some(free) if free < SCARCE => {
            Check::new("memory", Verdict::Note, format!("{} free", memory::size(free)))
                .help("enough for small data only; jobs that would not fit are refused")
        }
        Some(free) => Check::new("memory", Verdict::Good, format!("{} free", memory::size(free))),
        None => Check::new("memory", Verdict::Note, "the system does not report free memory")
            .help("set a limit with --max-memory so that jobs that would not fit are refused"),
    }
}

/// The folders of runs and downloads.
fn folders(data_dir: Option<&Path>) -> Vec<Check> {
    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let mut checks = vec![writable(
        "working folder",
        &here,
        "runs are written to ./runs: change to a writable folder, or use --out",
    )];
    if let Some(cache) = data::data_folders(data_dir).pop() {
        // The first download creates it; until then its nearest existing parent must be writable.
        let there = cache.ancestors().find(|folder| folder.exists()).unwrap_or(&cache);
        let help = "downloads are stored there: set XDG_CACHE_HOME to a writable folder, or RIVALRY_DATA to a folder of data sets";
        checks.push(writable("cache folder", there, help));
    }
    checks
}

fn writable(what: &str, folder: &Path, help: &str) -> Check {
    let found = folder.display();
    match tempfile::NamedTempFile::new_in(folder) {
        Ok(_) => Check::new(what, Verdict::Good, format!("{found} is writable")),
        Err(e) => Check::new(what, Verdict::Bad, format!("{found} is not writable: {e}")).help(help),
    }
}

fn data_sets(data_dir: Option<&Path>) -> Vec<Check> {
    let check = |(name, found): (&str, rivalry::Result<Option<PathBuf>>)| match found {
        Ok(Some(path)) if path.is_dir() => Check::new(name, Verdict::Note, path.display().to_string())
            .help("an unpacked folder has no checksum to verify"),
        Ok(Some(path)) => Check::new(name, Verdict::Good, format!("{}, checksum verified", path.display())),
        Ok(None) => Check::new(name, Verdict::Good, "not on this machine; downloaded on first use"),
        Err(error) => {
            let text = error.to_string();
            let (found, help) = text
                .split_once("\n  help: ")
                .unwrap_or((&text, "remove it; the next use downloads it again"));
            Check::new(name, Verdict::Bad, found).help(help)
        }
    };
    data::inventory(data_dir).into_iter().map(check).collect()
}

fn trainings() -> Vec<Check> {
    let help = "results of this machine can't be trusted: please report this with the output above";
    let tests = match self_test() {
        Ok(tests) => tests,
        Err(error) => return vec![Check::new("training", Verdict::Bad, error.to_string()).help(help)],
    };
    let check = |tested: &SelfTest| {
        let what = format!("training {} with {}", tested.loss, tested.model);
        let found = format!("mean loss {:.6}, expected {:.6}", tested.found, tested.expected);
        match (tested.passed(), tested.same_bits) {
            (true, _) => {
                Check::new(what, Verdict::Good, format!("{found}; bit-identical with 1 and 3 threads"))
            }
            (false, true) => Check::new(what, Verdict::Bad, found).help(help),
            (false, false) => {
                Check::new(what, Verdict::Bad, format!("{found}; not bit-identical with 1 and 3 threads"))
                    .help(help)
            }
        }
    };
    tests.iter().map(check).collect()
}
