//! Finds a data set by path or name: in the data folders, by download, or generated on demand.

use std::path::{Path, PathBuf};

use super::{
    DownloadProgress, RemoteFile,
    catalogue::{CatalogueEntry, Source, catalogue},
    digest,
    synthetic::SyntheticConfig,
};
use crate::error::{InputError, Result, did_you_mean};
use crate::read::COMPRESSED;

/// A data set that is ready to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The name in the catalogue, or the file name.
    pub name: String,
    /// Where it is.
    pub location: Location,
    /// The entry in the catalogue; `None` for the user's own files.
    pub entry: Option<&'static CatalogueEntry>,
}

/// Where a data set is.
#[derive(Clone, Debug, PartialEq)]
pub enum Location {
    /// In this file or folder.
    Path(PathBuf),
    /// Generated on demand.
    Synthetic(SyntheticConfig),
}

/// Finds a data set by its path or its name.
///
/// An existing path is used as it is. A name of the [`catalogue`] is searched for as file `NAME.zip` and as folder
/// `NAME` in `data_dir`, in the folder named by the environment variable `RIVALRY_DATA`, and in the user's cache folder,
/// in this order; otherwise it is downloaded to the cache folder. The SHA-256 of a zip file found by name is verified.
///
/// The cache folder and the download take the feature `download`.
///
/// # Errors
/// If there is neither such a path nor such a name, a zip file has another checksum, or the download fails.
pub fn locate(
    name_or_path: &str,
    data_dir: Option<&Path>,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Located> {
    if Path::new(name_or_path).exists() {
        return Ok(at_path(name_or_path));
    }
    match catalogue().iter().find(|entry| entry.name == name_or_path) {
        Some(entry) => {
            let location = locate_entry(entry, &Folders::of_user(data_dir), progress)?;
            Ok(Located { name: entry.name.clone(), location, entry: Some(entry) })
        }
        None => Err(not_found(name_or_path).into()),
    }
}

/// Whether [`locate`] finds a data set without a download.
pub fn is_local(name_or_path: &str, data_dir: Option<&Path>) -> bool {
    if Path::new(name_or_path).exists() {
        return true;
    }
    let entry = catalogue().iter().find(|entry| entry.name == name_or_path);
    entry.is_some_and(|entry| match &entry.source {
        Source::Synthetic(_) => true,
        Source::Download(file) => {
            matches!(find(&entry.name, file, &Folders::of_user(data_dir)), Ok(Some(_)))
        }
    })
}

/// The folders that named data sets are searched for in, in this order; with the feature `download`, the last is where
/// downloads are stored.
pub fn data_folders(data_dir: Option<&Path>) -> Vec<PathBuf> {
    let Folders { search, cache } = Folders::of_user(data_dir);
    search.into_iter().chain(cache).collect()
}

/// The local path of each downloadable data set of the catalogue, if it is present. Verifies the checksums of zip files,
/// which reads them completely; a mismatch is an error.
pub fn inventory(data_dir: Option<&Path>) -> Vec<(&'static str, Result<Option<PathBuf>>)> {
    let folders = Folders::of_user(data_dir);
    let files = catalogue().iter().filter_map(|entry| match &entry.source {
        Source::Download(file) => Some((&*entry.name, file)),
        Source::Synthetic(_) => None,
    });
    files.map(|(name, file)| (name, find(name, file, &folders))).collect()
}

/// Where named data sets may be.
struct Folders {
    search: Vec<PathBuf>,
    /// Where downloads are stored.
    cache: Option<PathBuf>,
}

impl Folders {
    /// The only place where the environment is read.
    fn of_user(data_dir: Option<&Path>) -> Self {
        let variable =
            std::env::var_os("RIVALRY_DATA").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let search = data_dir.map(Path::to_owned).into_iter().chain(variable).collect();
        Self { search, cache: cache_folder() }
    }
}

#[cfg(feature = "download")]
fn cache_folder() -> Option<PathBuf> {
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(etcetera::BaseStrategy::cache_dir(&strategy).join("rivalry"))
}

#[cfg(not(feature = "download"))]
fn cache_folder() -> Option<PathBuf> {
    None
}

fn at_path(path: &str) -> Located {
    let file = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    let plain = COMPRESSED.iter().find_map(|extension| file.strip_suffix(extension)).unwrap_or(&file);
    let name = Path::new(plain).file_stem().map_or(plain.into(), |stem| stem.to_string_lossy());
    Located { name: name.into_owned(), location: Location::Path(path.into()), entry: None }
}

fn not_found(given: &str) -> InputError {
    let looks_like_path = given.contains(['/', '\\', '.']);
    let names: Vec<&str> = catalogue().iter().map(|entry| &*entry.name).collect();
    let all = names.join(", ");
    let error = InputError::new("no such file or folder, and no data set of that name").file(given);
    error.help(match did_you_mean(given, names) {
        Some(name) => format!("did you mean '{name}'? Known: {all}"),
        None if looks_like_path => match similar_path(Path::new(given)) {
            Some(similar) => format!("did you mean {}?", similar.display()),
            None => "check the path".to_owned(),
        },
        None => format!("give the path of a file or folder, or one of: {all}"),
    })
}

/// A file or folder beside a path that doesn't exist, with a similar name.
pub fn similar_path(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let entries = parent.unwrap_or(Path::new(".")).read_dir().ok()?;
    let names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    let similar = did_you_mean(name, names.iter().map(String::as_str))?;
    Some(parent.map_or_else(|| PathBuf::from(similar), |parent| parent.join(similar)))
}

fn locate_entry(
    entry: &CatalogueEntry,
    folders: &Folders,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Location> {
    let file = match &entry.source {
        Source::Synthetic(config) => return Ok(Location::Synthetic(config.clone())),
        Source::Download(file) => file,
    };
    match find(&entry.name, file, folders)? {
        Some(path) => Ok(Location::Path(path)),
        None => fetch(&entry.name, file, folders, progress).map(Location::Path),
    }
}

/// The local path of a named data set, if it is present.
fn find(name: &str, file: &RemoteFile, folders: &Folders) -> Result<Option<PathBuf>> {
    for folder in folders.search.iter().chain(&folders.cache) {
        let zip = folder.join(format!("{name}.zip"));
        if zip.is_file() {
            verify(&zip, &file.sha256)?;
            return Ok(Some(zip));
        }
        let extracted = folder.join(name);
        if extracted.is_dir() {
            return Ok(Some(extracted));
        }
    }
    Ok(None)
}

/// Downloads a data set to the cache folder.
#[cfg(feature = "download")]
fn fetch(
    name: &str,
    file: &RemoteFile,
    folders: &Folders,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<PathBuf> {
    use crate::{Error, download::download};
    let Some(cache) = &folders.cache else {
        let message = format!("'{name}' was not found, and there is no home folder to download it to");
        return Err(InputError::new(message).help(fetch_manually(name, file)).into());
    };
    let to = cache.join(format!("{name}.zip"));
    let mut report = |done, total| progress(DownloadProgress { name, done, total });
    match download(file, &to, &mut report) {
        Ok(()) => Ok(to),
        Err(Error::Download { url, reason }) => {
            let help = format!("download it some other way and save it as {}", to.display());
            Err(Error::Download { url, reason: format!("{reason}\n  help: {help}") })
        }
        Err(other) => Err(other),
    }
}

#[cfg(not(feature = "download"))]
fn fetch(
    name: &str,
    file: &RemoteFile,
    folders: &Folders,
    _: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<PathBuf> {
    let searched: Vec<String> = folders.search.iter().map(|folder| folder.display().to_string()).collect();
    let searched = if searched.is_empty() { "no data folder".to_owned() } else { searched.join(", ") };
    let error = InputError::missing_feature(&format!("download '{name}'"), "download");
    Err(error.help(format!("{}; searched: {searched}", fetch_manually(name, file))).into())
}

fn fetch_manually(name: &str, file: &RemoteFile) -> String {
    format!("download {}, save it as {name}.zip and give its path", file.url)
}

fn verify(zip: &Path, expected: &str) -> Result<()> {
    let actual = digest::of_file(zip)?;
    if actual == expected {
        return Ok(());
    }
    let error = InputError::new(format!("the file has SHA-256 {actual}, expected {expected}")).file(zip);
    Err(error.help("remove it to download it again, or give its path to use it as it is").into())
}

#[cfg(test)]
mod tests;
