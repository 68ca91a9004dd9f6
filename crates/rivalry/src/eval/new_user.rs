//! A vector for a user that training never saw, from the items they are known to like.

use super::recommend::unit_rows;
use crate::Matrix;
use crate::data::Interactions;

/// One row for each of the `baskets`: the mean of the basket's items less the mean of all items.
///
/// This is the direction of the softmax loss's first step for a user about whom nothing is known yet: every negative
/// weighs the same, so the user moves towards the mean of the positives and away from the mean of the catalogue. It
/// asks nothing of the model but its scored item table, so it serves every loss and backbone. `unit` says that scores
/// are cosines: then the rows have length one. An empty basket says nothing, and gets a row of zeros.
///
/// # Panics
/// If the baskets are not of this table's items.
pub fn new_users(items: &Matrix, baskets: &Interactions, unit: bool) -> Matrix {
    assert_eq!(items.rows(), baskets.n_items(), "baskets of other items");
    let all: Vec<u32> = (0..items.rows() as u32).collect();
    let middle = mean(items, &all);
    let mut users = Matrix::zeros(baskets.n_users(), items.cols());
    for user in 0..baskets.n_users() {
        let basket = baskets.items_of(user as u32);
        if !basket.is_empty() {
            let own = mean(items, basket);
            for ((x, own), middle) in users.row_mut(user).iter_mut().zip(own).zip(&middle) {
                *x = (own - middle) as f32;
            }
        }
    }
    if unit { unit_rows(&users) } else { users }
}

fn mean(items: &Matrix, ids: &[u32]) -> Vec<f64> {
    let mut sum = vec![0.0; items.cols()];
    for &id in ids {
        sum.iter_mut().zip(items.row(id as usize)).for_each(|(sum, &x)| *sum += f64::from(x));
    }
    sum.iter_mut().for_each(|sum| *sum /= ids.len().max(1) as f64);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_user_is_drawn_to_their_items_and_away_from_the_middle() {
        let items = Matrix::from_dense(4, 2, &[1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 3.0, 2.0]).unwrap();
        let baskets = Interactions::from_pairs(3, 4, [(0, 0), (0, 1), (2, 3)]);
        let users = new_users(&items, &baskets, false);
        assert_eq!(
            (users.row(0), users.row(1), users.row(2)),
            (&[-0.5, -0.5][..], &[0.0, 0.0][..], &[2.0, 1.0][..])
        );
        let users = new_users(&items, &baskets, true);
        assert!((users.row(2)[0] - 2.0 / 5f32.sqrt()).abs() < 1e-6 && users.row(1) == [0.0, 0.0]);
    }
}
