//! The whole way from a name or path to a data set.

use std::path::Path;

use super::read::{ReadOptions, read};
use super::{Dataset, DownloadProgress, Place, Preparation, locate, prepare, synthetic};
use crate::Result;

/// Finds the source, reads it, filters and splits it.
///
/// `source` is the name of a known data set (looked for in `data_dir`, then where [`locate`] says) or a path.
///
/// ```
/// use rivalry::data::{load, Preparation};
/// let dataset = load("synthetic", &Default::default(), &Preparation::default(), None, &mut |_| {}).unwrap();
/// assert_eq!(dataset.users.original(0), "user-0000");
/// ```
pub fn load(
    source: &str,
    options: &ReadOptions,
    preparation: &Preparation,
    data_dir: Option<&Path>,
    progress: &mut dyn FnMut(DownloadProgress<'_>),
) -> Result<Dataset> {
    let located = locate(source, data_dir, progress)?;
    let raw = match &located.place {
        Place::Path(path) => read(path, options)?,
        Place::Synthetic(config) => synthetic(config),
    };
    prepare(&located.name, raw, preparation)
}
