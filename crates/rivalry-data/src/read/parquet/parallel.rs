//! Reads the columns of some row groups at a time, on all threads.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
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

/// About how many rows are read at a time: as many row groups as have no more, but at least one.
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

/// The columns of a file, and the original ids.
pub(super) struct Parsed {
    pub records: Records,
    pub users: IdMap,
    pub items: IdMap,
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

/// Reads all rows. `None` if that takes reading them one after the other, to report an error or to leave rows out.
pub(super) fn read(
    (path, reader): (&Path, &SerializedFileReader<Reopened>),
    columns: &Columns,
    options: &ReadOptions,
) -> Option<Parsed> {
    let (mut users, mut items) = (IdColumn::default(), IdColumn::default());
    let mut rating = columns.rating.as_ref().map(|_| Vec::new());
    let mut time = columns.time.as_ref().map(|_| Vec::new());
    let mut next = 0;
    while next < reader.num_row_groups() {
        let (groups, mut rows) = (next.., 0);
        let fits = |&group: &usize| {
            rows += reader.metadata().row_group(group).num_rows();
            group == next || rows <= ROWS
        };
        let groups: Vec<usize> = groups.take(reader.num_row_groups() - next).take_while(fits).collect();
        next += groups.len();
        let found: Vec<Vec<Cells>> = loop {
            let read = |(group, column, role): &(usize, &Column, Role)| {
                let group = reader.get_row_group(*group).map_err(|_| Stop::Unusual)?;
                cells(&RowGroup { path, group: &*group, start: 0 }, (column, role), options.needs_ratings)
            };
            let roles = roles(columns, (users.kind(), items.kind()));
            let tasks: Vec<(usize, &Column, Role)> = groups
                .iter()
                .flat_map(|&group| roles.iter().map(move |(column, role)| (group, *column, role.clone())))
                .collect();
            match tasks.par_iter().map(read).collect::<Result<Vec<Cells>, Stop>>() {
                Ok(cells) => {
                    let mut cells = cells.into_iter();
                    break groups.iter().map(|_| cells.by_ref().take(roles.len()).collect()).collect();
                }
                Err(Stop::TextUser) => users.use_text()?,
                Err(Stop::TextItem) => items.use_text()?,
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
                    Cells::Rating(ratings) => rating.as_mut()?.extend(ratings),
                    Cells::Time(times) => time.as_mut()?.extend(times),
                }
            }
        }
        let added = rayon::join(|| users.append("", user), || items.append("", item));
        (added.0.is_some() && added.1.is_some()).then_some(())?;
    }
    let ((user, users), (item, items)) = rayon::join(|| users.finish(), || items.finish());
    let records = Records { user, item, rating, time };
    (!records.user.is_empty()).then_some(Parsed { records, users, items })
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
