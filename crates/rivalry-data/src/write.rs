//! Writes a data set as a benchmark folder, which can be read again and shared.

mod files;
mod folder;

use std::path::Path;

pub(crate) use self::files::{Files, PairsFile, Summary};
pub(crate) use self::folder::NewFolder;
use super::{Dataset, Part, stats};
use crate::error::{InputError, Result};
use crate::prepared_blocks::PreparedBlocks;
use crate::prepared_checksums::PreparedChecksums;

const TRAIN: &str = "train.tsv";
const VALID: &str = "valid.tsv";
const TEST: &str = "test.tsv";
const USER_LIST: &str = "user_list.tsv";
const ITEM_LIST: &str = "item_list.tsv";
const SUMMARY: &str = "summary.txt";
const FILES: [&str; 8] =
    [TRAIN, VALID, TEST, USER_LIST, ITEM_LIST, SUMMARY, PreparedBlocks::FILE, PreparedChecksums::FILE];

/// Writes `train.tsv`, `valid.tsv` and `test.tsv` (if there are such sets), `user_list.tsv`, `item_list.tsv`, `blocks.txt`,
/// `summary.txt` and `checksums.txt` to the folder `out`, atomically: the folder appears complete or not at all.
///
/// # Errors
/// If the folder exists and `replace` is not set, or contains other files; if an id contains a tab or a line break; or
/// if writing fails.
pub fn write_benchmark(dataset: &Dataset, out: &Path, replace: bool) -> Result<()> {
    check_ids("user", dataset.users.iter())?;
    check_ids("item", dataset.items.iter())?;
    let folder = NewFolder::create(out, replace)?;
    let mut files = Files::new(&folder.new);
    let parts = dataset.parts();
    for (part, table) in [(Part::Train, parts.train), (Part::Valid, parts.valid), (Part::Test, parts.test)] {
        let mut file = files.pairs(part)?;
        file.add(0, table)?;
        files.finish_pairs(part, file)?;
    }
    files.ids("user", dataset.users.iter())?;
    files.ids("item", dataset.items.iter())?;
    files.finish(&Summary {
        name: &dataset.name,
        stats: &stats(dataset),
        checksum: &dataset.checksum,
        split: dataset.split.as_ref(),
        notes: &dataset.notes,
        warnings: &dataset.warnings,
    })?;
    folder.commit()
}

/// The lists have one id per line, followed by a tab.
pub(crate) fn check_ids<'i>(noun: &str, mut ids: impl Iterator<Item = &'i str>) -> Result<()> {
    match ids.find(|id| id.contains(['\t', '\n', '\r'])) {
        None => Ok(()),
        Some(id) => {
            let error = InputError::new(format!("the {noun} id {id:?} contains a tab or a line break"));
            Err(error
                .help("rename it in the source: the id lists of a benchmark folder can't represent it")
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Interactions;
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
        assert_eq!(names(&out).len(), 8);
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
