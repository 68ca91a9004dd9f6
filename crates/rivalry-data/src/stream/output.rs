//! Writes the files of a data set some users at a time.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crate::dataset::{DataChecksum, put_row};
use crate::error::{Error, Result};
use crate::prepare_folder::Prepared;
use crate::tally::Tally;
use crate::write::{Files, NewFolder, PairsFile};
use crate::{Interactions, Part, Parts, Stats};

/// A data set that is being written: first the ids of users, then those of items, then all pairs.
pub(super) struct Output<'f> {
    files: Files<'f>,
    pairs: Parts<PairsFile>,
    tally: Tally,
    checksum: DataChecksum,
    /// Rows that the checksum comes to after those of the training set.
    valid: RowFile,
    test: RowFile,
    size: (usize, usize),
}

impl<'f> Output<'f> {
    /// Writes to a new folder; `size` is the number of users and items.
    pub fn new(folder: &'f NewFolder, scratch: &Path, size: (usize, usize)) -> Result<Self> {
        let files = Files::new(&folder.new);
        let pairs = Parts {
            train: files.pairs(Part::Train)?,
            valid: files.pairs(Part::Valid)?,
            test: files.pairs(Part::Test)?,
        };
        Ok(Self {
            files,
            pairs,
            tally: Tally::new(size.1),
            checksum: DataChecksum::default(),
            valid: RowFile::create(scratch.join("valid"))?,
            test: RowFile::create(scratch.join("test"))?,
            size,
        })
    }

    /// Writes the list of the original ids of `user`, then `item`.
    pub fn ids<'i>(&mut self, noun: &str, ids: impl Iterator<Item = &'i str> + Clone) -> Result<()> {
        let len = if noun == "user" { self.size.0 } else { self.size.1 };
        self.checksum.add_ids(len, ids.clone());
        self.files.ids(noun, ids)
    }

    /// Adds the pairs of users, of whom `first_user` come before these.
    pub fn add(&mut self, first_user: u32, parts: Parts<Interactions>) -> Result<()> {
        self.tally.add(parts.as_ref());
        self.checksum.add_rows(&parts.train);
        self.valid.add(&parts.valid)?;
        self.test.add(&parts.test)?;
        self.pairs.train.add(first_user, &parts.train)?;
        self.pairs.valid.add(first_user, &parts.valid)?;
        self.pairs.test.add(first_user, &parts.test)
    }

    /// The counts of what was added.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Completes all files; `prepared` gets the statistics and the checksum.
    pub fn finish(self, prepared: impl FnOnce(Stats, String) -> Prepared) -> Result<Prepared> {
        let Self { mut files, pairs, tally, mut checksum, valid, test, .. } = self;
        files.finish_pairs(Part::Train, pairs.train)?;
        files.finish_pairs(Part::Valid, pairs.valid)?;
        files.finish_pairs(Part::Test, pairs.test)?;
        valid.hash(&mut checksum)?;
        test.hash(&mut checksum)?;
        let prepared = prepared(tally.stats(), checksum.hex());
        files.finish(&prepared.summary())?;
        Ok(prepared)
    }
}

/// Rows as they are in a checksum, in a file.
struct RowFile {
    path: PathBuf,
    writer: BufWriter<File>,
    bytes: Vec<u8>,
}

impl RowFile {
    fn create(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(|e| Error::io("write", &path, e))?;
        Ok(Self { path, writer: BufWriter::new(file), bytes: Vec::new() })
    }

    fn add(&mut self, part: &Interactions) -> Result<()> {
        self.bytes.clear();
        for user in 0..part.n_users() as u32 {
            put_row(part.items_of(user), &mut self.bytes);
        }
        self.writer.write_all(&self.bytes).map_err(|e| Error::io("write", &self.path, e))
    }

    fn hash(mut self, checksum: &mut DataChecksum) -> Result<()> {
        self.writer.flush().map_err(|e| Error::io("write", &self.path, e))?;
        let failed = |e| Error::io("read", &self.path, e);
        let mut file = File::open(&self.path).map_err(failed)?;
        let mut bytes = vec![0; 1 << 16];
        loop {
            match file.read(&mut bytes).map_err(failed)? {
                0 => return Ok(()),
                read => checksum.add(&bytes[..read]),
            }
        }
    }
}
