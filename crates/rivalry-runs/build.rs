//! Which commit is being built, for the records of runs: from git, or from what `cargo package` wrote down.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src");
    if let Some(commit) = from_git().or_else(from_package) {
        println!("cargo::rustc-env=RIVALRY_COMMIT={commit}");
    }
}

/// The commit that is checked out, with `+` if tracked files differ from it.
fn from_git() -> Option<String> {
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    // A package unpacked inside someone else's repository is not part of it.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
    Some(if changed { format!("{commit}+") } else { commit })
}

fn from_package() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    let commit: String = rest.chars().skip_while(|c| !c.is_ascii_hexdigit()).take(12).collect();
    (commit.len() == 12).then_some(commit)
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
