//! In the place of the USearch index, in builds without it.

use crate::ranker::Ranker;
use crate::{InputError, Result};

pub(super) fn index_file(_: &Ranker) -> Result<(Vec<u8>, f64)> {
    let what = "this build can't write an index of USearch: it was built without the feature `usearch`";
    let help = "build with it (cargo install --path crates/rivalry-cli --features usearch; needs a C++ compiler), or export npy and \
                build the index from that";
    Err(InputError::new(what).help(help).into())
}
