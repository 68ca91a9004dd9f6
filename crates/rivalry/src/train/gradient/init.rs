//! Initial tables: random, each row from its own stream; or with the directions of factors from iALS.

use std::ops::Range;

use rayon::prelude::*;
use rivalry_kernels::Matrix;

use crate::Result;
use crate::backbone::{Embeddings, Unit};
use crate::data::Interactions;
use crate::loss::Init;
use crate::models::als_tables;
use crate::optim::Size;
use crate::rng::{Purpose, normal, stream};

/// Keys of the streams of the two tables.
const USERS: u64 = 0;
const ITEMS: u64 = 1;

/// Random embeddings of these users and of all items.
pub(super) fn initial_of_users(
    init: Init,
    size: Size,
    users: Range<usize>,
    seed: u64,
    purpose: Purpose,
) -> Embeddings {
    initial_where(|_| true, init, size, users, seed, purpose)
}

/// The same with zeros for the users of whom this is not true.
pub(crate) fn initial_where(
    is_random: impl Fn(usize) -> bool + Sync,
    init: Init,
    size: Size,
    users: Range<usize>,
    seed: u64,
    purpose: Purpose,
) -> Embeddings {
    let dim = size.dim;
    let table = |which: u64, all: usize, rows: Range<usize>| {
        let deviation = match init {
            Init::Normal(deviation) => deviation,
            Init::Xavier => (2.0 / (all + dim) as f64).sqrt(),
        } as f32;
        let mut table = Matrix::zeros(rows.len(), dim);
        let lanes = table.lanes();
        let places = table.as_lanes_mut().par_chunks_mut(lanes).enumerate();
        places.filter(|(row, _)| which == ITEMS || is_random(rows.start + row)).for_each(|(row, place)| {
            let mut rng = stream(seed, purpose, &[which, (rows.start + row) as u64]);
            let row: &mut [f32] = &mut bytemuck::cast_slice_mut(place)[..dim];
            for pair in row.chunks_mut(2) {
                pair.copy_from_slice(&normal(&mut rng).map(|x| x * deviation)[..pair.len()]);
            }
        });
        table
    };
    Embeddings { users: table(USERS, size.users, users), items: table(ITEMS, size.items, 0..size.items) }
}

/// Sweeps of iALS for initial tables: more change the trained model little.
const SWEEPS: usize = 4;

/// Embeddings with the directions of factors from iALS and the lengths of random ones. Rows without an interaction, whose
/// factors are zero, stay random.
///
/// # Errors
/// If the factors are not finite.
pub(super) fn initial_from_als(
    train: &Interactions,
    seed: u64,
    mut random: Embeddings,
) -> Result<Embeddings> {
    let mut directions = Unit::like(&random);
    directions.set(&als_tables(train, random.dim(), seed, SWEEPS)?);
    let mut lengths = Unit::like(&random);
    lengths.set(&random);
    let directions = directions.embeddings.tables().into_iter().zip(&directions.inverse_lengths);
    for ((table, (unit, known)), inverse) in
        random.tables_mut().into_iter().zip(directions).zip(&lengths.inverse_lengths)
    {
        for row in (0..table.rows()).filter(|&row| known[row] > 0.0 && inverse[row] > 0.0) {
            let length = inverse[row].recip();
            table.row_mut(row).iter_mut().zip(unit.row(row)).for_each(|(x, unit)| *x = length * unit);
        }
    }
    Ok(random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_take_the_directions_of_factors_and_keep_their_lengths() {
        // Two groups of users with items of their own; the last user and the last item have no interaction.
        let pairs = (0..6).flat_map(|user| (0..4).map(move |item| (user, user % 2 * 4 + item)));
        let train = Interactions::from_pairs(7, 9, pairs);
        // More dimensions than items are fine.
        let size = Size { users: 7, items: 9, dim: 12 };
        let random = initial_of_users(Init::Normal(1.0), size, 0..7, 3, Purpose::Init);
        let start = initial_from_als(&train, 3, random.clone()).unwrap();
        let norm = |row: &[f32]| row.iter().map(|x| x * x).sum::<f32>().sqrt();
        for (table, random) in start.tables().into_iter().zip(random.tables()) {
            for row in 0..table.rows() {
                assert!((norm(table.row(row)) - norm(random.row(row))).abs() < 1e-4);
            }
            assert_eq!(table.row(table.rows() - 1), random.row(random.rows() - 1));
        }
        let cosine = |user: usize, item: usize| {
            let (user, item) = (start.users.row(user), start.items.row(item));
            user.iter().zip(item).map(|(a, b)| a * b).sum::<f32>() / (norm(user) * norm(item))
        };
        assert!(cosine(0, 1) > 0.9 && cosine(1, 5) > 0.9, "{} {}", cosine(0, 1), cosine(1, 5));
        assert!(cosine(0, 5) < 0.5, "{}", cosine(0, 5));
        assert_eq!(start, initial_from_als(&train, 3, random).unwrap());
    }
}
