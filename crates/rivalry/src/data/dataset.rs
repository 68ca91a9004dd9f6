//! What a model is trained and judged on.

use super::{IdMap, Interactions};

/// A set of interactions cut into training, validation and test parts over the same users and items.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name it was asked for by, or its file's name.
    pub name: String,
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// What the model learns from.
    pub train: Interactions,
    /// What epochs and settings are chosen on; empty if nothing was held out for it.
    pub valid: Interactions,
    /// What is reported.
    pub test: Interactions,
    /// SHA-256 of the three parts and the id maps, in hex: two runs with the same value saw the same data.
    pub checksum: String,
    /// What the user should know about how the data were read: merged duplicates, unseen test items…
    pub notes: Vec<String>,
}
