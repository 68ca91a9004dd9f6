//! Files that hold something for each cell: a data set's name, then backbone by backbone and loss by loss.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
struct File<T> {
    data: String,
    #[serde(flatten)]
    cells: BTreeMap<String, BTreeMap<String, T>>,
}

/// All that stands in these files, in their order and within one by the names of backbone and loss. `place` tells each
/// its data set, backbone and loss.
///
/// # Panics
/// If a file can't be read: they are part of the program, and tested.
pub(super) fn read_all<T: DeserializeOwned>(files: &[&str], place: fn([String; 3], T) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for text in files {
        let file: File<T> = toml::from_str(text).expect("the embedded files are tested");
        for (backbone, losses) in file.cells {
            let here = losses.into_iter();
            all.extend(here.map(|(loss, cell)| place([file.data.clone(), backbone.clone(), loss], cell)));
        }
    }
    all
}
