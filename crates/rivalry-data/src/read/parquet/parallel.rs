//! Reads the columns of some row groups at a time, on all threads.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, FileReader, Length, SerializedFileReader};
use rayon::prelude::*;

use super::column::{RowGroup, Value};
use super::table::{as_text, present, rating_of};
use crate::read::ReadOptions;
use crate::read::columns::{Column, Columns};
use crate::read::parallel::{IdChunk, IdColumn, Kind};
use crate::read::records::check_id;
use crate::{Error, IdMap, InputError, Records, Result};

/// How many rows are read at a time.
const ROWS: i64 = 1 << 20;
/// How many ids are in a chunk.
const CHUNK: usize = 1 << 16;

/// A file that any number of threads can read: each opens it anew, because the place to read from is that of an open file.
pub(super) struct Reopened(pub PathBuf);

impl Reopened {
    fn open_at(&self, start: u64) -> ParquetResult<File> {
        let mut file = File::open(&self.0)?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Reopened {
    fn len(&self) -> u64 {
        std::fs::metadata(&self.0).map_or(0, |metadata| metadata.len())
    }
}

impl ChunkReader for Reopened {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        self.open_at(start).map(BufReader::new)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<bytes::Bytes> {
        let mut buffer = Vec::with_capacity(length);
        match self.open_at(start)?.take(length as u64).read_to_end(&mut buffer)? {
            read if read == length => Ok(buffer.into()),
            read => Err(ParquetError::EOF(format!("expected {length} bytes, found {read}"))),
        }
    }
}

/// What a column holds.
#[derive(Clone)]
enum Role {
    User(Kind),
    Item(Kind),
    Rating,
    Time,
}

/// One column of one row group.
enum Cells {
    User(Vec<IdChunk>),
    Item(Vec<IdChunk>),
    Rating(Vec<f32>),
    Time(Vec<i64>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::User(chunks) | Self::Item(chunks) => chunks.iter().map(IdChunk::len).sum(),
            Self::Rating(ratings) => ratings.len(),
            Self::Time(times) => times.len(),
        }
    }
}

/// Why a column can't be read as it was meant to be.
enum Stop {
    /// A user id is not a small number.
    TextUser,
    /// An item id is not a small number.
    TextItem,
    /// There is an error, and it has to be reported in the order of the file.
    Unusual,
}

/// The row groups of a file, some at a time.
pub(super) struct Groups<'a> {
    reader: &'a SerializedFileReader<Reopened>,
    rows: i64,
    next: usize,
}

impl<'a> Groups<'a> {
    /// With at most this many rows at a time, but at least one group.
    pub fn of(reader: &'a SerializedFileReader<Reopened>, rows: usize) -> Self {
        Self { reader, rows: ROWS.min(i64::try_from(rows).unwrap_or(ROWS)), next: 0 }
    }
}

impl Iterator for Groups<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (start, all) = (self.next, self.reader.num_row_groups());
        let mut rows = 0;
        while self.next < all {
            rows += self.reader.metadata().row_group(self.next).num_rows();
            if self.next > start && rows > self.rows {
                break;
            }
            self.next += 1;
        }
        (start < self.next).then_some(start..self.next)
    }
}

/// The rows of the groups read so far.
pub(super) struct Batches<'a> {
    pub columns: &'a Columns,
    pub options: &'a ReadOptions,
    users: IdColumn,
    items: IdColumn,
    rating: Option<Vec<f32>>,
    time: Option<Vec<i64>>,
}

impl<'a> Batches<'a> {
    pub fn new(columns: &'a Columns, options: &'a ReadOptions) -> Self {
        let rating = columns.rating.as_ref().map(|_| Vec::new());
        let time = columns.time.as_ref().map(|_| Vec::new());
        Self { columns, options, users: IdColumn::default(), items: IdColumn::default(), rating, time }
    }

