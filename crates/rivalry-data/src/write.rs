//! Writes a data set as a benchmark folder, which can be read again and shared.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{Dataset, IdMap, Interactions, stats};
use crate::error::{Error, InputError, Result};
use crate::files::checksum::ChecksumWriter;
use crate::files::{FolderLock, sync_folder};
use crate::prepared_checksums::PreparedChecksums;

const TRAIN: &str = "train.tsv";
const VALID: &str = "valid.tsv";
const TEST: &str = "test.tsv";
const USER_LIST: &str = "user_list.tsv";
const ITEM_LIST: &str = "item_list.tsv";
const SUMMARY: &str = "summary.txt";
const FILES: [&str; 7] = [TRAIN, VALID, TEST, USER_LIST, ITEM_LIST, SUMMARY, PreparedChecksums::FILE];

/// Writes `train.tsv`, `valid.tsv` and `test.tsv` (if there are such sets), `user_list.tsv`, `item_list.tsv`, `summary.txt`
/// and `checksums.txt` to the folder `out`, atomically: the folder appears complete or not at all.
///
/// # Errors
/// If the folder exists and `replace` is not set, or contains other files; if an id contains a tab or a line break; or
/// if writing fails.
pub fn write_benchmark(dataset: &Dataset, out: &Path, replace: bool) -> Result<()> {
    check_ids("user", &dataset.users)?;
    check_ids("item", &dataset.items)?;
    let exists = fs::symlink_metadata(out).is_ok();
    if exists {
        check_replaceable(out, replace)?;
    }
    let parent = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|source| Error::io("create", parent, source))?;
    let staging = StagingFolder::create(parent, out)?;
    let new = staging.path.join("new");
    fs::create_dir(&new).map_err(|source| Error::io("create", &new, source))?;
    write_files(dataset, &new)?;
    sync_folder(&new);
    let moved = if exists { exchange(&new, out) } else { fs::rename(&new, out) };
    moved.map_err(|source| Error::io("write", out, source))?;
    sync_folder(parent);
    Ok(())
}

/// The folder in which a data set is written before it is renamed. It is beside the destination, so that renaming is
/// atomic, and its name is fixed, so that the next attempt deletes what a killed process left.
struct StagingFolder {
    path: PathBuf,
    _lock: FolderLock,
}

impl StagingFolder {
    fn create(parent: &Path, out: &Path) -> Result<Self> {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let path = parent.join(format!(".prepare-{name}"));
        fs::create_dir_all(&path).map_err(|source| Error::io("create", &path, source))?;
        let lock = FolderLock::acquire(&path).inspect_err(|_| {
            // Fails if another process is at work in it.
            let _ = fs::remove_dir(&path);
        })?;
        let staging = Self { path, _lock: lock };
        staging.clear().map_err(|source| Error::io("clear", &staging.path, source))?;
        Ok(staging)
    }

