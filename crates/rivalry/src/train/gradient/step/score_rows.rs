//! A value for each candidate of each training pair.

use rivalry_kernels::{LANES, Lane, ZERO};

/// A row of values for each training pair: scores, features, log-probabilities or gradients of its candidates.
///
/// Rows start [`stride`](Self::stride) values apart. A scorer that computes whole lanes uses the rest of a row as working
/// memory.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoreRows {
    lanes: Vec<Lane>,
    rows: usize,
    n: usize,
    stride: usize,
}

impl ScoreRows {
    /// Makes room for `rows` rows of `n` values, `stride` apart.
    pub fn resize(&mut self, rows: usize, n: usize, stride: usize) {
        self.lanes.resize((rows * stride).div_ceil(LANES), ZERO);
        (self.rows, self.n, self.stride) = (rows, n, stride);
    }

    /// Whether there are no rows: nothing asked for these values.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The number of values of a row.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Values from the start of a row to the start of the next.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// All rows, each `stride` long.
    pub fn values(&self) -> &[f32] {
        &bytemuck::cast_slice(&self.lanes)[..self.rows * self.stride]
    }

    /// All rows, each `stride` long, mutably.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut bytemuck::cast_slice_mut(&mut self.lanes)[..self.rows * self.stride]
    }

    /// All rows as lanes; for a stride of whole lanes.
    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        debug_assert!(self.stride.is_multiple_of(LANES), "rows of whole lanes");
        &mut self.lanes
    }

    /// The values of one row.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values()[row * self.stride..][..self.n]
    }
}
