//! Files that belong together, in a folder or a zip file.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive::{Decompressed, EXTENSIONS, Zip, decompress};
use super::foreign::refuse_workbook;
use super::parallel::Sizes;
use super::parts::{PartFiles, is_hidden};
use super::source::{Source, TOO_LARGE, Text, check_size};
use crate::memory::MemoryLimit;
use crate::prepared_checksums::PreparedChecksums;
use crate::{Error, InputError, Result};

/// File names that hold the interactions even when other files lie beside them.
const INTERACTION_FILES: [&str; 3] = ["u.data", "ratings.dat", "ratings.csv"];

/// A folder or zip file and its contents.
pub(super) struct Bundle {
    pub name: PathBuf,
    files: Vec<BundledFile>,
    /// The folder inside a zip file that holds the parts, with a trailing slash.
    root: String,
    /// `None` for a folder.
    zip: Option<Zip>,
    memory: MemoryLimit,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BundledFile {
    name: String,
    /// The index in the zip file.
    index: usize,
}

impl Bundle {
    pub fn folder(path: &Path, memory: MemoryLimit) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.path().is_file()
                && let Ok(name) = entry.file_name().into_string()
                && !is_hidden(&name)
            {
                files.push(BundledFile { name, index: 0 });
            }
        }
        Ok(Self::new(path, files, None, memory))
    }

    pub fn zip(path: &Path, bytes: Vec<u8>, memory: MemoryLimit) -> Result<Self> {
        let zip = Zip::open(path, bytes)?;
        refuse_workbook(path, zip.files().into_iter().map(|(name, _)| name))?;
        let files = zip.files().into_iter().map(|(name, index)| BundledFile { name, index }).collect();
        Ok(Self::new(path, files, Some(zip), memory))
    }

    fn new(path: &Path, mut files: Vec<BundledFile>, zip: Option<Zip>, memory: MemoryLimit) -> Self {
        // Ignore what desktops leave behind: .DS_Store, __MACOSX/._train.tsv
        files.retain(|file| !file.name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX"));
        files.sort();
        let root = root(&files).to_owned();
        Self { name: path.to_owned(), files, root, zip, memory }
    }

    /// The whole bundle if it has a training and a test set, otherwise its only file of interactions.
    pub fn into_source(self) -> Result<Source> {
        let sets = |e: &&str| {
            // Without a test set, the id lists tell a prepared folder from one that happens to hold a train.tsv.
            self.has(&format!("train.{e}"))
                && (self.has(&format!("test.{e}")) || self.has(&format!("user_list.{e}")))
        };
        if ["csv", "tsv", "txt"].iter().any(sets) {
            return Ok(Source::Bundle(self));
        }
        let known = |file: &&BundledFile| {
            INTERACTION_FILES.contains(&base_name(&file.name)) || file.name.ends_with(".inter")
        };
        let known: Vec<&BundledFile> = self.files.iter().filter(known).collect();
        if let [file] = self.files.as_slice() {
            return self.open(file);
        }
        if let [file] = known[..] {
            return self.open(file);
        }
        if let Some(parts) = self.parts()? {
            return Ok(Source::Parts(parts));
        }
        let names: Vec<&str> = self.files.iter().take(12).map(|file| file.name.as_str()).collect();
        let message = match self.files.len() {
            0 => "no files inside".to_owned(),
            n => format!("can't tell which of the {n} files inside to read: {}", names.join(", ")),
        };
        let help = "give the path of one (extracted) file, or put train.csv and test.csv (or .tsv, .txt) \
                    together; files that are parts of one table have numbers in their names (part-0000.csv, …)";
        Err(InputError::new(message).file(self.name).help(help).into())
    }

    /// The files as parts of one table, if they are.
    fn parts(&self) -> Result<Option<PartFiles>> {
        if self.zip.is_some() {
            return Ok(None);
        }
        let Some(parts) = PartFiles::find(&self.name)? else { return Ok(None) };
        let size = |file: &PathBuf| fs::metadata(file).map_or(0, |metadata| metadata.len());
        let required = self.memory.require(parts.files.iter().map(size).sum(), "reading it");
        required.map_err(|error| error.file(&self.name).help(TOO_LARGE))?;
        Ok(Some(parts))
    }

    fn open(&self, file: &BundledFile) -> Result<Source> {
        let path = self.name.join(&file.name);
        match &self.zip {
            None => Source::open(&path, self.memory, Sizes::default()),
            Some(_) if file.name.to_lowercase().ends_with(".parquet") => {
                let error = InputError::new("Parquet files inside zip files are not supported").file(path);
                Err(error.help("extract it first").into())
            }
            Some(zip) => {
                let bytes = zip.read(&path, file.index, self.memory)?;
                Ok(Source::Text(Text::new(path, bytes)?))
            }
        }
    }

    /// Whether there is a file of this name, compressed or not.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The content of the file of this name, decompressed. In a prepared data set it must have its listed checksum.
    pub fn text(&self, name: &str) -> Result<Text> {
        let (path, content) = self.content(name)?;
        if let Some(checksums) = self.checksums()? {
            checksums.check(name, &content.bytes).map_err(|fault| fault.file(&path))?;
        }
        Text::new(path, content)
    }

    /// The checksums of a prepared data set; `None` if it is none.
    ///
    /// # Errors
    /// If the list is damaged, or a file on it is missing.
    pub fn checksums(&self) -> Result<Option<PreparedChecksums>> {
        if !self.has(PreparedChecksums::FILE) {
            return Ok(None);
        }
        let (path, content) = self.content(PreparedChecksums::FILE)?;
        let checksums = PreparedChecksums::parse(&content.bytes).map_err(|fault| fault.file(&path))?;
        let missing = checksums.iter().flat_map(PreparedChecksums::names).find(|name| !self.has(name));
        match missing {
            Some(name) => Err(PreparedChecksums::missing(name).file(&self.name).into()),
            None => Ok(checksums),
        }
    }

    fn content(&self, name: &str) -> Result<(PathBuf, Decompressed)> {
        let Some(file) = self.find(name) else {
            let error = InputError::new(format!("there is no {name} inside")).file(&self.name);
            return Err(error.help("put it beside the other parts").into());
        };
        let path = self.name.join(&file.name);
        let content = match &self.zip {
            None => {
                check_size(&path, self.memory)?;
                let bytes = fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
                decompress(&path, bytes, self.memory)?
            }
            Some(zip) => zip.read(&path, file.index, self.memory)?,
        };
        Ok((path, content))
    }

    fn find(&self, name: &str) -> Option<&BundledFile> {
        self.files
            .iter()
            .find(|file| file.name.strip_prefix(&self.root).is_some_and(|rest| matches_name(rest, name)))
    }
}

/// The folder of the training set if there is exactly one: in a zip file, all parts may lie in a subfolder.
fn root(files: &[BundledFile]) -> &str {
    let is_train = |name: &str| {
        ["train.csv", "train.tsv", "train.txt"].iter().any(|train| matches_name(base_name(name), train))
    };
    let mut roots = files.iter().filter(|file| is_train(&file.name)).map(|file| folder(&file.name));
    match (roots.next(), roots.next()) {
        (Some(root), None) => root,
        _ => "",
    }
}

/// Whether `file` is `name`, perhaps with the extension of a compression.
fn matches_name(file: &str, name: &str) -> bool {
    file.strip_prefix(name).is_some_and(|extension| extension.is_empty() || EXTENSIONS.contains(&extension))
}

fn base_name(name: &str) -> &str {
    &name[folder(name).len()..]
}

fn folder(name: &str) -> &str {
    &name[..name.rfind('/').map_or(0, |slash| slash + 1)]
}
