//! How much memory each step of a preparation may use.

use crate::memory::MemoryLimit;
use crate::read::stream::StreamSizes;

/// How much is in memory at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// For reading.
    pub stream: StreamSizes,
    /// The bytes of the pairs that are sorted at a time.
    pub run: usize,
    /// How many runs are merged at a time.
    pub fan_in: usize,
    /// The bytes that are read at a time of each run.
    pub buffer: usize,
    /// The number of pairs of which the users are split and written at a time.
    pub block: usize,
}

impl Budget {
    /// Uses this much memory. A quarter is for sorting; the ids may take what they and their list, which is made when all are
    /// known, fit into.
    pub fn within(memory: MemoryLimit) -> Self {
        let bytes = usize::try_from(memory.get().unwrap_or(4 << 30)).unwrap_or(usize::MAX);
        let ids = bytes / 20 * 9;
        let stream = StreamSizes {
            block: (bytes / 256).clamp(1 << 16, 16 << 20),
            ids,
            numbers: ids / 32,
            rows: bytes / 8 / 40,
            memory,
        };
        Self {
            stream,
            run: bytes / 4,
            fan_in: 64,
            buffer: (bytes / 32 / 64).clamp(1 << 14, 1 << 20),
            block: (bytes / 64 / 64).clamp(1 << 12, 1 << 20),
        }
    }
}
