//! The learned tables, what is scored of them, and how a gradient moves them.

use rayon::prelude::*;
use rivalry_kernels::{Adam, Lane, Matrix, ZERO, adam, normalise, normalise_backward};
use serde::{Deserialize, Serialize};

use super::optim::AdamState;
use crate::backbone::{Backbone, Embeddings};

/// How a user and an item make a score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// The cosine of their embeddings.
    #[default]
    Cosine,
    /// The dot product of their embeddings.
    Dot,
}

/// Rows a task works on at a time: few enough to stay in the first-level cache through all it does to them.
const BLOCK: usize = 32;

/// A recommender in training.
pub struct Model {
    backbone: Box<dyn Backbone>,
    learned: Embeddings,
    propagated: Option<Embeddings>,
    unit: Option<Unit>,
}

/// Embeddings of length one, and one over the lengths they had.
struct Unit {
    embeddings: Embeddings,
    inverse_lengths: [Vec<f32>; 2],
}

impl Model {
    /// A model that starts from these tables.
    pub fn new(backbone: Box<dyn Backbone>, score: Score, learned: Embeddings) -> Self {
        let propagated = (!backbone.is_identity()).then(|| learned.clone());
        let unit = (score == Score::Cosine).then(|| Unit {
            inverse_lengths: [vec![0.0; learned.users.rows()], vec![0.0; learned.items.rows()]],
            embeddings: learned.clone(),
        });
        let mut model = Self { backbone, learned, propagated, unit };
        model.refresh();
        model
    }

    /// The learned tables.
    pub fn learned(&self) -> &Embeddings {
        &self.learned
    }

    /// The tables whose dot products are the scores.
    pub fn scored(&self) -> &Embeddings {
        match (&self.unit, &self.propagated) {
            (Some(unit), _) => &unit.embeddings,
            (None, Some(propagated)) => propagated,
            (None, None) => &self.learned,
        }
    }

    /// Brings what is scored up to date with what is learned.
    fn refresh(&mut self) {
        if let Some(propagated) = &mut self.propagated {
            self.backbone.forward(&self.learned, propagated);
        }
        if let Some(unit) = &mut self.unit {
            let [user_lengths, item_lengths] = &mut unit.inverse_lengths;
            let source = self.propagated.as_ref().unwrap_or(&self.learned);
            normalise_table(&source.users, &mut unit.embeddings.users, user_lengths);
            normalise_table(&source.items, &mut unit.embeddings.items, item_lengths);
        }
    }

    /// Takes one Adam step along gradients of the scored tables, and leaves `grads` zero.
    pub(super) fn update(&mut self, grads: &mut Embeddings, optim: &mut AdamState, step: &Adam) {
        if self.backbone.is_identity() {
            self.update_in_one_sweep(grads, optim, step);
        } else {
            if let Some(unit) = &self.unit {
                let [user_lengths, item_lengths] = &unit.inverse_lengths;
                normalise_table_backward(&unit.embeddings.users, user_lengths, &mut grads.users);
                normalise_table_backward(&unit.embeddings.items, item_lengths, &mut grads.items);
            }
            self.backbone.backward(grads);
            let tables = self.learned.tables_mut().into_iter().zip(optim.first.tables_mut());
            for ((x, m), (v, g)) in tables.zip(optim.second.tables_mut().into_iter().zip(grads.tables_mut()))
            {
                rows_of(x).zip(rows_of(m)).zip(rows_of(v)).zip(rows_of(g)).for_each(|(((x, m), v), g)| {
                    adam(step, x, m, v, g);
                    g.fill(ZERO);
                });
            }
            self.refresh();
        }
    }

    /// The same for a backbone that changes nothing: each row goes through all of it while it is in the cache.
    fn update_in_one_sweep(&mut self, grads: &mut Embeddings, optim: &mut AdamState, step: &Adam) {
        let Self { learned, unit, .. } = self;
        let moments = optim.first.tables_mut().into_iter().zip(optim.second.tables_mut());
        let tables = learned.tables_mut().into_iter().zip(grads.tables_mut()).zip(moments);
        match unit {
            None => {
                for ((x, g), (m, v)) in tables {
                    rows_of(x).zip(rows_of(g)).zip(rows_of(m)).zip(rows_of(v)).for_each(
                        |(((x, g), m), v)| {
                            adam(step, x, m, v, g);
                            g.fill(ZERO);
                        },
                    );
                }
            }
            Some(unit) => {
                let units = unit.embeddings.tables_mut().into_iter().zip(&mut unit.inverse_lengths);
                for (((x, g), (m, v)), (unit, lengths)) in tables.zip(units) {
                    let lanes = x.lanes();
                    let normal = rows_of(unit).zip(lengths.par_chunks_mut(BLOCK));
                    rows_of(x).zip(rows_of(g)).zip(rows_of(m)).zip(rows_of(v)).zip(normal).for_each(
                        |((((x, g), m), v), (unit, lengths))| {
                            normalise_backward(unit, lanes, lengths, g);
                            adam(step, x, m, v, g);
                            normalise(x, lanes, unit, lengths);
                            g.fill(ZERO);
                        },
                    );
                }
            }
        }
    }
}

/// The table in blocks of rows, side by side.
fn rows_of(table: &mut Matrix) -> rayon::slice::ChunksMut<'_, Lane> {
    let block = BLOCK * table.lanes();
    table.as_lanes_mut().par_chunks_mut(block)
}

fn normalise_table(rows: &Matrix, unit: &mut Matrix, inverse_lengths: &mut [f32]) {
    let lanes = rows.lanes();
    let blocks = rows.as_lanes().par_chunks(BLOCK * lanes);
    blocks
        .zip(rows_of(unit))
        .zip(inverse_lengths.par_chunks_mut(BLOCK))
        .for_each(|((rows, unit), lengths)| normalise(rows, lanes, unit, lengths));
}

fn normalise_table_backward(unit: &Matrix, inverse_lengths: &[f32], grads: &mut Matrix) {
    let lanes = unit.lanes();
    let blocks = unit.as_lanes().par_chunks(BLOCK * lanes);
    blocks
        .zip(rows_of(grads))
        .zip(inverse_lengths.par_chunks(BLOCK))
        .for_each(|((unit, grads), lengths)| normalise_backward(unit, lanes, lengths, grads));
}
