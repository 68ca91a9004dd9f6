//! Files of entries, sorted by user and item.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use super::core::Kept;
use super::{Budget, Entry};
use crate::Interactions;
use crate::error::{Error, Result};
use crate::log::Log;

/// A file of entries, deleted when it is dropped.
pub(super) struct PairFile<E> {
    path: PathBuf,
    entry: PhantomData<E>,
}

impl<E> Drop for PairFile<E> {
    fn drop(&mut self) {
        // What can't be deleted now is deleted with its folder.
        let _ = fs::remove_file(&self.path);
    }
}

/// Writes a file of entries.
pub(super) struct PairWriter<E> {
    file: PairFile<E>,
    writer: BufWriter<File>,
    bytes: Vec<u8>,
}

impl<E: Entry> PairWriter<E> {
    pub fn create(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(|e| Error::io("write", &path, e))?;
        let writer = BufWriter::with_capacity(1 << 18, file);
        Ok(Self { file: PairFile { path, entry: PhantomData }, writer, bytes: Vec::new() })
    }

    pub fn push(&mut self, entry: E) -> Result<()> {
        entry.write(&mut self.bytes);
        if self.bytes.len() >= 1 << 16 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.writer.write_all(&self.bytes);
        self.bytes.clear();
        written.map_err(|e| Error::io("write", &self.file.path, e))
    }

    pub fn finish(mut self) -> Result<PairFile<E>> {
        self.flush()?;
        self.writer.flush().map_err(|e| Error::io("write", &self.file.path, e))?;
        Ok(self.file)
    }
}

impl<E: Entry> PairFile<E> {
    /// The folder of the file.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Reads the entries in order, with this many bytes in memory.
    pub fn read(&self, buffer: usize) -> Result<PairReader<'_, E>> {
        let file = File::open(&self.path).map_err(|e| Error::io("read", &self.path, e))?;
        let size = buffer.max(E::BYTES) / E::BYTES * E::BYTES;
        Ok(PairReader { pairs: self, file, bytes: Vec::new(), at: 0, size, users: Vec::new(), next: None })
    }
}

/// Reads a file of entries.
pub(super) struct PairReader<'f, E> {
    pairs: &'f PairFile<E>,
    file: File,
    bytes: Vec<u8>,
    at: usize,
    size: usize,
    /// The entries of the users last returned, and the first entry after these.
    users: Vec<E>,
    next: Option<E>,
}

impl<E: Entry> PairReader<'_, E> {
    /// The next entry.
    pub fn next(&mut self) -> Result<Option<E>> {
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
            let read = (&self.file).take(self.size as u64).read_to_end(&mut self.bytes);
            read.map_err(|e| Error::io("read", &self.pairs.path, e))?;
        }
        let entry = self.bytes[self.at..].get(..E::BYTES).map(E::read);
        self.at += if entry.is_some() { E::BYTES } else { 0 };
        Ok(entry)
    }

    /// All entries of the next users, about as many as `limit` or those of one user.
    pub fn next_users(&mut self, limit: usize) -> Result<Option<&[E]>> {
        self.users.clear();
        self.users.extend(self.next.take());
        while let Some(entry) = self.next()? {
            let begins_user = self.users.last().is_some_and(|last| last.user() != entry.user());
            if begins_user && self.users.len() >= limit {
                self.next = Some(entry);
                break;
            }
            self.users.push(entry);
        }
        Ok((!self.users.is_empty()).then_some(&self.users))
    }
}

/// The pairs that are left by the filters, some users at a time.
pub(super) struct LogBlocks<'a, E> {
    pub pairs: &'a PairFile<E>,
    pub kept: &'a Kept,
    /// The new dense id of each item.
    pub items: Vec<u32>,
    pub n_items: usize,
    pub budget: &'a Budget,
}

impl<E: Entry> LogBlocks<'_, E> {
    /// Calls `f` with all users in order. Users and items have new dense ids, without those that the filters leave out.
    pub fn each(&self, f: &mut dyn FnMut(Log) -> Result<()>) -> Result<()> {
        let mut reader = self.pairs.read(self.budget.buffer)?;
        let mut first_user = 0;
        while let Some(entries) = reader.next_users(self.budget.block)? {
            let (mut offsets, mut items, mut at) = (vec![0], Vec::new(), Vec::new());
            for entries in entries.chunk_by(|one, other| one.user() == other.user()) {
                let left = entries.iter().filter(|entry| self.kept.has(**entry));
                for entry in left {
                    items.push(self.items[entry.item()]);
                    if E::TIMED {
                        at.push(entry.at());
                    }
                }
                if offsets.last() != Some(&items.len()) {
                    offsets.push(items.len());
                }
            }
            let users = offsets.len() as u32 - 1;
            if users > 0 {
                let table = Interactions::from_rows(self.n_items, offsets, items);
                f(Log { table, first_user, parts: None, at: E::TIMED.then_some(at) })?;
                first_user += users;
            }
        }
        Ok(())
    }
}
