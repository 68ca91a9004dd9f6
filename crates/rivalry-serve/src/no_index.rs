//! In the place of the approximate index, in builds without it.

use rivalry::Result;
use rivalry::ranker::Ranker;

use crate::compute::UserTask;
use crate::served::List;

/// This build has none.
pub(crate) enum Index {}

impl Index {
    pub fn build(_: &Ranker) -> Result<Option<Self>> {
        let what = "this build has no approximate index: it was built without the feature `hnsw`";
        Err(rivalry::InputError::new(what).help("leave --approximate out: the search is exact then").into())
    }

    pub fn recall(&self) -> f64 {
        match *self {}
    }

    pub fn user(&self, _: &Ranker, _: &UserTask) -> Result<List> {
        match *self {}
    }
}
