//! Flips one random bit of a random file of a run, a sweep or a prepared data set, and runs a command that reads the file.
//! The command must refuse the file by name, or report the damage and end with the result of the intact file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use tempfile::TempDir;

use crate::kill::{no_panic, rivalry, said, succeed};
use crate::random::Random;
use crate::scenarios::{names, write_log};

/// Files that no command of one process reads: their content is printed or derived from the others. `blocks.txt` is read by the
/// ranks of a training over MPI.
const NEVER_READ: [&str; 3] = ["index.json", "summary.txt", "blocks.txt"];

/// What is searched, after the path of the log.
const SEARCH: &str = "
model = { type = 'mf', dim = 8, score = 'dot' }
train = { epochs = 4, eval_every = 2, negatives = 20, batch_size = 50 }
[[grid]]
loss = { type = 'sl', tau = [0.2, 0.3] }
optim.lr = [0.01, 1e30]
";

/// What became of the flips.
#[derive(Default)]
pub struct Flips {
    pub refused: usize,
    pub repaired: usize,
    /// What happened instead.
    pub unnoticed: Vec<String>,
}

impl Flips {
    pub fn total(&self) -> usize {
        self.refused + self.repaired + self.unnoticed.len()
    }
}

/// A file, and the commands that read it.
struct Target {
    file: PathBuf,
    commands: Vec<Vec<String>>,
}

/// Flips so many bits, one at a time.
pub fn flip_bits(random: &mut Random, count: usize) -> Result<Flips, String> {
    let world = tempfile::tempdir().map_err(|e| e.to_string())?;
    make(world.path())?;
    let targets = targets(world.path())?;
    let mut flips = Flips::default();
    for _ in 0..count {
        let target = random.one_of(&targets);
        let command: Vec<&str> = random.one_of(&target.commands).iter().map(String::as_str).collect();
        let intact = in_copy(world.path(), target, &command, None)?;
        if !intact.output.status.success() {
            return Err(format!("{command:?} fails without damage: {}", said(&intact.output)));
        }
        let bits = 8 * fs::metadata(world.path().join(&target.file)).map_err(|e| e.to_string())?.len();
        let bit = random.below(bits as usize);
        let damaged = in_copy(world.path(), target, &command, Some(bit))?;
        no_panic(&damaged.output)?;
        let name = target.file.file_name().unwrap_or_default().to_string_lossy();
        let named = said(&damaged.output).contains(&*name);
        match damaged.output.status.success() {
            false if named => flips.refused += 1,
            true if named && damaged.model == intact.model => flips.repaired += 1,
            _ => flips.unnoticed.push(format!(
                "bit {bit} of {}, {command:?}: {} {}",
                target.file.display(),
                damaged.output.status,
                said(&damaged.output)
            )),
        }
    }
    Ok(flips)
}

/// Makes a run, a sweep with a trial that fails, and a prepared data set.
fn make(world: &Path) -> Result<(), String> {
    write_log(&world.join("log.csv"), 60);
    let search = format!("[base]\ndata.source = '{}'{SEARCH}", world.join("log.csv").display());
    fs::write(world.join("search.toml"), search).map_err(|e| e.to_string())?;
    let train = ["train", "--data", "log.csv", "--loss", "dsl", "--epochs", "4", "--eval-every", "2"];
    let small = ["--negatives", "20", "--dim", "8", "--quiet", "--out", "run"];
    succeed(rivalry(world, &[&train[..], &small].concat()))?;
    succeed(rivalry(world, &["inspect", "run", "--pairs", "20"]))?;
    let log = fs::File::open(world.join("log.csv")).map_err(|e| e.to_string())?;
    let mut piped = rivalry(world, &["train", "--data", "-", "--model", "popularity", "--out", "piped"]);
    piped.stdin(log);
    succeed(piped)?;
    succeed(rivalry(world, &["sweep", "search.toml", "--keep-models", "--quiet", "--out", "sweep"]))?;
    succeed(rivalry(world, &["data", "prepare", "log.csv", "set"])).map(|_| ())
}

