//! Embeddings for other tools, such as vector stores: the vectors whose dot products are the scores, with original ids.

#[cfg_attr(feature = "hnsw", path = "vectors/hnsw.rs")]
#[cfg_attr(not(feature = "hnsw"), path = "vectors/no_hnsw.rs")]
mod index;

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::data::IdMap;
use crate::data::export::{Cell, Column, ColumnType, TableFormat, TableWriter};
use crate::files::{Output, write_atomically};
use crate::ranker::Ranker;
use crate::tensors::Tensors;
use crate::{Error, InputError, Matrix, Result};

pub use index::ItemIndex;

/// Whether this build has the HNSW index ([`ItemIndex`]): the feature `hnsw`.
pub const HAS_ITEM_INDEX: bool = cfg!(feature = "hnsw");

/// A format of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorFormat {
    /// `users.npy` and `items.npy`, read by NumPy, with the ids in `users.csv` and `items.csv`, in the same order.
    Npy,
    /// `users.parquet` and `items.parquet`, with the columns `id` and `vector`.
    Parquet,
    /// `embeddings.safetensors`, with the tensors `users` and `items`, and the ids as in a model file.
    Safetensors,
    /// `items.usearch`, an HNSW index that USearch reads, whose keys are the rows of `items.csv`; and `users.npy` to search it
    /// with, whose rows are those of `users.csv`. Needs the feature `hnsw`.
    UsearchHnsw,
}

/// How items are inserted into an [`ItemIndex`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserting {
    /// By one thread, so that the index is the same every time.
    InOrder,
    /// By all threads of the pool.
    InParallel,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// The files.
    pub files: Vec<PathBuf>,
    /// The recall@20 of an index against exact search, for 200 users.
    pub recall_at_20: Option<f64>,
}

/// Writes the embeddings of a model into a folder, which is created if need be.
///
/// The score of a user and an item is the dot product of their vectors; where the score is the cosine, the vectors have
/// length one.
///
/// # Errors
/// If the model has no embeddings, or a file can't be written; an existing one is refused unless it may be replaced.
pub fn export_vectors(
    ranker: &Ranker,
    format: VectorFormat,
    folder: &Path,
    replace: bool,
) -> Result<Exported> {
    let embeddings = ranker.embeddings()?;
    let model = ranker.model();
    let tables = [("users", &model.users, &embeddings.users), ("items", &model.items, &embeddings.items)];
    let names: &[&str] = match format {
        VectorFormat::Npy => &["users.npy", "users.csv", "items.npy", "items.csv"],
        VectorFormat::Parquet => &["users.parquet", "items.parquet"],
        VectorFormat::Safetensors => &["embeddings.safetensors"],
        VectorFormat::UsearchHnsw => &["users.npy", "users.csv", "items.usearch", "items.csv"],
    };
    let files: Vec<PathBuf> = names.iter().map(|name| folder.join(name)).collect();
    if let Some(existing) = files.iter().find(|file| !replace && file.exists()) {
        let error = InputError::new("already exists").file(existing);
        return Err(error.help("choose another folder, or add --force to replace it").into());
    }
    let index = (format == VectorFormat::UsearchHnsw)
        .then(|| ItemIndex::build(ranker, Inserting::InOrder))
        .transpose()?;
    std::fs::create_dir_all(folder).map_err(|e| Error::io("create", folder, e))?;
    match format {
        VectorFormat::Npy => {
            for (name, ids, table) in tables {
                write_npy(&folder.join(format!("{name}.npy")), table)?;
                write_table(&folder.join(format!("{name}.csv")), ids, None)?;
            }
        }
        VectorFormat::Parquet => {
            for (name, ids, table) in tables {
                write_table(&folder.join(format!("{name}.parquet")), ids, Some(table))?;
            }
        }
        VectorFormat::Safetensors => {
            let mut file = Tensors::default();
            for (name, ids, table) in tables {
                file.put_matrix(name, table);
                file.put_ids(&format!("ids.{name}"), ids);
            }
            file.write(&files[0])?;
        }
        VectorFormat::UsearchHnsw => {
            let content = index.as_ref().map_or(Ok(Vec::new()), ItemIndex::file)?;
            write_atomically(&files[2], |file| file.write_all(&content))?;
            write_npy(&files[0], &embeddings.users)?;
            write_table(&files[1], &model.users, None)?;
            write_table(&files[3], &model.items, None)?;
        }
    }
    Ok(Exported { files, recall_at_20: index.map(|index| index.recall_at_20(ranker)).transpose()? })
}

/// A table of ids, and of their vectors if there are any.
fn write_table(path: &Path, ids: &IdMap, vectors: Option<&Matrix>) -> Result<()> {
    let output = Output::new(path, true)?;
    let format = TableFormat::of_output(&output, None)?;
    let vector = vectors.map(|_| Column::new("vector", ColumnType::Vector));
    let mut table = TableWriter::create(
        &output,
        format,
        [Column::of_ids("id", ids)].into_iter().chain(vector).collect(),
    )?;
    for (row, id) in ids.iter().enumerate() {
        match vectors {
            Some(vectors) => table.row(&[Cell::Text(id), Cell::Vector(vectors.row(row))])?,
            None => table.row(&[Cell::Text(id)])?,
        }
    }
    table.finish()
}

/// A matrix in the format of NumPy, version 1.0.
fn write_npy(path: &Path, table: &Matrix) -> Result<()> {
    let shape = format!("({}, {})", table.rows(), table.cols());
    let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes; the data start at a multiple of 64.
    let padding = (10 + header.len() + 1).next_multiple_of(64) - (10 + header.len() + 1);
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    write_atomically(path, |file| {
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        (0..table.rows()).try_for_each(|row| {
            let bytes: Vec<u8> = table.row(row).iter().flat_map(|x| x.to_le_bytes()).collect();
            file.write_all(&bytes)
        })
    })
}
