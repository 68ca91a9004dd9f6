//! Fold-in: a vector for a user that training never saw, from the items of that user.

use rayon::prelude::*;
use rivalry_kernels::Lane;

use crate::Matrix;
use crate::data::Interactions;
use crate::ranker::QUERIES;

/// One vector per user: the mean of the embeddings of the user's items minus the mean over all items.
///
/// This is the direction of the softmax loss's first gradient step for a user with a zero embedding: all negatives have
/// the same weight, so the user moves towards the mean of the positives and away from the mean of the catalogue. It
/// needs nothing of the model but its item embeddings, so it works for every loss and backbone. With `unit`, for models
/// whose scores are cosines, vectors have length one. A user without items gets a vector of zeros.
///
/// # Panics
/// If the histories are not of this table's items.
pub fn fold_in(items: &Matrix, histories: &Interactions, unit: bool) -> Matrix {
    let all: Vec<u32> = (0..items.rows() as u32).collect();
    fold_in_from(items, &mean(items, &all), histories, unit)
}

/// The same, given the mean over all items.
pub(super) fn fold_in_from(items: &Matrix, centre: &[f64], histories: &Interactions, unit: bool) -> Matrix {
    let users = centred_means(items, centre, histories);
    if unit { unit_rows(&users) } else { users }
}

/// For each user the mean of these rows of the user's items minus the centre; zeros without items.
pub(super) fn centred_means(items: &Matrix, centre: &[f64], histories: &Interactions) -> Matrix {
    assert_eq!(items.rows(), histories.n_items(), "histories of other items");
    let (n, mut users) = (histories.n_users(), Matrix::zeros(histories.n_users(), items.cols()));
    let lanes = users.lanes().max(1);
    let fill = |(user, row): (usize, &mut [Lane])| {
        let history = histories.items_of(user as u32);
        if !history.is_empty() {
            let row: &mut [f32] = bytemuck::cast_slice_mut(row);
            for ((x, of_user), centre) in row.iter_mut().zip(mean(items, history)).zip(centre) {
                *x = (of_user - centre) as f32;
            }
        }
    };
    // A few users are not worth waking a thread.
    let rows = users.as_lanes_mut();
    match n <= QUERIES {
        true => rows.chunks_exact_mut(lanes).enumerate().for_each(fill),
        false => rows.par_chunks_exact_mut(lanes).with_min_len(64).enumerate().for_each(fill),
    }
    users
}

/// The mean of these rows.
pub(super) fn mean(items: &Matrix, ids: &[u32]) -> Vec<f64> {
    let mut sum = vec![0.0; items.cols()];
    for &id in ids {
        sum.iter_mut().zip(items.row(id as usize)).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sum.iter_mut().for_each(|sum| *sum /= ids.len().max(1) as f64);
    sum
}

/// The rows scaled to length one, so that their dot products are cosines; rows of zeros stay as they are.
pub fn unit_rows(table: &Matrix) -> Matrix {
    let mut unit = table.clone();
    for r in 0..unit.rows() {
        let row = unit.row_mut(r);
        let norm = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt();
        if norm != 0.0 {
            row.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
        }
    }
    unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_user_points_towards_their_items_and_away_from_the_mean() {
        let items = Matrix::from_dense(4, 2, &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 3.0, 2.0]).unwrap();
        let histories = Interactions::from_pairs(3, 4, [(0, 0), (0, 1), (2, 3)]);
        let users = fold_in(&items, &histories, false);
        assert_eq!(
            (users.row(0), users.row(1), users.row(2)),
            (&[-0.5, -0.5][..], &[0.0, 0.0][..], &[2.0, 1.0][..])
        );
        let users = fold_in(&items, &histories, true);
        assert!((users.row(2)[0] - 2.0 / 5f32.sqrt()).abs() < 1e-6 && users.row(1) == [0.0, 0.0]);
    }
}