/// Every file that is read again.
fn targets(world: &Path) -> Result<Vec<Target>, String> {
    let mut files: Vec<PathBuf> = vec![];
    for folder in ["run", "piped", "sweep", "set"].map(PathBuf::from) {
        let inside = |folder: &Path| -> Vec<PathBuf> {
            names(&world.join(folder)).iter().map(|name| folder.join(name)).collect()
        };
        for path in inside(&folder) {
            if world.join(&path).is_dir() { files.extend(inside(&path)) } else { files.push(path) }
        }
    }
    files.retain(|file| !NEVER_READ.iter().any(|name| file.ends_with(name)));
    // Leases are no results: a damaged one counts as that of a process that is gone.
    files.retain(|file| !file.starts_with("sweep/.leases"));
    let targets = files.into_iter().map(|file| {
        let commands = commands(&file)?;
        Ok(Target { file, commands })
    });
    targets.collect()
}

/// The commands that read a file.
fn commands(file: &Path) -> Result<Vec<Vec<String>>, String> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let run = file.parent().unwrap_or(file).display();
    let report = format!("report {run} --out report.html");
    let of_all: &[String] = match file.file_name().unwrap_or_default().to_string_lossy().as_ref() {
        "model.safetensors" => &[
            format!("evaluate {run} --json"),
            format!("recommend {run} --user u1"),
            format!("train --resume {run}"),
        ],
        "checkpoint" => &[format!("train --resume {run}"), format!("train --resume {run} --epochs 6")],
        "config.toml" if !file.starts_with("sweep") => &[report, format!("train --resume {run}")],
        "config.toml" => &[report, "sweep search.toml --out sweep".to_owned()],
        "metrics.json" if !file.starts_with("sweep") => {
            &[report, format!("evaluate {run} --verify"), format!("train --resume {run}")]
        }
        "metrics.json" => &[report, "sweep search.toml --out sweep".to_owned()],
        "log.jsonl" => &[report, format!("train --resume {run}")],
        "inspect.json" => &[report],
        "stdin" => &[format!("evaluate {run}")],
        "failed.txt" => &[report, "sweep search.toml --out sweep".to_owned()],
        "chosen.json" => &["compare sweep".to_owned()],
        "train.tsv" | "valid.tsv" | "test.tsv" | "user_list.tsv" | "item_list.tsv" | "checksums.txt" => {
            &["data stats set".to_owned()]
        }
        other => return Err(format!("which command reads '{other}'?")),
    };
    Ok(of_all.iter().map(|command| words(command)).collect())
}

struct Done {
    output: Output,
    /// The model afterwards, if there is one beside the file.
    model: Option<Vec<u8>>,
}

/// Runs a command on a copy of the target's folder, with a bit of the file flipped.
fn in_copy(world: &Path, target: &Target, command: &[&str], bit: Option<usize>) -> Result<Done, String> {
    let copy: TempDir = tempfile::tempdir().map_err(|e| e.to_string())?;
    let fail = |e: std::io::Error| e.to_string();
    fs::copy(world.join("search.toml"), copy.path().join("search.toml")).map_err(fail)?;
    let folder = target.file.iter().next().ok_or("a path")?;
    copy_folder(&world.join(folder), &copy.path().join(folder)).map_err(fail)?;
    let file = copy.path().join(&target.file);
    if let Some(bit) = bit {
        let mut content = fs::read(&file).map_err(fail)?;
        content[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, content).map_err(fail)?;
    }
    let output = rivalry(copy.path(), command).output().map_err(fail)?;
    let model = fs::read(file.with_file_name("model.safetensors")).ok();
    Ok(Done { output, model })
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy_folder(&entry.path(), &to)?,
            false => fs::copy(entry.path(), &to).map(|_| ())?,
        }
    }
    Ok(())
}
