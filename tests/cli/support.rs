//! A folder of its own for each test, small data, and ways to run the command in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::Value;
use tempfile::TempDir;

/// Settings of a fast training.
pub const SMALL: &[&str] = &["--epochs", "4", "--eval-every", "2", "--negatives", "10", "--dim", "8"];

/// A folder to work in.
pub struct World(TempDir);

impl World {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with a small log of interactions in it, `log.csv`.
    pub fn with_log() -> Self {
        let world = Self::new();
        world.write("log.csv", &log());
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: &(impl AsRef<[u8]> + ?Sized)) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The text of a file as releases without checksums wrote it.
    pub fn without_checksum(&self, name: &str) -> String {
        let text = String::from_utf8(self.read(name)).unwrap();
        let head = |line: &&str| line.contains("xxh3-") || line.contains("\"format\": \"rivalry-");
        text.lines().filter(|line| !head(line)).map(|line| format!("{line}\n")).collect()
    }

    /// Runs a command whose standard output is closed by its reader at once. It must succeed; returns what it prints to
    /// standard error.
    pub fn ok_with_closed_output(&self, args: &[&str]) -> String {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_rivalry"))
            .args(args)
            .current_dir(self.0.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        said
    }

    pub fn command(&self, args: &[&str]) -> assert_cmd::Command {
        let mut command = cargo_bin_cmd!("rivalry");
        // Independent of this machine's data sets.
        command
            .current_dir(self.0.path())
            .env_remove("RIVALRY_DATA")
            .env("XDG_CACHE_HOME", self.path("cache"));
        command.args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs a command that must succeed; returns its standard output and standard error.
    pub fn ok(&self, args: &[&str]) -> (String, String) {
        let output = self.run(args);
        let (out, err) = texts(&output);
        assert!(output.status.success(), "{args:?}: {err}");
        (out, err)
    }

    /// Runs a command that must succeed and print one JSON document.
    pub fn json(&self, args: &[&str]) -> Value {
        let (out, _) = self.ok(args);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}"))
    }

    /// Runs a command that must fail with this exit code, print no result and change no file; returns its standard error.
    pub fn fails(&self, code: i32, args: &[&str]) -> String {
        let before = self.files();
        let output = self.run(args);
        let (out, err) = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {err}");
        assert_eq!(out, "", "{args:?}");
        assert!(err.starts_with("error: ") && !err.contains("panicked"), "{args:?}: {err}");
        assert!(self.files() == before, "{args:?} changed files");
        err
    }

    /// Trains on `log.csv` into the folder `out`.
    pub fn train(&self, out: &str, more: &[&str]) -> Value {
        self.json(&[&["train", "--data", "log.csv", "--json", "--out", out], SMALL, more].concat())
    }

    /// Every file with its content, and every folder.
    pub fn files(&self) -> Vec<(PathBuf, Option<Vec<u8>>)> {
        let mut found = vec![];
        walk(self.0.path(), &mut found);
        found.sort();
        found
    }
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Option<Vec<u8>>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
            found.push((path, None));
        } else {
            let content = fs::read(&path).unwrap();
            found.push((path, Some(content)));
        }
    }
}

pub fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

/// 30 users with 10 of 40 items each, ids that are no numbers, ratings and times.
pub fn log() -> String {
    let mut text = "user,item,rating,time\n".to_owned();
    for user in 0..30 {
        for n in 0..10 {
            let item = (user * 7 + n * 3) % 40;
            text += &format!("user {user},item/{item},{},{}\n", n % 5 + 1, 1000 + 31 * user + n);
        }
    }
    text
}

/// Asserts that a text holds all of these.
pub fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "'{part}' is not in:\n{text}");
    }
}
