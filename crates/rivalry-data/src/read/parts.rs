//! The part files of one table in a folder, as Spark, DuckDB, Polars and others write them.

use std::fs;
use std::path::{Path, PathBuf};

use super::archive::EXTENSIONS;
use crate::{Error, Result};

/// Files that together are one table, in the order of their names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PartFiles {
    /// The folder, for error messages.
    pub folder: PathBuf,
    pub files: Vec<PathBuf>,
    /// Whether they are Parquet files; otherwise they are text.
    pub parquet: bool,
}

impl PartFiles {
    /// The part files in a folder and in its subfolders named `KEY=VALUE`; `None` if its files are not parts of one table:
    /// all CSV, all TSV or all Parquet files, with a number in their names if there are several.
    pub fn find(folder: &Path) -> Result<Option<Self>> {
        let mut files = Vec::new();
        list(folder, &mut files)?;
        files.sort();
        let kinds: Vec<&str> = files.iter().filter_map(|file| kind(file)).collect();
        let same = kinds.len() == files.len() && kinds.windows(2).all(|pair| pair[0] == pair[1]);
        let numbered = files.len() == 1 || files.iter().all(|file| has_number(file));
        Ok(kinds.first().filter(|_| same && numbered).map(|kind| Self {
            folder: folder.to_owned(),
            parquet: *kind == ".parquet",
            files: files.clone(),
        }))
    }
}

/// Whether a file belongs to the writer of a folder rather than to its data: `_SUCCESS`, `.part-0.crc`…
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with(['.', '_']) || name.ends_with(".crc")
}

fn list(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let failed = |e| Error::io("read", folder, e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if is_hidden(&name) {
            continue;
        }
        if path.is_file() {
            files.push(path);
        } else if name.contains('=') && path.is_dir() {
            list(&path, files)?;
        }
    }
    Ok(())
}

/// The extension of a table, without that of a compression.
fn kind(file: &Path) -> Option<&'static str> {
    let name = file.file_name()?.to_string_lossy().to_lowercase();
    let plain = EXTENSIONS.iter().find_map(|extension| name.strip_suffix(extension)).unwrap_or(&name);
    [".csv", ".tsv", ".parquet"].into_iter().find(|extension| plain.ends_with(extension))
}

fn has_number(file: &Path) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().contains(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let parts = PartFiles::find(folder.path()).unwrap()?;
        let name = |file: &PathBuf| file.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
        Some(parts.files.iter().map(name).collect())
    }

    #[test]
    fn files_of_the_writer_are_left_out_and_parts_are_in_the_order_of_their_names() {
        let spark = ["part-00001-a.csv.gz", "_SUCCESS", "part-00000-a.csv.gz", ".part-00000-a.csv.gz.crc"];
        assert_eq!(found(&spark).unwrap(), ["part-00000-a.csv.gz", "part-00001-a.csv.gz"]);
        assert_eq!(
            found(&["data_1.parquet", "data_0.parquet"]).unwrap(),
            ["data_0.parquet", "data_1.parquet"]
        );
        let partitioned = ["year=2025/0.parquet", "year=2024/0.parquet", "other/0.parquet"];
        assert_eq!(found(&partitioned).unwrap(), ["year=2024/0.parquet", "year=2025/0.parquet"]);
        assert_eq!(found(&["log.csv", "_SUCCESS"]).unwrap(), ["log.csv"]);
    }

    #[test]
    fn other_folders_have_no_parts() {
        for names in [
            &["users.csv", "items.csv"][..],
            &["part-0.csv", "part-1.parquet"],
            &["part-0.csv", "part-1.txt"],
            &["_SUCCESS"],
        ] {
            assert_eq!(found(names), None, "{names:?}");
        }
    }
}
