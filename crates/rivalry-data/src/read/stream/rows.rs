//! Hands on the rows that have been read.

use super::StreamSizes;
use crate::memory::size;
use crate::{InputError, Records, Result};

/// Where rows go, and how much has been read.
pub(crate) struct Blocks<'a> {
    pub(in crate::read) sizes: StreamSizes,
    sink: &'a mut dyn FnMut(Records, (u64, u64)) -> Result<()>,
    /// How much has been read, and how much there is.
    pub(in crate::read) done: u64,
    pub(in crate::read) total: u64,
    /// The number of rows handed on.
    pub(in crate::read) rows: usize,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        sizes: StreamSizes,
        sink: &'a mut dyn FnMut(Records, (u64, u64)) -> Result<()>,
    ) -> Self {
        Self { sizes, sink, done: 0, total: 0, rows: 0 }
    }

    /// Hands on rows; `ids` is the memory that the different ids take by now.
    pub(in crate::read) fn push(&mut self, records: Records, ids: usize) -> Result<()> {
        if ids > self.sizes.ids {
            let (needed, allowed) = (size(ids as u64), size(self.sizes.ids as u64));
            let message = format!(
                "the different ids of the first {} rows take {needed} of memory, and {allowed} are set aside for them",
                crate::thousands(self.rows + records.user.len())
            );
            return Err(InputError::new(message)
                .help("raise --max-memory, or number the ids: small numbers take the least memory")
                .into());
        }
        self.rows += records.user.len();
        if records.user.is_empty() {
            return Ok(());
        }
        (self.sink)(records, (self.done.min(self.total), self.total))
    }
}
