//! Scores of a block of users against a block of items: one matrix product.

use crate::{LANES, Lane};

/// Writes `out[r * n + c]`, the dot product of user row `r` and item row `c`, for all pairs of rows.
///
/// Both blocks are padded rows of `lanes` lanes each, and `n` is how many item rows there are. The product runs
/// on the calling thread: whoever has many blocks shares them out.
///
/// # Panics
/// If a block is not a whole number of rows, or `out` has not one place for each pair.
pub fn score_block(users: &[Lane], items: &[Lane], lanes: usize, out: &mut [f32]) {
    let (n_users, n_items) = (rows(users, lanes), rows(items, lanes));
    assert_eq!(out.len(), n_users * n_items, "scores of {n_users} users and {n_items} items");
    let width = lanes * LANES;
    let users: &[f32] = bytemuck::cast_slice(users);
    let items: &[f32] = bytemuck::cast_slice(items);
    // SAFETY: the strides walk row-major tables: `users` is n_users × width and `items` (read as its transpose)
    // n_items × width by the construction of `rows`, `out` is n_users × n_items by the assertion above. `out` is
    // borrowed exclusively, so it overlaps neither, and `read_dst = false` means its old content is not used.
    unsafe {
        gemm::gemm(
            n_users,
            n_items,
            width,
            out.as_mut_ptr(),
            1,
            n_items as isize,
            false,
            users.as_ptr(),
            1,
            width as isize,
            items.as_ptr(),
            width as isize,
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

fn rows(block: &[Lane], lanes: usize) -> usize {
    assert!(lanes > 0 && block.len().is_multiple_of(lanes), "{} lanes in rows of {lanes}", block.len());
    block.len() / lanes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Matrix;

    fn scalar(users: &Matrix, items: &Matrix) -> Vec<f32> {
        let dot = |u, i| users.row(u).iter().zip(items.row(i)).map(|(a, b)| a * b).sum();
        (0..users.rows()).flat_map(|u| (0..items.rows()).map(move |i| dot(u, i))).collect()
    }

    #[test]
    fn the_product_agrees_with_the_scalar_loop_for_any_shape() {
        for (n_users, n_items, cols) in
            [(0, 3, 4), (3, 0, 4), (1, 1, 1), (1, 37, 16), (7, 1, 17), (19, 53, 64)]
        {
            let users = Matrix::from_fn(n_users, cols, |r, c| ((r * 31 + c * 7) % 13) as f32 - 6.0);
            let items = Matrix::from_fn(n_items, cols, |r, c| ((r * 17 + c * 11) % 19) as f32 - 9.0);
            let mut scores = vec![f32::NAN; n_users * n_items];
            score_block(users.as_lanes(), items.as_lanes(), users.lanes(), &mut scores);
            // Small whole numbers: the sums are exact, whatever the order.
            assert_eq!(scores, scalar(&users, &items), "{n_users} × {n_items} × {cols}");
        }
    }

    #[test]
    #[should_panic(expected = "scores of 2 users and 3 items")]
    fn a_wrong_output_size_is_refused() {
        let (users, items) = (Matrix::zeros(2, 4), Matrix::zeros(3, 4));
        score_block(users.as_lanes(), items.as_lanes(), 1, &mut [0.0; 5]);
    }
}
