//! How a training begins: random tables, each row from its own stream.

use rayon::prelude::*;
use rivalry_kernels::Matrix;

use super::optim::AdamState;
use super::progress::Progress;
use super::store::Stopped;
use crate::backbone::Embeddings;
use crate::loss::{self, Init, Loss};
use crate::rng::{Purpose, normal, stream};

/// A training that has not taken a step.
pub(super) fn beginning(loss: &dyn Loss, [n_users, n_items, dim]: [usize; 3], seed: u64) -> Stopped {
    let tables = |purpose| {
        (initial(loss.init(), [n_users, n_items, dim], seed, purpose), AdamState::new(n_users, n_items, dim))
    };
    let (learned, optim) = tables(Purpose::Init);
    let rival = loss.rival().map(|_| tables(Purpose::AdversaryInit));
    Stopped { progress: Progress::default(), learned, optim, rival, loss: loss::State::new(), best: None }
}

/// Random embeddings, each row from its own stream.
fn initial(init: Init, [n_users, n_items, dim]: [usize; 3], seed: u64, purpose: Purpose) -> Embeddings {
    let table = |which: u64, rows: usize| {
        let deviation = match init {
            Init::Normal(deviation) => deviation,
            Init::Xavier => (2.0 / (rows + dim) as f64).sqrt(),
        } as f32;
        let mut table = Matrix::zeros(rows, dim);
        let lanes = table.lanes();
        table.as_lanes_mut().par_chunks_mut(lanes).enumerate().for_each(|(row, place)| {
            let mut rng = stream(seed, purpose, &[which, row as u64]);
            let row: &mut [f32] = &mut bytemuck::cast_slice_mut(place)[..dim];
            for pair in row.chunks_mut(2) {
                pair.copy_from_slice(&normal(&mut rng).map(|x| x * deviation)[..pair.len()]);
            }
        });
        table
    };
    Embeddings { users: table(0, n_users), items: table(1, n_items) }
}
