//! The `[data]` section of a configuration.

use serde::{Deserialize, Serialize};

use super::{Preparation, read::ReadOptions};
use crate::declared;

declared! {
/// Where the data come from and how they are read and split.
///
/// ```
/// use rivalry_data::DataConfig;
/// let config = DataConfig::new("synthetic");
/// assert_eq!(config, DataConfig { source: "synthetic".into(), ..DataConfig::default() });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// The name of a data set (`rivalry list datasets`), or the path of a file or folder.
    pub source: String,
    /// How to read the files.
    pub read: ReadOptions,
    /// How to filter and split.
    pub prepare: Preparation,
}
}

impl DataConfig {
    /// This source, read and split with the defaults.
    pub fn new(source: impl Into<String>) -> Self {
        Self { source: source.into(), ..Self::default() }
    }
}
