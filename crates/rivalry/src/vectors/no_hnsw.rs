//! In the place of the HNSW index, in builds without it.

use super::Inserting;
use crate::ranker::Ranker;
use crate::{InputError, Result};

/// This build has none.
#[derive(Debug)]
pub enum ItemIndex {}

impl ItemIndex {
    /// Refused: there is no index in this build.
    ///
    /// # Errors
    /// Always.
    pub fn build(_: &Ranker, _: Inserting) -> Result<Self> {
        let what = "this build has no HNSW index: it was built without the feature `hnsw`";
        let help = "build with it (cargo install --locked --path crates/rivalry-cli --features hnsw; needs a C++ compiler); without it, \
                    `serve` searches exactly and `export --to npy` has the vectors";
        Err(InputError::new(what).help(help).into())
    }

    /// There is none to search.
    ///
    /// # Errors
    /// Never: there is no index.
    pub fn search(&self, _: &[f32], _: usize) -> Result<Vec<u32>> {
        match *self {}
    }

    /// There is none to measure.
    ///
    /// # Errors
    /// Never: there is no index.
    pub fn recall_at_20(&self, _: &Ranker) -> Result<f64> {
        match *self {}
    }

    pub(super) fn file(&self) -> Result<Vec<u8>> {
        match *self {}
    }
}
