//! What a path leads to: one text, one Parquet file, or a bundle of files that belong together.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use super::unpack::{Zip, unpack};
use crate::{Error, InputError, Result};

pub(super) enum Source {
    Text(Text),
    Parquet(PathBuf),
    Bundle(Bundle),
}

/// A whole text in memory, free of wrappings and byte-order mark.
pub(super) struct Text {
    /// What errors call it.
    pub name: PathBuf,
    pub text: String,
}

impl Source {
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |e| Error::io("read", path, e);
        if fs::metadata(path).map_err(failed)?.is_dir() {
            return Bundle::folder(path)?.into_source();
        }
        let mut file = fs::File::open(path).map_err(failed)?;
        let mut bytes = Vec::new();
        file.by_ref().take(4).read_to_end(&mut bytes).map_err(failed)?;
        if bytes == b"PAR1" || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet")) {
            return Ok(Self::Parquet(path.to_owned()));
        }
        file.read_to_end(&mut bytes).map_err(failed)?;
        if Zip::is_one(&bytes) {
            return Bundle::zip(path, bytes)?.into_source();
        }
        Ok(Self::Text(Text::new(path.to_owned(), unpack(path, bytes)?)?))
    }

    /// The one text a format needs.
    pub fn text(&self, format: &str) -> Result<&Text> {
        match self {
            Self::Text(text) => Ok(text),
            Self::Parquet(path) => Err(unfit(path, format, "one text file", "a Parquet file")),
            Self::Bundle(bundle) => Err(unfit(&bundle.name, format, "one text file", "several files")),
        }
    }

    /// The bundle a format needs.
    pub fn bundle(&self, format: &str, needs: &str) -> Result<&Bundle> {
        match self {
            Self::Bundle(bundle) => Ok(bundle),
            Self::Parquet(path) => Err(unfit(path, format, needs, "a Parquet file")),
            Self::Text(text) => Err(unfit(&text.name, format, needs, "one text file")),
        }
    }
}

/// The error for a format that was asked for but can't be in such a place.
pub(super) fn unfit(name: &Path, format: &str, needs: &str, found: &str) -> Error {
    InputError::new(format!("the format '{format}' needs {needs}, this is {found}"))
        .file(name)
        .field("format")
        .help("leave the format out to have it found, or name another file")
        .into()
}

impl Text {
    /// Checks that the bytes are text, and not none.
    pub fn new(name: PathBuf, mut bytes: Vec<u8>) -> Result<Self> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            let fault = InputError::new("this is UTF-16 text, not UTF-8").file(name).line(1);
            return Err(fault.help("convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW").into());
        }
        if bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            bytes.drain(..3);
        }
        let line = |before: &[u8]| 1 + before.iter().filter(|&&b| b == b'\n').count() as u64;
        let text = String::from_utf8(bytes).map_err(|e| {
            let good = e.utf8_error().valid_up_to();
            InputError::new(format!("byte 0x{:02x} is not UTF-8 text", e.as_bytes()[good]))
                .file(&name)
                .line(line(&e.as_bytes()[..good]))
                .help("save the file as UTF-8, for example: iconv -f LATIN1 -t UTF-8 FILE > NEW")
        })?;
        if let Some(at) = text.find('\0') {
            let fault = InputError::new("a zero byte: this is not a text file").file(name);
            let help = "unpack archives such as .tar first; convert UTF-16 text to UTF-8";
            return Err(fault.line(line(&text.as_bytes()[..at])).help(help).into());
        }
        if text.trim_ascii().is_empty() {
            return Err(InputError::new("the file is empty")
                .file(name)
                .help("give a file with interactions")
                .into());
        }
        Ok(Self { name, text })
    }

    /// The file's own name in lower case, without the ending of its wrapping.
    pub fn base_name(&self) -> String {
        let name = self.name.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let bare = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst"));
        bare.unwrap_or(&name).to_owned()
    }
}
<<<<<<< HEAD

impl Bundle {
    fn folder(path: &Path) -> Result<Self> {
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

    fn zip(path: &Path, bytes: Vec<u8>) -> Result<Self> {
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
    fn into_source(self) -> Result<Source> {
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
            None => unpack(&path, fs::read(&path).map_err(|e| Error::io("read", &path, e))?)?,
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
=======
>>>>>>> read
