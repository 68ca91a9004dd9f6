//! Row-major tables with cache-line-aligned rows.

use bytemuck::{Pod, Zeroable};

use crate::allocator::advise_huge_pages;

/// The number of `f32` elements in a [`Lane`].
pub const LANES: usize = 16;

/// Sixteen elements: one cache line, one AVX-512 register or two AVX2 registers. The unit in which kernels read and
/// write rows: a row is a whole number of lanes, so kernels need no tail loops.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Lane(pub [f32; LANES]);

/// A lane of zeros.
pub const ZERO: Lane = Lane([0.0; LANES]);

/// A dense `rows × cols` table of `f32`.
///
/// Each row is padded with zeros to a whole number of [`Lane`]s. The padding stays zero through every operation of this
/// crate (its gradient is zero), so any number of columns works.
///
/// ```
/// use rivalry_kernels::Matrix;
/// let mut table = Matrix::zeros(3, 5);
/// table.row_mut(1)[4] = 2.5;
/// assert_eq!(table.row(1), [0.0, 0.0, 0.0, 0.0, 2.5]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    lanes: usize,
    data: Vec<Lane>,
}

impl Matrix {
    /// A table of zeros. A large one is on huge pages where the system has them: rows are gathered in any order.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        let lanes = cols.div_ceil(LANES);
        let mut data = Vec::with_capacity(rows * lanes);
        advise_huge_pages(data.spare_capacity_mut());
        data.resize(rows * lanes, ZERO);
        Self { rows, cols, lanes, data }
    }

    /// A table whose element `(r, c)` is `value(r, c)`.
    pub fn from_fn(rows: usize, cols: usize, mut value: impl FnMut(usize, usize) -> f32) -> Self {
        let mut table = Self::zeros(rows, cols);
        for r in 0..rows {
            for (c, x) in table.row_mut(r).iter_mut().enumerate() {
                *x = value(r, c);
            }
        }
        table
    }

    /// A table of these lanes, row by row. The padding must be zero.
    ///
    /// # Panics
    /// If their number is not that of the table.
    pub fn from_lanes(rows: usize, cols: usize, data: Vec<Lane>) -> Self {
        let lanes = cols.div_ceil(LANES);
        assert_eq!(data.len(), rows * lanes, "{rows} rows of {lanes} lanes");
        Self { rows, cols, lanes, data }
    }

    /// The lanes, row by row.
    pub fn into_lanes(self) -> Vec<Lane> {
        self.data
    }

    /// Changes the shape. If it differs from the present one, all elements become zero; otherwise they are kept.
    pub fn resize(&mut self, rows: usize, cols: usize) {
        if (self.rows, self.cols) != (rows, cols) {
            *self = Self::zeros(rows, cols);
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns, without padding.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The number of lanes in a row, padding included.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Row `r` without its padding.
    pub fn row(&self, r: usize) -> &[f32] {
        &bytemuck::cast_slice(self.row_lanes(r))[..self.cols]
    }

    /// Row `r` without its padding, mutably.
    pub fn row_mut(&mut self, r: usize) -> &mut [f32] {
        let cols = self.cols;
        &mut bytemuck::cast_slice_mut(self.row_lanes_mut(r))[..cols]
    }

    /// Row `r` as lanes, padding included.
    pub fn row_lanes(&self, r: usize) -> &[Lane] {
        &self.data[r * self.lanes..][..self.lanes]
    }

    /// Row `r` as lanes, padding included, mutably. The padding must stay zero.
    pub fn row_lanes_mut(&mut self, r: usize) -> &mut [Lane] {
        &mut self.data[r * self.lanes..][..self.lanes]
    }

    /// All rows as lanes, padding included.
    pub fn as_lanes(&self) -> &[Lane] {
        &self.data
    }

    /// All rows as lanes, padding included, mutably. The padding must stay zero.
    pub fn as_lanes_mut(&mut self) -> &mut [Lane] {
        &mut self.data
    }

    /// The rows with these indices, in this order, as a table of their own.
    pub fn gather(&self, rows: &[u32]) -> Self {
        let mut gathered = Self::zeros(rows.len(), self.cols);
        for (place, &row) in rows.iter().enumerate() {
            gathered.row_lanes_mut(place).copy_from_slice(self.row_lanes(row as usize));
        }
        gathered
    }

    /// The elements in row-major order, without padding.
    pub fn to_dense(&self) -> Vec<f32> {
        (0..self.rows).flat_map(|r| self.row(r).iter().copied()).collect()
    }

    /// A table from elements in row-major order, without padding. `None` if their number is not `rows × cols`.
    pub fn from_dense(rows: usize, cols: usize, values: &[f32]) -> Option<Self> {
        if values.len() != rows.checked_mul(cols)? {
            return None;
        }
        Some(Self::from_fn(rows, cols, |r, c| values[r * cols + c]))
    }

    /// Sets every element to zero.
    pub fn fill_zero(&mut self) {
        self.data.fill(ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_padded_layouts_hold_the_same_elements() {
        let numbers: Vec<f32> = (0..51).map(|x| x as f32).collect();
        let table = Matrix::from_dense(3, 17, &numbers).unwrap();
        assert_eq!((table.lanes(), table.row(2)[16]), (2, 50.0));
        assert_eq!(table.to_dense(), numbers);
        assert!(Matrix::from_dense(3, 16, &numbers).is_none());
    }
}
