//! Dot products of one row with some rows of a table, with the bits of a dense product.

use fearless_simd::{Simd, dispatch, f32x4, prelude::*};

use crate::simd::level;
use crate::{LANES, Lane};

/// Rows whose products are computed together.
const TOGETHER: usize = 8;

/// The dot product of a query with each of some rows of a table: as [`dots`](crate::dots), but each is one chain of
/// multiply-adds, so that the bits are those of [`dots_packed`](crate::dots_packed).
///
/// # Panics
/// If a row is not in the table, or `out` has another length than `rows`.
pub fn chained_dots(query: &[Lane], table: &[Lane], rows: &[u32], out: &mut [f32]) {
    assert_eq!(rows.len(), out.len(), "one place for each row");
    let lanes = query.len();
    let row = |row: u32| &table[row as usize * lanes..][..lanes];
    dispatch!(level(), simd => {
        for (rows, out) in rows.chunks(TOGETHER).zip(out.chunks_mut(TOGETHER)) {
            // The last rows are repeated to make up the number.
            let last = rows.len() - 1;
            let rows: [&[Lane]; TOGETHER] = std::array::from_fn(|k| row(rows[k.min(last)]));
            out.copy_from_slice(&dots_of(simd, query, rows)[..out.len()]);
        }
    });
}

#[inline(always)]
fn dots_of<S: Simd>(simd: S, query: &[Lane], rows: [&[Lane]; TOGETHER]) -> [f32; TOGETHER] {
    let mut sums = [f32x4::splat(simd, 0.0); TOGETHER / 4];
    for (lane, query) in query.iter().enumerate() {
        for at in (0..LANES).step_by(4) {
            for (sum, rows) in sums.iter_mut().zip(rows.as_chunks::<4>().0) {
                // No `map`: its closure would not be inlined into code compiled for another instruction set.
                let [a, b, c, d] = rows;
                let part = |row: &[Lane]| *row[lane].0[at..].first_chunk().unwrap_or(&[0.0; 4]);
                let columns = transposed(simd, [part(a), part(b), part(c), part(d)]);
                for (column, weight) in columns.into_iter().zip(&query.0[at..]) {
                    *sum = column.mul_add(f32x4::splat(simd, *weight), *sum);
                }
            }
        }
    }
    let mut out = [0.0; TOGETHER];
    out.as_chunks_mut::<4>().0.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum.into());
    out
}

/// The columns of four rows of four numbers.
#[inline(always)]
fn transposed<S: Simd>(simd: S, [a, b, c, d]: [[f32; 4]; 4]) -> [f32x4<S>; 4] {
    let (a, b) = (f32x4::simd_from(simd, a), f32x4::simd_from(simd, b));
    let (c, d) = (f32x4::simd_from(simd, c), f32x4::simd_from(simd, d));
    let ac = (simd.zip_low_f32x4(a, c), simd.zip_high_f32x4(a, c));
    let bd = (simd.zip_low_f32x4(b, d), simd.zip_high_f32x4(b, d));
    [
        simd.zip_low_f32x4(ac.0, bd.0),
        simd.zip_high_f32x4(ac.0, bd.0),
        simd.zip_low_f32x4(ac.1, bd.1),
        simd.zip_high_f32x4(ac.1, bd.1),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::at_every_level;
    use crate::{Matrix, ZERO, dots_packed, pack_panels};

    #[test]
    fn has_the_bits_of_a_dense_product() {
        let table = Matrix::from_fn(37, 50, |row, column| ((row * 50 + column) as f32 * 0.37).sin());
        let query = Matrix::from_fn(1, 50, |_, column| (column as f32 * 0.71).cos());
        let lanes = table.lanes();
        at_every_level(|| {
            let mut panels = vec![ZERO; 37usize.div_ceil(LANES) * lanes * LANES];
            pack_panels(table.as_lanes(), lanes, &mut panels);
            let mut all = vec![ZERO; 3];
            dots_packed(query.as_lanes(), lanes, &panels, &mut all, 3);
            let all: &[f32] = bytemuck::cast_slice(&all);
            for count in [0, 1, 7, 8, 9, 21] {
                let rows: Vec<u32> = (0..count).map(|k| k * 5 % 37).collect();
                let mut found = vec![0.0; rows.len()];
                chained_dots(query.as_lanes(), table.as_lanes(), &rows, &mut found);
                let expected: Vec<f32> = rows.iter().map(|&row| all[row as usize]).collect();
                assert_eq!(found, expected);
            }
        });
    }

    #[test]
    fn agrees_with_the_scalar_loop() {
        let table = Matrix::from_fn(9, 20, |row, column| (row + 2 * column) as f32 * 0.125);
        let mut found = [0.0; 9];
        let rows: Vec<u32> = (0..9).collect();
        chained_dots(table.row_lanes(4), table.as_lanes(), &rows, &mut found);
        for (row, found) in found.into_iter().enumerate() {
            let expected: f32 = table.row(4).iter().zip(table.row(row)).map(|(a, b)| a * b).sum();
            assert!((found - expected).abs() <= 1e-4 * expected.abs(), "{row}: {found} {expected}");
        }
    }
}
