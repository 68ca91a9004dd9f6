//! Loading: from a name or path to a data set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read::{ReadOptions, read, read_bytes};
use super::{DataConfig, Dataset, DownloadProgress, Location, RawData, locate, prepare, synthetic};
use crate::memory::MemoryLimit;
use crate::{InputError, Result};

/// Where and within which limits to load. Unlike [`DataConfig`], none of this affects the result.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// A folder to search for named data sets, before the others that [`locate`] searches.
    pub data_dir: Option<PathBuf>,
    /// How much memory reading may use.
    pub memory: MemoryLimit,
    /// The content of the source [`STANDARD_INPUT`]. The library never reads the standard input itself.
    pub standard_input: Option<Arc<[u8]>>,
}

/// The source that stands for [`LoadOptions::standard_input`].
pub const STANDARD_INPUT: &str = "-";

/// Locates the source, downloading it if necessary, then reads, filters and splits it. `progress` is called while
/// downloading.
///
/// ```
/// use rivalry_data::{DataConfig, LoadOptions, load};
/// let dataset = load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {})?;
/// assert_eq!(dataset.users.original(0), "user-0000");
/// # Ok::<(), rivalry_data::Error>(())
/// ```
///
/// # Errors
/// If the source can't be found, downloaded, read or split.
pub fn load(
    config: &DataConfig,
    options: &LoadOptions,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Dataset> {
    let (name, raw) = load_raw(config, options, progress)?;
    prepare(&name, raw, &config.prepare)
}

/// The first half of [`load`]: locates and reads the source, and returns its name and its records.
///
/// # Errors
/// If the source can't be found, downloaded or read.
pub fn load_raw(
    config: &DataConfig,
    options: &LoadOptions,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<(String, RawData)> {
    let needs_ratings = config.prepare.min_rating.is_some();
    let reading = ReadOptions { needs_ratings, ..config.read.clone() };
    if config.source == STANDARD_INPUT {
        let Some(bytes) = &options.standard_input else {
            let error = InputError::new("there is no standard input here").field("data.source");
            return Err(error.help("give the path of a file, or the name of a data set").into());
        };
        let raw = read_bytes(Path::new("standard input"), bytes.to_vec(), &reading, options.memory)?;
        return Ok(("stdin".to_owned(), raw));
    }
    let located = locate(&config.source, options.data_dir.as_deref(), progress)?;
    let raw = match &located.location {
        Location::Path(path) => read(path, &reading, options.memory)?,
        Location::Synthetic(config) => synthetic(config),
    };
    Ok((located.name, raw))
}
