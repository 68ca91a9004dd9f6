//! Where a result goes that the user named: a regular file, which appears complete or not at all, or a stream.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use super::atomic::{TEMP_PREFIX, folder_of, sync_folder};
use super::pending::PendingFile;
use crate::{Error, InputError, Result};

/// The most symbolic links that are followed one after the other.
const MAX_LINKS: usize = 40;

/// A destination that was checked before any work is done.
///
/// A regular file is written under a temporary name and renamed when it is complete. A symbolic link stays, and the file
/// it points to is replaced. Standard output (`-`, `/dev/stdout`), pipes and character devices are written to as they
/// are.
///
/// ```
/// use rivalry_data::files::Output;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("result.txt");
/// Output::new(&path, false)?.write_all(b"42\n")?;
/// assert!(Output::new(&path, false).is_err(), "it already exists");
/// # Ok::<(), rivalry_data::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    given: PathBuf,
    destination: Destination,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Destination {
    /// A regular file at this path, behind all links.
    File(PathBuf),
    Stdout,
    /// A pipe or a character device.
    Device,
}

impl Output {
    /// Checks a path. An existing file is refused unless `replace` is set.
    ///
    /// # Errors
    /// If there is such a file, a folder or a block device, or no folder to write the file to.
    pub fn new(path: &Path, replace: bool) -> Result<Self> {
        let output = |destination| Ok(Self { given: path.to_owned(), destination });
        let file = match follow_links(path)? {
            Destination::File(file) => file,
            stream => return output(stream),
        };
        let refuse = |what: &str, help: &str| Err(InputError::new(what).file(path).help(help).into());
        match std::fs::metadata(path).map(|found| found.file_type()) {
            Ok(kind) if kind.is_dir() => refuse("is a folder", "give the name of a file"),
            Ok(kind) if is_block_device(kind) => {
                refuse("is a block device, which is not written to", "give the name of a file")
            }
            Ok(kind) if !kind.is_file() => output(Destination::Device),
            Ok(_) if !replace => {
                refuse("already exists", "choose another name, or add --force to replace it")
            }
            _ if !folder_of(&file).is_dir() => {
                refuse("can't be written: there is no such folder", "create the folder first")
            }
            _ => output(Destination::File(file)),
        }
    }

    /// The regular file that is written, behind all links; `None` for a stream.
    pub fn file(&self) -> Option<&Path> {
        match &self.destination {
            Destination::File(path) => Some(path),
            Destination::Stdout | Destination::Device => None,
        }
    }

    /// Whether the result goes to standard output, which should then hold nothing else.
    pub fn is_standard_output(&self) -> bool {
        self.destination == Destination::Stdout
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// Starts writing. Unless it is [finished](OutputWriter::finish), a regular file stays as it was.
    ///
    /// # Errors
    /// If the file can't be created or the device can't be opened.
    pub fn create(&self) -> Result<OutputWriter> {
        let sink = match &self.destination {
            Destination::File(path) => PendingFile::new(folder_of(path), TEMP_PREFIX).map(Sink::File),
            Destination::Stdout => Ok(Sink::Stdout(io::stdout())),
            Destination::Device => OpenOptions::new().write(true).open(&self.given).map(Sink::Device),
        };
        let sink = sink.map_err(|e| Error::io("write", &self.given, e))?;
        Ok(OutputWriter { output: self.clone(), sink: BufWriter::new(sink) })
    }

    /// Writes a whole result.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_all(&self, bytes: &[u8]) -> Result<()> {
        let mut writer = self.create()?;
        writer.write_all(bytes).map_err(|e| Error::io("write", &self.given, e))?;
        writer.finish()
    }
}

/// A result that is being written.
pub struct OutputWriter {
    output: Output,
    sink: BufWriter<Sink>,
}

enum Sink {
    File(PendingFile),
    Stdout(Stdout),
    Device(File),
}

impl OutputWriter {
    /// Completes the result: a regular file is synced to disk and gets its name.
    ///
    /// # Errors
    /// If that fails. Then a regular file is as it was before.
    pub fn finish(self) -> Result<()> {
        let Self { output, sink } = self;
        let fail = |e| Error::io("write", &output.given, e);
        let mut sink = sink.into_inner().map_err(|e| fail(e.into_error()))?;
        sink.flush().map_err(fail)?;
        if let (Sink::File(pending), Destination::File(path)) = (sink, &output.destination) {
            pending.persist(path).map_err(fail)?;
            let _ = sync_folder(folder_of(path));
        }
        Ok(())
    }
}

impl Write for OutputWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(pending) => pending.file_mut().write(bytes),
            Self::Stdout(out) => out.write(bytes),
            Self::Device(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(pending) => pending.file_mut().flush(),
            Self::Stdout(out) => out.flush(),
            Self::Device(file) => file.flush(),
        }
    }
}

/// `-`, and the names that Unix has for it.
fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether the path names an open file of this process, which a new file must not take the place of.
fn is_descriptor(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd") || path == Path::new("/dev/stderr")
}

#[cfg(unix)]
fn is_block_device(kind: FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&kind)
}

#[cfg(not(unix))]
fn is_block_device(_: FileType) -> bool {
    false
}

/// What is behind all symbolic links; a file need not exist.
fn follow_links(path: &Path) -> Result<Destination> {
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        if is_standard_output(&at) {
            return Ok(Destination::Stdout);
        }
        if is_descriptor(&at) {
            return Ok(Destination::Device);
        }
        let Ok(target) = std::fs::read_link(&at) else { return Ok(Destination::File(at)) };
        at = folder_of(&at).join(target);
    }
    let error = InputError::new(format!("more than {MAX_LINKS} symbolic links, one after the other"));
    Err(error.file(path).help("give the name of a file").into())
}

#[cfg(test)]
mod tests;
