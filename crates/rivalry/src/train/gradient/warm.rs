//! Warm starts: a training that begins with the tables of a model, on data with more users and items.

use super::GradientTrainer;
use crate::backbone::Embeddings;
use crate::config::Config;
use crate::data::{Dataset, Interactions};
use crate::memory::MemoryLimit;
use crate::model::{LEARNED, Model};
use crate::optim::Size;
use crate::train::TrainingState;
use crate::{InputError, Matrix, Result};

/// The state of a training that begins where a model ended. The users and items of the model come first in the data set,
/// with the numbers they have in the model; their rows are the model's. The row of a new user points from the mean of all
/// items towards the mean of the user's items, and that of a new item in the same way to its users; who has none that the
/// model knows gets a random row. A model without a user table gets rows for new items alone.
///
/// # Errors
/// If the model is a closed form, or the data set doesn't continue its users and items.
pub fn warm_start(model: &Model, dataset: &Dataset, config: &Config) -> Result<TrainingState> {
    let gradient = config.require_gradient("be trained further")?;
    let continues = |old: &crate::data::IdMap, new: &crate::data::IdMap| {
        old.len() <= new.len() && old.iter().zip(new.iter()).all(|(old, new)| old == new)
    };
    if !continues(&model.users, &dataset.users) || !continues(&model.items, &dataset.items) {
        let what = "the data don't begin with the users and items of the model";
        return Err(InputError::new(what).into());
    }
    let learned = model.tensors.get_embeddings(LEARNED)?;
    let users = config.model.users().table_rows(dataset.users.len());
    let size = Size { users, items: dataset.items.len(), dim: learned.dim() };
    let trainer = GradientTrainer::new(config, gradient, MemoryLimit::default());
    let mut state = trainer.beginning(&*gradient.loss.build(), size, &dataset.train)?;
    let old = [learned.users.rows(), learned.items.rows()];
    for (table, learned) in state.learned.tables_mut().into_iter().zip(learned.tables()) {
        for row in 0..learned.rows() {
            table.row_mut(row).copy_from_slice(learned.row(row));
        }
    }
    let Embeddings { users, items } = &mut state.learned;
    // Items first: a new user may have new items.
    fold_in_rows(items, old[1], &dataset.train.transposed(), (users, old[0]));
    let known = items.rows();
    fold_in_rows(users, old[0], &dataset.train, (items, known));
    Ok(state)
}

/// Fills in the rows of a table from this one on: the direction of the mean of the other table's rows that go with it,
/// minus the mean of all; the length of a usual row. Only the first so many rows of the other table are known.
fn fold_in_rows(table: &mut Matrix, from: usize, pairs: &Interactions, (others, known): (&Matrix, usize)) {
    let all: Vec<u32> = (0..known as u32).collect();
    let centre = mean_direction(others, &all);
    let length = (0..from).map(|row| norm(table.row(row))).sum::<f64>() / from.max(1) as f64;
    for row in from..table.rows() {
        let history: Vec<u32> =
            pairs.items_of(row as u32).iter().copied().filter(|&other| (other as usize) < known).collect();
        if history.is_empty() {
            continue;
        }
        let mut direction = mean_direction(others, &history);
        direction.iter_mut().zip(&centre).for_each(|(x, centre)| *x -= centre);
        let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm > 0.0 && length > 0.0 {
            let scale = length / norm;
            table.row_mut(row).iter_mut().zip(&direction).for_each(|(x, d)| *x = (d * scale) as f32);
        }
    }
}

/// The mean of these rows at length one.
fn mean_direction(table: &Matrix, rows: &[u32]) -> Vec<f64> {
    let mut sum = vec![0.0; table.cols()];
    for &row in rows {
        let row = table.row(row as usize);
        let norm = norm(row);
        if norm > 0.0 {
            sum.iter_mut().zip(row).for_each(|(sum, &x)| *sum += f64::from(x) / norm);
        }
    }
    sum.iter_mut().for_each(|x| *x /= rows.len().max(1) as f64);
    sum
}

fn norm(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Parts;
    use crate::tensors::Tensors;

    fn dataset(users: usize, items: usize, pairs: &[(u32, u32)]) -> Dataset {
        let ids = |n: usize| (0..n).map(|id| format!("id-{id}")).collect();
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(users, items, pairs.iter().copied());
        let parts = Parts { train: part(pairs), valid: part(&[]), test: part(&[]) };
        Dataset::new("small", ids(users), ids(items), parts, vec![]).unwrap()
    }

    #[test]
    fn old_rows_are_kept_and_new_ones_point_to_what_they_have() {
        let config =
            Config::from_layers(&["model.dim = 2\nloss.type = 'sl'\ntrain.negatives = 1".parse().unwrap()]);
        let config = config.unwrap();
        let learned = Embeddings {
            users: Matrix::from_dense(2, 2, &[2.0, 0.0, 0.0, 2.0]).unwrap(),
            items: Matrix::from_dense(2, 2, &[3.0, 0.0, 0.0, 3.0]).unwrap(),
        };
        let mut tensors = Tensors::default();
        tensors.put_embeddings(LEARNED, &learned);
        let old = dataset(2, 2, &[(0, 0), (1, 1)]);
        let model = Model::new(&old, config.clone(), tensors, Some(1));
        // User 2 has item 0; item 2 has user 1; user 3 and item 3 have nothing but each other.
        let new = dataset(4, 4, &[(0, 0), (1, 1), (2, 0), (1, 2), (3, 3)]);
        let state = warm_start(&model, &new, &config).unwrap();
        let Embeddings { users, items } = &state.learned;
        for (table, learned) in [users, items].into_iter().zip(learned.tables()) {
            assert!((0..2).all(|row| table.row(row) == learned.row(row)));
        }
        let cosine = |a: &[f32], b: &[f32]| {
            let dot: f64 = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum();
            dot / (norm(a) * norm(b))
        };
        assert!((norm(items.row(2)) - 3.0).abs() < 1e-5 && cosine(items.row(2), users.row(1)) > 0.7);
        assert!((norm(users.row(2)) - 2.0).abs() < 1e-5 && cosine(users.row(2), items.row(0)) > 0.3);
        assert!(norm(users.row(3)) > 0.0 && norm(items.row(3)) > 0.0);
        assert_eq!(state.learned, warm_start(&model, &new, &config).unwrap().learned);
        let error = warm_start(&model, &dataset(1, 4, &[(0, 0)]), &config).err().unwrap().to_string();
        assert!(error.contains("don't begin with the users"), "{error}");
    }
}
