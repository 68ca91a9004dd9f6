//! Files that belong together, in a folder or a zip file.

use std::fs;
use std::path::{Path, PathBuf};

use super::source::{Source, Text, fits};
use super::unpack::{Zip, unpack};
use crate::{Error, InputError, Result};

/// Files that hold interactions wherever they lie, so that a folder or zip with descriptions beside them needs
/// no choosing.
const INTERACTION_FILES: [&str; 3] = ["u.data", "ratings.dat", "ratings.csv"];

/// A folder or zip file and what it holds.
pub(super) struct Bundle {
    pub name: PathBuf,
    files: Vec<(String, usize)>,
    /// Where in a zip file the parts lie, with the slash.
    home: String,
    /// `None` for a folder.
    zip: Option<Zip>,
}

impl Bundle {
    pub fn folder(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.path().is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                files.push((name, 0));
            }
        }
        Ok(Self::new(path, files, None))
    }

    pub fn zip(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        let zip = Zip::open(path, bytes)?;
        Ok(Self::new(path, zip.files(), Some(zip)))
    }

    fn new(name: &Path, mut files: Vec<(String, usize)>, zip: Option<Zip>) -> Self {
        // What desktops leave behind: .DS_Store, __MACOSX/._train.tsv
        files.retain(|(name, _)| !name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX"));
        files.sort();
        let home = home(&files).to_owned();
        Self { name: name.to_owned(), files, home, zip }
    }

    /// All of it if it names its own parts, otherwise the one file that must be meant.
    pub fn into_source(self) -> Result<Source> {
        if ["tsv", "txt"].iter().any(|e| self.has(&format!("train.{e}")) && self.has(&format!("test.{e}"))) {
            return Ok(Source::Bundle(self));
        }
        let known = |name: &str| INTERACTION_FILES.contains(&base(name)) || name.ends_with(".inter");
        let known: Vec<&(String, usize)> = self.files.iter().filter(|(name, _)| known(name)).collect();
        if let [file] = self.files.as_slice() {
            return self.open(file);
        }
        if let [file] = known[..] {
            return self.open(file);
        }
        let names: Vec<&str> = self.files.iter().take(12).map(|(name, _)| name.as_str()).collect();
        let message = match self.files.len() {
            0 => "no files inside".to_owned(),
            n => format!("can't tell which of the {n} files inside to read: {}", names.join(", ")),
        };
        let help =
            "name one file (unpacked), or give train.tsv and test.tsv, or train.txt and test.txt, together";
        Err(InputError::new(message).file(self.name).help(help).into())
    }

    fn open(&self, (name, number): &(String, usize)) -> Result<Source> {
        let path = self.name.join(name);
        match &self.zip {
            None => Source::open(&path),
            Some(_) if name.to_lowercase().ends_with(".parquet") => {
                let fault = InputError::new("a Parquet file can't be read inside a zip file").file(path);
                Err(fault.help("unpack it first").into())
            }
            Some(zip) => Ok(Source::Text(Text::new(path.clone(), zip.read(&path, *number)?)?)),
        }
    }

    /// Whether there is such a file, wrapped or not.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The text of such a file, wrapped or not.
    pub fn text(&self, name: &str) -> Result<Text> {
        let Some((name, number)) = self.find(name) else {
            let fault = InputError::new(format!("there is no {name} inside")).file(&self.name);
            return Err(fault.help("put it beside the other parts").into());
        };
        let path = self.name.join(name);
        let bytes = match &self.zip {
            None => {
                fits(&path)?;
                unpack(&path, fs::read(&path).map_err(|e| Error::io("read", &path, e))?)?
            }
            Some(zip) => zip.read(&path, *number)?,
        };
        Text::new(path, bytes)
    }

    fn find(&self, name: &str) -> Option<&(String, usize)> {
        self.files.iter().find(|(file, _)| file.strip_prefix(&self.home).is_some_and(|file| is(file, name)))
    }
}

/// The one folder that holds a training part, so that all parts may lie in a folder of a zip file.
fn home(files: &[(String, usize)]) -> &str {
    let train = |name: &str| is(base(name), "train.tsv") || is(base(name), "train.txt");
    let mut homes = files.iter().filter(|(name, _)| train(name)).map(|(name, _)| folder(name));
    match (homes.next(), homes.next()) {
        (Some(home), None) => home,
        _ => "",
    }
}

fn is(file: &str, name: &str) -> bool {
    file.strip_prefix(name).is_some_and(|ending| ["", ".gz", ".zst"].contains(&ending))
}

fn base(name: &str) -> &str {
    &name[folder(name).len()..]
}

fn folder(name: &str) -> &str {
    &name[..name.rfind('/').map_or(0, |slash| slash + 1)]
}
