//! The files of a prepared data set.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{ITEM_LIST, SUMMARY, TEST, TRAIN, USER_LIST, VALID};
use crate::error::{Error, Result};
use crate::files::checksum::ChecksumWriter;
use crate::ids::decimal;
use crate::prepared_blocks::{BlockFinder, PreparedBlocks, USERS};
use crate::prepared_checksums::PreparedChecksums;
use crate::{AppliedSplit, Interactions, Part, Stats};

const HEADER: &[u8] = b"user_procid\titem_procid\n";

/// Writes the files to a folder.
pub(crate) struct Files<'f> {
    folder: &'f Path,
    checksums: PreparedChecksums,
    blocks: PreparedBlocks,
}

/// What `summary.txt` says.
pub(crate) struct Summary<'a> {
    pub name: &'a str,
    pub stats: &'a Stats,
    pub checksum: &'a str,
    pub split: Option<&'a AppliedSplit>,
    pub notes: &'a [String],
    pub warnings: &'a [String],
}

impl<'f> Files<'f> {
    pub fn new(folder: &'f Path) -> Self {
        Self { folder, checksums: PreparedChecksums::default(), blocks: PreparedBlocks::default() }
    }

    /// Begins a table of pairs.
    pub fn pairs(&self, part: Part) -> Result<PairsFile> {
        let name = match part {
            Part::Train => TRAIN,
            Part::Valid => VALID,
            Part::Test => TEST,
        };
        let mut file = DataFile::create(self.folder, name)?;
        file.write(HEADER)?;
        Ok(PairsFile { file, pairs: 0, users: 0, blocks: BlockFinder::new(HEADER.len()) })
    }

    /// Completes a table of pairs. There is no empty validation or test set.
    pub fn finish_pairs(&mut self, part: Part, file: PairsFile) -> Result<()> {
        let PairsFile { file, pairs, users, blocks } = file;
        if pairs == 0 && part != Part::Train {
            return std::fs::remove_file(&file.path)
                .map_err(|source| Error::io("delete", &file.path, source));
        }
        self.blocks.tables.insert(file.name(), blocks.finish(users));
        self.put(file)
    }

    /// Writes the list of the original ids of `user` or `item`.
    pub fn ids<'i>(&mut self, noun: &str, ids: impl Iterator<Item = &'i str>) -> Result<()> {
        let name = if noun == "user" { USER_LIST } else { ITEM_LIST };
        let mut file = DataFile::create(self.folder, name)?;
        let mut bytes = format!("{noun}_orgid\t{noun}_procid\n").into_bytes();
        let mut digits = [0; 10];
        for (dense, id) in (0..).zip(ids) {
            bytes.extend_from_slice(id.as_bytes());
            bytes.push(b'\t');
            bytes.extend_from_slice(decimal(dense, &mut digits));
            bytes.push(b'\n');
            if bytes.len() >= 1 << 16 {
                file.write(&bytes)?;
                bytes.clear();
            }
        }
        file.write(&bytes)?;
        self.put(file)
    }

    /// Writes the list of blocks, the checksums of the other files, and the summary.
    pub fn finish(mut self, summary: &Summary<'_>) -> Result<()> {
        summary.checksum.clone_into(&mut self.blocks.data);
        let mut file = DataFile::create(self.folder, PreparedBlocks::FILE)?;
        file.write(&self.blocks.to_bytes())?;
        self.put(file)?;
        let mut file = DataFile::create(self.folder, PreparedChecksums::FILE)?;
        file.write(&self.checksums.to_bytes())?;
        file.finish()?;
        let Summary { name, stats, checksum, split, notes, warnings } = *summary;
        let mut text = format!("{name}\n\n{stats}\nchecksum           {checksum}\n");
        split.iter().for_each(|split| text += &format!("split              {split}\n"));
        notes.iter().for_each(|note| text += &format!("note               {note}\n"));
        warnings.iter().for_each(|warning| text += &format!("warning            {warning}\n"));
        let mut file = DataFile::create(self.folder, SUMMARY)?;
        file.write(text.as_bytes())?;
        file.finish().map(|_| ())
    }

    fn put(&mut self, file: DataFile) -> Result<()> {
        let name = file.name();
        self.checksums.put(&name, file.finish()?);
        Ok(())
    }
}

/// A table of pairs that is being written.
pub(crate) struct PairsFile {
    file: DataFile,
    pairs: usize,
    users: usize,
    blocks: BlockFinder,
}

impl PairsFile {
    /// Adds the pairs of users, of whom `first_user` come before these.
    pub fn add(&mut self, first_user: u32, table: &Interactions) -> Result<()> {
        self.pairs += table.len();
        let first = first_user as usize;
        self.users = first + table.n_users();
        // What a task writes is in one block.
        let ends = (first / USERS + 1..self.users.div_ceil(USERS)).map(|block| block * USERS);
        let ends: Vec<usize> = [first].into_iter().chain(ends).chain([self.users]).collect();
        let pieces = ends.windows(2).map(|ends| ends[0]..ends[1]);
        let pieces: Vec<Range<usize>> = pieces.filter(|users| !users.is_empty()).collect();
        for some in pieces.chunks(32 * rayon::current_num_threads()) {
            let of_table = |users: &Range<usize>| (users.start - first) as u32..(users.end - first) as u32;
            let texts: Vec<Vec<u8>> =
                some.par_iter().map(|users| lines(first_user, of_table(users), table)).collect();
            for (users, text) in some.iter().zip(&texts) {
                self.blocks.add(users.start, text);
                self.file.write(text)?;
            }
        }
        Ok(())
    }
}

/// The pairs of some users of a table, one on each line.
fn lines(first_user: u32, users: Range<u32>, table: &Interactions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut user_digits, mut item_digits) = ([0; 10], [0; 10]);
    for user in users {
        let id = decimal(first_user + user, &mut user_digits);
        for &item in table.items_of(user) {
            bytes.extend_from_slice(id);
            bytes.push(b'\t');
            bytes.extend_from_slice(decimal(item, &mut item_digits));
            bytes.push(b'\n');
        }
    }
    bytes
}

/// A file that is written once, with its checksum.
struct DataFile {
    path: PathBuf,
    writer: ChecksumWriter<BufWriter<File>>,
}

impl DataFile {
    fn create(folder: &Path, name: &str) -> Result<Self> {
        let path = folder.join(name);
        let file = File::create(&path).map_err(|source| Error::io("write", &path, source))?;
        Ok(Self { path, writer: ChecksumWriter::new(BufWriter::new(file)) })
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes).map_err(|source| Error::io("write", &self.path, source))
    }

    /// Makes the file durable, and returns its checksum.
    fn finish(self) -> Result<String> {
        let (writer, checksum) = self.writer.into_inner();
        let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error);
        let synced = file.and_then(|file| file.sync_all());
        synced.map_err(|source| Error::io("write", &self.path, source))?;
        Ok(checksum)
    }
}