    /// Adds the rows of some row groups. `None` if there is an error in one of them.
    pub fn read(
        &mut self,
        (path, reader): (&Path, &SerializedFileReader<Reopened>),
        groups: Range<usize>,
    ) -> Option<()> {
        let found: Vec<Vec<Cells>> = loop {
            let read = |(group, column, role): &(usize, &Column, Role)| {
                let group = reader.get_row_group(*group).map_err(|_| Stop::Unusual)?;
                let group = RowGroup { path, group: &*group, start: 0 };
                cells(&group, (column, role), self.options.needs_ratings)
            };
            let roles = roles(self.columns, (self.users.kind(), self.items.kind()));
            let tasks: Vec<(usize, &Column, Role)> = groups
                .clone()
                .flat_map(|group| roles.iter().map(move |(column, role)| (group, *column, role.clone())))
                .collect();
            match tasks.par_iter().map(read).collect::<Result<Vec<Cells>, Stop>>() {
                Ok(cells) => {
                    let mut cells = cells.into_iter();
                    break groups.map(|_| cells.by_ref().take(roles.len()).collect()).collect();
                }
                Err(Stop::TextUser) => self.users.use_text()?,
                Err(Stop::TextItem) => self.items.use_text()?,
                Err(Stop::Unusual) => return None,
            }
        };
        let (mut user, mut item) = (Vec::new(), Vec::new());
        for group in found {
            let rows = group.first().map_or(0, Cells::len);
            if group.iter().any(|cells| cells.len() != rows) {
                return None;
            }
            for cells in group {
                match cells {
                    Cells::User(chunks) => user.extend(chunks),
                    Cells::Item(chunks) => item.extend(chunks),
                    Cells::Rating(ratings) => self.rating.as_mut()?.extend(ratings),
                    Cells::Time(times) => self.time.as_mut()?.extend(times),
                }
            }
        }
        let added = rayon::join(|| self.users.append("", user), || self.items.append("", item));
        (added.0.is_some() && added.1.is_some()).then_some(())
    }

    /// Takes out the rows so far; for `limit` see [`IdColumn::take`].
    pub fn take(&mut self, limit: usize) -> Records {
        let (user, item) = rayon::join(|| self.users.take(limit), || self.items.take(limit));
        let (rating, time) =
            (self.rating.as_mut().map(std::mem::take), self.time.as_mut().map(std::mem::take));
        Records { user, item, rating, time }
    }

    /// About how much memory the different ids take.
    pub fn id_bytes(&self) -> usize {
        self.users.bytes() + self.items.bytes()
    }

    /// The rows that were not taken out, and the original ids of all.
    pub fn finish(self) -> (Records, IdMap, IdMap) {
        let Self { users, items, rating, time, .. } = self;
        let ((user, users), (item, items)) = rayon::join(|| users.finish(), || items.finish());
        (Records { user, item, rating, time }, users, items)
    }
}

fn roles(columns: &Columns, (users, items): (Kind, Kind)) -> Vec<(&Column, Role)> {
    let mut roles = vec![(&columns.user, Role::User(users)), (&columns.item, Role::Item(items))];
    roles.extend(columns.rating.as_ref().map(|column| (column, Role::Rating)));
    roles.extend(columns.time.as_ref().map(|column| (column, Role::Time)));
    roles
}

/// The cells of a column of one row group.
fn cells(group: &RowGroup<'_>, (column, role): (&Column, &Role), needs_ratings: bool) -> Result<Cells, Stop> {
    let unusual = |_: Error| Stop::Unusual;
    match role {
        Role::User(kind) => ids(group, column, kind, Stop::TextUser).map(Cells::User),
        Role::Item(kind) => ids(group, column, kind, Stop::TextItem).map(Cells::Item),
        Role::Rating => {
            let mut ratings = Vec::new();
            let read = group.read(column, |_, value| {
                ratings.push(rating_of(value, needs_ratings)?);
                Ok(())
            });
            read.map_err(unusual).map(|()| Cells::Rating(ratings))
        }
        Role::Time => {
            let mut times = Vec::new();
            let read = group.read(column, |_, value| {
                times.push(present(value)?.time()?);
                Ok(())
            });
            read.map_err(unusual).map(|()| Cells::Time(times))
        }
    }
}

/// The ids of a column of one row group, in chunks; `stop` if they are numbers no more.
fn ids(group: &RowGroup<'_>, column: &Column, kind: &Kind, stop: Stop) -> Result<Vec<IdChunk>, Stop> {
    let (mut chunks, mut ids) = (Vec::new(), IdChunk::new(kind, 0));
    let (mut text, mut numbers) = (String::new(), true);
    let read = group.read(column, |_, value| {
        let value = present(value)?;
        if ids.len() == CHUNK {
            ids.seal();
            chunks.push(std::mem::replace(&mut ids, IdChunk::new(kind, 0)));
        }
        if let (IdChunk::Numbers(ids), Value::Integer(number)) = (&mut ids, value)
            && let Ok(number) = u32::try_from(number)
        {
            ids.push(number);
            return Ok(());
        }
        let id = as_text(value, &mut text);
        check_id(id)?;
        ids.push_text(id).ok_or_else(|| {
            numbers = false;
            InputError::new("not a small number")
        })
    });
    match read {
        Err(_) if !numbers && matches!(kind, Kind::Numbers) => Err(stop),
        Err(_) => Err(Stop::Unusual),
        Ok(()) => {
            ids.seal();
            chunks.push(ids);
            Ok(chunks)
        }
    }
}