    fn clear(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.path)?.flatten().filter(|entry| entry.path().is_dir()) {
            fs::remove_dir_all(entry.path())?;
        }
        Ok(())
    }
}

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // What can't be deleted now is deleted on the next attempt.
        let _ = self.clear();
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Swaps two folders.
#[cfg(target_os = "linux")]
fn exchange(new: &Path, out: &Path) -> std::io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    match renameat_with(CWD, new, CWD, out, RenameFlags::EXCHANGE) {
        // Not every file system supports it.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => move_aside(new, out),
        result => Ok(result?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(new: &Path, out: &Path) -> std::io::Result<()> {
    move_aside(new, out)
}

/// Swaps two folders in two steps. If the process is killed in between, the old folder is left beside the new one.
fn move_aside(new: &Path, out: &Path) -> std::io::Result<()> {
    let old = new.with_file_name("old");
    fs::rename(out, &old)?;
    fs::rename(new, out).inspect_err(|_| {
        // If the old folder can't be restored either, the original error is reported.
        let _ = fs::rename(&old, out);
    })
}

fn write_files(dataset: &Dataset, folder: &Path) -> Result<()> {
    let write = |name: &str, fill: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let path = folder.join(name);
        File::create(&path)
            .and_then(|file| {
                let mut writer = ChecksumWriter::new(BufWriter::new(file));
                fill(&mut writer)?;
                let (writer, checksum) = writer.into_inner();
                writer.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
                Ok(checksum)
            })
            .map_err(|source| Error::io("write", &path, source))
    };
    let pairs = |name: &str, part: &Interactions| {
        write(name, &|file| {
            writeln!(file, "user_procid\titem_procid")?;
            part.pairs().try_for_each(|(user, item)| writeln!(file, "{user}\t{item}"))
        })
    };
    let ids = |name: &str, noun: &str, ids: &IdMap| {
        write(name, &|file| {
            writeln!(file, "{noun}_orgid\t{noun}_procid")?;
            ids.iter().enumerate().try_for_each(|(dense, id)| writeln!(file, "{id}\t{dense}"))
        })
    };
    let mut checksums = PreparedChecksums::default();
    checksums.put(TRAIN, pairs(TRAIN, &dataset.train)?);
    if !dataset.valid.is_empty() {
        checksums.put(VALID, pairs(VALID, &dataset.valid)?);
    }
    if !dataset.test.is_empty() {
        checksums.put(TEST, pairs(TEST, &dataset.test)?);
    }
    checksums.put(USER_LIST, ids(USER_LIST, "user", &dataset.users)?);
    checksums.put(ITEM_LIST, ids(ITEM_LIST, "item", &dataset.items)?);
    write(PreparedChecksums::FILE, &|file| file.write_all(&checksums.to_bytes()))?;
    write(SUMMARY, &|file| {
        writeln!(file, "{}\n\n{}\nchecksum           {}", dataset.name, stats(dataset), dataset.checksum)?;
        dataset.split.iter().try_for_each(|split| writeln!(file, "split              {split}"))?;
        dataset.notes.iter().try_for_each(|note| writeln!(file, "note               {note}"))?;
        dataset.warnings.iter().try_for_each(|text| writeln!(file, "warning            {text}"))
    })
    .map(|_| ())
}

/// The lists have one id per line, followed by a tab.
fn check_ids(noun: &str, ids: &IdMap) -> Result<()> {
    match ids.iter().find(|id| id.contains(['\t', '\n', '\r'])) {
        None => Ok(()),
        Some(id) => {
            let error = InputError::new(format!("the {noun} id {id:?} contains a tab or a line break"));
            Err(error
                .help("rename it in the source: the id lists of a benchmark folder can't represent it")
                .into())
        }
    }
}

fn check_replaceable(out: &Path, replace: bool) -> Result<()> {
    if !replace {
        return Err(InputError::new("already exists")
            .file(out)
            .help("give another name, or use --force to replace it")
            .into());
    }
    let entries = fs::read_dir(out).map_err(|source| Error::io("replace", out, source))?;
    for entry in entries {
        let name = entry.map_err(|source| Error::io("read", out, source))?.file_name();
        if !FILES.iter().any(|&file| name == file) {
            let message = format!(
                "not replaced, because it contains '{}', which is not part of a data set",
                name.display()
            );
            return Err(InputError::new(message)
                .file(out)
                .help("give another name, or move the file away")
                .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Preparation, RawData, RawParts, Records, Validation, prepare};

    fn dataset(validation: Validation) -> Dataset {
        let records =
            Records { user: vec![0, 0, 0, 1, 1, 1], item: vec![0, 1, 2, 0, 2, 3], ..Records::default() };
        let raw = RawData {
            users: ["ann", "bo b"].iter().collect(),
            items: ["w", "x", "y", "z"].iter().collect(),
            parts: RawParts::Whole(records),
            notes: vec!["a note".into()],
            reading: None,
        };
        prepare("toy", raw, &Preparation { validation, ..Preparation::default() }).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_folder_has_the_files_of_a_benchmark() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("sets/toy");
        let set = dataset(Validation::default());
        write_benchmark(&set, &out, false).unwrap();
        let read = |name: &str| fs::read_to_string(out.join(name)).unwrap();
        assert_eq!(read("user_list.tsv"), "user_orgid\tuser_procid\nann\t0\nbo b\t1\n");
        let lines = |name: &str, part: &Interactions| {
            let pairs: String = part.pairs().map(|(user, item)| format!("{user}\t{item}\n")).collect();
            assert_eq!(read(name), format!("user_procid\titem_procid\n{pairs}"));
        };
        lines("train.tsv", &set.train);
        lines("valid.tsv", &set.valid);
        lines("test.tsv", &set.test);
        assert!(read("summary.txt").contains(&set.checksum) && read("summary.txt").contains("a note"));
        assert_eq!(names(root.path().join("sets").as_path()), ["toy"], "nothing else is left");
    }

    #[test]
    fn an_existing_folder_is_replaced_on_request_only_and_never_with_unrelated_files() {
        let root = tempfile::tempdir().unwrap();
        let out = root.path().join("toy");
        write_benchmark(&dataset(Validation::default()), &out, false).unwrap();
        let without = dataset(Validation::None {});
        let refused = write_benchmark(&without, &out, false).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        assert!(out.join("valid.tsv").exists());
        write_benchmark(&without, &out, true).unwrap();
        assert!(!out.join("valid.tsv").exists(), "the old part is gone");
        fs::write(out.join("thesis.doc"), "years of work").unwrap();
        let refused = write_benchmark(&without, &out, true).unwrap_err().to_string();
        assert!(refused.contains("thesis.doc"), "{refused}");
        assert_eq!(names(&out).len(), 7);
        assert_eq!(names(root.path()), ["toy"]);
    }

    #[test]
    fn ids_with_tabs_are_refused_before_anything_is_written() {
        let root = tempfile::tempdir().unwrap();
        let mut set = dataset(Validation::None {});
        set.items = ["w", "x\ty", "y", "z"].iter().collect();
        let error = write_benchmark(&set, &root.path().join("toy"), false).unwrap_err().to_string();
        assert!(error.contains(r#"the item id "x\ty""#), "{error}");
        assert_eq!(names(root.path()), [""; 0]);
    }
}
