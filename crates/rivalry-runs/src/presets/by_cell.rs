//! Files with an entry for each cell: the name of a data set, then one table per model and loss.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A cell of the tables: data set × model × loss.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellKey {
    /// The name of the data set.
    pub data: String,
    /// The name of the model.
    #[serde(alias = "backbone")]
    pub model: String,
    /// The name of the loss.
    pub loss: String,
}

impl CellKey {
    /// The cell of these names.
    pub fn new(data: &str, model: &str, loss: &str) -> Self {
        Self { data: data.to_owned(), model: model.to_owned(), loss: loss.to_owned() }
    }
}

/// `DATA/MODEL/LOSS`
impl std::fmt::Display for CellKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.data, self.model, self.loss)
    }
}

#[derive(Deserialize)]
struct File<T> {
    data: String,
    #[serde(flatten)]
    cells: BTreeMap<String, BTreeMap<String, T>>,
}

/// All entries of these files, in their order and within one by the names of model and loss.
///
/// # Panics
/// If a file can't be read: they are embedded, and tested.
pub(super) fn read_all<T: DeserializeOwned>(files: &[&str], with_key: fn(CellKey, T) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for text in files {
        let file: File<T> = toml::from_str(text).expect("the embedded files are tested");
        for (model, losses) in file.cells {
            let cells = losses.into_iter();
            all.extend(cells.map(|(loss, cell)| with_key(CellKey::new(&file.data, &model, &loss), cell)));
        }
    }
    all
}
