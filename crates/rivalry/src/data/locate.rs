//! From what the user calls a data set to where it is: a path, a file found by its name, a download, or made here.

use std::path::{Path, PathBuf};

use super::{
    catalogue::{CatalogueEntry, Source, catalogue},
    digest,
    download::download,
    synthetic::SyntheticConfig,
};
use crate::error::{Error, InputError, Result, did_you_mean};

/// A data set that is ready to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// Its name in the catalogue, or its file's name.
    pub name: String,
    /// Where it is.
    pub place: Place,
    /// What the catalogue says about it; `None` for a path of the user's own.
    pub entry: Option<&'static CatalogueEntry>,
}

/// Where a data set is.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In this file or folder.
    Path(PathBuf),
    /// Nowhere: it is made on the spot.
    Synthetic(SyntheticConfig),
}

/// How far a download has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DownloadProgress<'a> {
    /// The data set.
    pub name: &'a str,
    /// Bytes that have come.
    pub done: u64,
    /// Bytes there will be, if known.
    pub total: Option<u64>,
}

/// Finds a data set by its path or its name.
///
/// Whatever exists as a path is that path. A name of the [`catalogue`] is looked for as `NAME.zip` and as folder
/// `NAME` in `data_dir`, in the folder that the environment variable `RIVALRY_DATA` names and in the user's cache
/// folder, in this order, and else downloaded to the cache folder. A zip found by name must have the right SHA-256.
pub fn locate(
    name_or_path: &str,
    data_dir: Option<&Path>,
    observer: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Located> {
    let folders = Folders::of_user(data_dir);
    if Path::new(name_or_path).exists() {
        return Ok(at_path(name_or_path));
    }
    match catalogue().iter().find(|entry| entry.name == name_or_path) {
        Some(entry) => {
            let place = locate_entry(entry, &folders, observer)?;
            Ok(Located { name: entry.name.clone(), place, entry: Some(entry) })
        }
        None => Err(not_found(name_or_path).into()),
    }
}

/// Where named data sets may be.
struct Folders {
    search: Vec<PathBuf>,
    cache: Option<PathBuf>,
}

impl Folders {
    /// The one place where the environment is read.
    fn of_user(data_dir: Option<&Path>) -> Self {
        let named = std::env::var_os("RIVALRY_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let cache = etcetera::choose_base_strategy()
            .ok()
            .map(|strategy| etcetera::BaseStrategy::cache_dir(&strategy).join("rivalry"));
        Self { search: data_dir.map(Path::to_owned).into_iter().chain(named).collect(), cache }
    }
}

fn at_path(path: &str) -> Located {
    let name = Path::new(path).file_stem().map_or(path.into(), |stem| stem.to_string_lossy());
    Located { name: name.into_owned(), place: Place::Path(path.into()), entry: None }
}

fn not_found(given: &str) -> InputError {
    let looks_like_path = given.contains(['/', '\\', '.']);
    let names: Vec<&str> = catalogue().iter().map(|entry| &*entry.name).collect();
    let all = names.join(", ");
    let error = InputError::new("no such file or folder, and no data set of that name").file(given);
    error.help(match did_you_mean(given, names) {
        Some(name) => format!("did you mean '{name}'? Known: {all}"),
        None if looks_like_path => "check the path".to_owned(),
        None => format!("give the path of a file or folder, or one of: {all}"),
    })
}

fn locate_entry(
    entry: &CatalogueEntry,
    folders: &Folders,
    observer: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Place> {
    let (url, sha256, bytes) = match &entry.source {
        Source::Synthetic(config) => return Ok(Place::Synthetic(config.clone())),
        Source::Download { url, sha256, bytes } => (url, sha256, *bytes),
    };
    let name = &entry.name;
    if let Some(path) = find(name, sha256, folders)? {
        return Ok(Place::Path(path));
    }
    let Some(cache) = &folders.cache else {
        let error =
            InputError::new(format!("'{name}' is not here, and there is no home folder to download it to"));
        return Err(error.help(format!("fetch {url}, save it as {name}.zip and give its path")).into());
    };
    let to = cache.join(format!("{name}.zip"));
    download(url, &to, sha256, bytes, &mut |done, total| observer(DownloadProgress { name, done, total }))
        .map_err(|error| match error {
            Error::Download { url, reason } => {
                let way_out = format!("fetch it some other way and save it as {}", to.display());
                Error::Download { url, reason: format!("{reason}\n  help: {way_out}") }
            }
            other => other,
        })?;
    Ok(Place::Path(to))
}

/// Where a named data set lies already.
fn find(name: &str, sha256: &str, folders: &Folders) -> Result<Option<PathBuf>> {
    for folder in folders.search.iter().chain(&folders.cache) {
        let zip = folder.join(format!("{name}.zip"));
        if zip.is_file() {
            check_sum(&zip, sha256)?;
            return Ok(Some(zip));
        }
        let unpacked = folder.join(name);
        if unpacked.is_dir() {
            return Ok(Some(unpacked));
        }
    }
    Ok(None)
}

/// The folders that named data sets are looked for in, in this order; the last is where downloads go.
pub fn data_folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let Folders { search, cache } = Folders::of_user(data_dir);
    search.into_iter().chain(cache).collect()
}

/// Where each data set of the catalogue that could be downloaded lies already, if it does. Zip files are read whole, to
/// hold them against their checksums: an error for one that is damaged.
pub fn inventory(data_dir: Option<&Path>) -> Vec<(&'static str, Result<Option<PathBuf>>)> {
    let folders = Folders::of_user(data_dir);
    let downloads = catalogue().iter().filter_map(|entry| match &entry.source {
        Source::Download { sha256, .. } => Some((&*entry.name, sha256)),
        Source::Synthetic(_) => None,
    });
    downloads.map(|(name, sha256)| (name, find(name, sha256, &folders))).collect()
}

fn check_sum(zip: &Path, expected: &str) -> Result<()> {
    let actual = digest::of_file(zip)?;
    if actual == expected {
        return Ok(());
    }
    let error =
        InputError::new(format!("the file has SHA-256 {actual}, but the data set's is {expected}")).file(zip);
    Err(error.help("remove it to have it downloaded again, or give its path to use it as it is").into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::data::download::tests::{serve, sha256};

    const ZIP: &[u8] = b"not really a zip";

    fn entry(url: String) -> CatalogueEntry {
        let source = Source::Download { url, sha256: sha256(ZIP), bytes: ZIP.len() as u64 };
        CatalogueEntry { name: "toy".into(), source, ..catalogue()[1].clone() }
    }

    #[test]
    fn a_named_set_is_found_in_order_checked_and_else_downloaded_once() {
        let root = tempfile::tempdir().unwrap();
        let [first, second, cache] = ["first", "second", "cache"].map(|name| root.path().join(name));
        let folders = Folders { search: vec![first.clone(), second.clone()], cache: Some(cache.clone()) };
        let toy = entry(format!("{}/file", serve(ZIP)));
        let mut reports = vec![];
        let find = |reports: &mut Vec<u64>| {
            locate_entry(&toy, &folders, &mut |progress| {
                assert_eq!((progress.name, progress.total), ("toy", Some(ZIP.len() as u64)));
                reports.push(progress.done);
            })
        };
        assert_eq!(find(&mut reports).unwrap(), Place::Path(cache.join("toy.zip")));
        assert_eq!(reports.last(), Some(&(ZIP.len() as u64)));
        reports.clear();
        assert_eq!(find(&mut reports).unwrap(), Place::Path(cache.join("toy.zip")));
        assert_eq!(reports, [0; 0], "found, not fetched again");

        fs::create_dir_all(second.join("toy")).unwrap();
        assert_eq!(find(&mut reports).unwrap(), Place::Path(second.join("toy")));
        fs::create_dir_all(&first).unwrap();
        fs::write(first.join("toy.zip"), "broken").unwrap();
        let error = find(&mut reports).unwrap_err().to_string();
        assert!(error.contains(&sha256(b"broken")) && error.contains(&sha256(ZIP)), "{error}");
        assert!(error.contains("help: remove it"), "{error}");
    }

    #[test]
    fn a_failed_download_says_where_to_put_the_file_by_hand() {
        let root = tempfile::tempdir().unwrap();
        let toy = entry(format!("{}/nowhere", serve(ZIP)));
        let folders = Folders { search: vec![], cache: Some(root.path().to_owned()) };
        let error = locate_entry(&toy, &folders, &mut |_| {}).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("toy.zip"), "{error}");
        let homeless = Folders { search: vec![], cache: None };
        assert_eq!(locate_entry(&toy, &homeless, &mut |_| {}).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn a_path_wins_and_an_unknown_name_is_answered() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("clicks.csv");
        fs::write(&file, "").unwrap();
        let located = locate(file.to_str().unwrap(), None, &mut |_| {}).unwrap();
        assert_eq!((&*located.name, &located.place), ("clicks", &Place::Path(file)));
        let synthetic = locate("synthetic", None, &mut |_| {}).unwrap();
        assert_eq!(synthetic.place, Place::Synthetic(SyntheticConfig::default()));
        let error = locate("gowala", None, &mut |_| {}).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("did you mean 'gowalla'?"), "{error}");
        let error = locate("./nowhere/clicks.csv", None, &mut |_| {}).unwrap_err().to_string();
        assert!(error.starts_with("./nowhere/clicks.csv: no such file"), "{error}");
    }
}
