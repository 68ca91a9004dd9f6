//! Lists for one user or one item, outside any evaluation.

use super::rank::rank;
use crate::{InputError, Matrix, Result};

/// The `n` best items for one user with their scores, best first, without those in the ascending lists `exclude`.
/// Fewer come back if fewer are left.
///
/// # Errors
/// If there is no such user, the tables don't fit each other, `n` is 0, or a score is NaN.
pub fn recommend(
    users: &Matrix,
    items: &Matrix,
    user: u32,
    exclude: &[&[u32]],
    n: usize,
) -> Result<Vec<(u32, f32)>> {
    let lists = rank(users, items, &[user], |_| exclude.iter().copied(), n.min(items.rows()))?;
    Ok(lists.items(0).iter().copied().zip(lists.scores(0).iter().copied()).collect())
}

/// The `n` items most like `item` by the cosine of their embeddings, best first, without the item itself.
/// An embedding of zeros is like none: its cosine is 0.
///
/// # Errors
/// If there is no such item, `n` is 0, or a cosine is NaN.
pub fn similar_items(items: &Matrix, item: u32, n: usize) -> Result<Vec<(u32, f32)>> {
    if item as usize >= items.rows() {
        return Err(InputError::new(format!("item {item} of {} does not exist", items.rows())).into());
    }
    let unit = unit_rows(items);
    recommend(&unit, &unit, item, &[&[item]], n)
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

    fn items() -> Matrix {
        Matrix::from_dense(4, 2, &[1.0, 0.0, 10.0, 10.0, 0.0, 0.0, -3.0, 0.5]).unwrap()
    }

    #[test]
    fn recommendations_leave_out_every_excluded_list() {
        let users = Matrix::from_dense(1, 2, &[1.0, 1.0]).unwrap();
        let all = recommend(&users, &items(), 0, &[], 9).unwrap();
        assert_eq!(all, [(1, 20.0), (0, 1.0), (2, 0.0), (3, -2.5)]);
        let some = recommend(&users, &items(), 0, &[&[1], &[2, 3]], 9).unwrap();
        assert_eq!(some, [(0, 1.0)]);
        assert!(recommend(&users, &items(), 1, &[], 1).is_err());
        assert!(recommend(&users, &items(), 0, &[], 0).is_err());
    }

    #[test]
    fn likeness_is_a_matter_of_direction() {
        let found = similar_items(&items(), 0, 2).unwrap();
        assert_eq!((found[0].0, found[1]), (1, (2, 0.0)));
        assert!((f64::from(found[0].1) - 0.5f64.sqrt()).abs() < 1e-6);
        assert!(similar_items(&items(), 4, 2).is_err());
    }
}
