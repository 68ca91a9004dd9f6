//! Loading: from a name or path to a data set.

use std::path::PathBuf;

use super::read::read;
use super::{DataConfig, Dataset, DownloadProgress, Location, locate, prepare, synthetic};
use crate::Result;
use crate::memory::MemoryLimit;

/// Where and within which limits to load. Unlike [`DataConfig`], none of this affects the result.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// A folder to search for named data sets, before the others that [`locate`] searches.
    pub data_dir: Option<PathBuf>,
    /// How much memory reading may use.
    pub memory: MemoryLimit,
}

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
    let located = locate(&config.source, options.data_dir.as_deref(), progress)?;
    let raw = match &located.location {
        Location::Path(path) => read(path, &config.read, options.memory)?,
        Location::Synthetic(config) => synthetic(config),
    };
    prepare(&located.name, raw, &config.prepare)
}
