//! Initial tables: random, each row from its own stream.

use rayon::prelude::*;
use rivalry_kernels::Matrix;

use crate::backbone::Embeddings;
use crate::loss::Init;
use crate::optim::Size;
use crate::rng::{Purpose, normal, stream};

/// Random embeddings.
pub(crate) fn initial(init: Init, size: Size, seed: u64, purpose: Purpose) -> Embeddings {
    let dim = size.dim;
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
    Embeddings { users: table(0, size.users), items: table(1, size.items) }
}
