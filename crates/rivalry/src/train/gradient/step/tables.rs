//! Memory of tables that is used again from step to step.

use rivalry_kernels::{LANES, Lane, Matrix, ZERO};

/// Memory of tables that are no longer needed. The pages of a new table of all items come from the system one by one, which takes
/// longer than to fill it.
#[derive(Default)]
pub(super) struct Tables {
    free: Vec<Vec<Lane>>,
}

impl Tables {
    /// A table with anything in it.
    pub fn any(&mut self, rows: usize, cols: usize) -> Matrix {
        let len = rows * cols.div_ceil(LANES);
        // The smallest that is large enough, or else the largest.
        self.free.sort_unstable_by_key(Vec::capacity);
        let fits = self.free.partition_point(|lanes| lanes.capacity() < len);
        let place = fits.min(self.free.len().saturating_sub(1));
        let mut lanes = if self.free.is_empty() { Vec::new() } else { self.free.remove(place) };
        lanes.resize(len, ZERO);
        Matrix::from_lanes(rows, cols, lanes)
    }

    /// A table of zeros.
    pub fn zeros(&mut self, rows: usize, cols: usize) -> Matrix {
        let mut table = self.any(rows, cols);
        table.fill_zero();
        table
    }

    /// Keeps the memory of a table for another.
    pub fn keep(&mut self, table: Matrix) {
        let lanes = table.into_lanes();
        if lanes.capacity() > 0 {
            self.free.push(lanes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_table_that_is_large_enough_is_used_again() {
        let mut tables = Tables::default();
        let kept: Vec<Matrix> = [40, 10, 20].into_iter().map(|rows| tables.any(rows, 3)).collect();
        let at = |table: &Matrix| table.as_lanes().as_ptr();
        let places: Vec<_> = kept.iter().map(at).collect();
        kept.into_iter().for_each(|table| tables.keep(table));
        let mut table = tables.any(15, 20);
        assert_eq!((at(&table), table.rows(), table.cols()), (places[0], 15, 20));
        table.row_mut(7).fill(1.0);
        tables.keep(table);
        assert_eq!(tables.zeros(40, 3), Matrix::zeros(40, 3));
        assert_eq!([at(&tables.any(7, 3)), at(&tables.any(11, 3))], [places[1], places[2]]);
    }
}
