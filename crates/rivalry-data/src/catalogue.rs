//! The catalogue of named data sets: what they are, where they come from and how they are prepared.
//!
//! Each is a file in `datasets` of this crate and a line in the list below.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::{Preparation, RemoteFile, SyntheticConfig};

/// One named data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    /// The name it is loaded by.
    pub name: String,
    /// The name for display.
    pub title: String,
    /// A one-line description.
    pub description: String,
    /// Where it comes from.
    pub source: Source,
    /// The size of its files; `None` for generated data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
    /// The default preparation.
    pub preparation: Preparation,
}

/// Where a named data set comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Source {
    /// A zip file to download.
    Download(RemoteFile),
    /// Generated on demand.
    Synthetic(SyntheticConfig),
}

/// The size of a data set as distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// The number of users.
    pub users: usize,
    /// The number of items.
    pub items: usize,
    /// The number of training pairs, including those later used for validation.
    pub train: usize,
    /// The number of test pairs.
    pub test: usize,
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(include_str!(concat!("../datasets/", $name, ".toml"))),*]
    };
}

static FILES: &[&str] = embedded![
    "synthetic",
    "amazon2014-health",
    "amazon2014-electronic",
    "amazon2014-movie",
    "gowalla",
    "amazon2014-electronic-popularity",
    "gowalla-popularity",
];

/// All named data sets.
pub fn catalogue() -> &'static [CatalogueEntry] {
    static ENTRIES: LazyLock<Vec<CatalogueEntry>> = LazyLock::new(|| {
        FILES.iter().map(|text| toml::from_str(text).expect("embedded files are valid")).collect()
    });
    &ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Split, Validation};

    #[test]
    fn the_embedded_files_are_well_formed() {
        let names: Vec<&str> = catalogue().iter().map(|entry| &*entry.name).collect();
        assert_eq!(names.len(), 7);
        for entry in catalogue() {
            let text = toml::to_string(entry).unwrap();
            assert_eq!(toml::from_str::<CatalogueEntry>(&text).unwrap(), *entry);
            let Source::Download(RemoteFile { url, sha256, bytes }) = &entry.source else {
                assert!(entry.description.to_lowercase().contains("synthetic"));
                continue;
            };
            let shifted = entry.name.ends_with("-popularity");
            let folder = if shifted { "data_ood" } else { "data_iid" };
            assert!(url.ends_with(&format!("/{folder}/{}/proc.zip", entry.name)), "{url}");
            assert!(sha256.len() == 64 && *bytes > 100_000 && entry.counts.is_some());
            assert_eq!(entry.preparation.split, Split::Given {});
            let validation = if shifted { Validation::None {} } else { Validation::Random { ratio: 0.1 } };
            assert_eq!(entry.preparation.validation, validation);
        }
    }
}
