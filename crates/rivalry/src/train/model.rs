//! The learned tables, what is scored of them, and how a gradient moves them.

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use rivalry_kernels::{Adam, Lane, Matrix, ZERO, adam, normalise, normalise_backward};
use serde::{Deserialize, Serialize};

use super::optim::AdamState;
use crate::backbone::{BLOCK, Backbone, Embeddings, Step, Unit};

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

/// A recommender in training.
pub struct Model {
    backbone: Box<dyn Backbone>,
    learned: Embeddings,
    propagated: Option<Embeddings>,
    unit: Option<Unit>,
    /// Whether what is scored belongs to a training step and not to the evaluation.
    in_training: bool,
}

impl Model {
    /// A model that starts from these tables.
    pub fn new(backbone: Box<dyn Backbone>, score: Score, learned: Embeddings) -> Self {
        let propagated = (!backbone.is_identity()).then(|| learned.clone());
        let unit = (score == Score::Cosine).then(|| Unit::like(&learned));
        let mut model = Self { backbone, learned, propagated, unit, in_training: false };
        model.refresh();
        model
    }

    /// The learned tables.
    pub fn learned(&self) -> &Embeddings {
        &self.learned
    }

    /// What the backbone makes of the learned tables, if that is not just those.
    pub fn propagated(&self) -> Option<&Embeddings> {
        self.propagated.as_ref()
    }

    /// The tables whose dot products are the scores.
    pub fn scored(&self) -> &Embeddings {
        match (&self.unit, &self.propagated) {
            (Some(unit), _) => &unit.embeddings,
            (None, Some(propagated)) => propagated,
            (None, None) => &self.learned,
        }
    }

    /// Makes what is scored what a training step is to see, where that differs from what is evaluated.
    /// From then on, [`settle`](Self::settle) comes before an evaluation.
    pub fn begin_step(&mut self, step: Step<'_>) {
        if let (true, Some(propagated)) = (self.backbone.trains_differently(), &mut self.propagated) {
            self.backbone.forward_training(&self.learned, propagated, step);
            self.normalise();
            self.in_training = true;
        }
    }

    /// The backbone's own loss for a batch of the step that has begun. Its gradients come in with the update.
    pub fn own_loss(&mut self, users: &[u32], items: &[u32]) -> f64 {
        match &self.propagated {
            Some(propagated) if self.in_training => self.backbone.own_loss(propagated, users, items),
            _ => 0.0,
        }
    }

    /// Makes what is scored what is to be evaluated.
    pub fn settle(&mut self) {
        if self.in_training {
            self.refresh();
            self.in_training = false;
        }
    }

    /// Brings what is scored up to date with what is learned.
    fn refresh(&mut self) {
        if let Some(propagated) = &mut self.propagated {
            self.backbone.forward(&self.learned, propagated);
        }
        self.normalise();
    }

    fn normalise(&mut self) {
        if let Some(unit) = &mut self.unit {
            unit.set(self.propagated.as_ref().unwrap_or(&self.learned));
        }
    }

    /// Takes one Adam step along gradients of the scored tables, and leaves `grads` zero.
    pub(super) fn update(&mut self, grads: &mut Embeddings, optim: &mut AdamState, step: &Adam, lazy: bool) {
        if self.backbone.is_identity() {
            self.update_in_one_sweep(grads, optim, step, lazy);
        } else {
            if let Some(unit) = &self.unit {
                unit.backward(grads);
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
            // A training step brings its own tables: those of the evaluation are then made when it comes.
            if !self.in_training {
                self.refresh();
            }
        }
    }

    /// The same for a backbone that changes nothing: each row goes through all of it while it is in the cache.
    fn update_in_one_sweep(
        &mut self,
        grads: &mut Embeddings,
        optim: &mut AdamState,
        step: &Adam,
        lazy: bool,
    ) {
        let Self { learned, unit, .. } = self;
        let moments = optim.first.tables_mut().into_iter().zip(optim.second.tables_mut());
        let tables = learned.tables_mut().into_iter().zip(grads.tables_mut()).zip(moments);
        // How many rows move or stay together: a gradient that is there for one row only should move only that.
        let together = if lazy { 1 } else { BLOCK };
        let stays = |grads: &[Lane]| lazy && grads.iter().all(|lane| *lane == ZERO);
        match unit {
            None => {
                for ((x, g), (m, v)) in tables {
                    let lanes = x.lanes();
                    rows_of(x).zip(rows_of(g)).zip(rows_of(m)).zip(rows_of(v)).for_each(
                        |(((x, g), m), v)| {
                            let rows = [x, g, m, v].map(|table| table.chunks_mut(together * lanes));
                            let [x, g, m, v] = rows;
                            for (((x, g), m), v) in x.zip(g).zip(m).zip(v) {
                                if !stays(g) {
                                    adam(step, x, m, v, g);
                                    g.fill(ZERO);
                                }
                            }
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
                            let [x, g, m, v, unit] =
                                [x, g, m, v, unit].map(|table| table.chunks_mut(together * lanes));
                            let normal = unit.zip(lengths.chunks_mut(together));
                            for ((((x, g), m), v), (unit, lengths)) in x.zip(g).zip(m).zip(v).zip(normal) {
                                if !stays(g) {
                                    normalise_backward(unit, lanes, lengths, g);
                                    adam(step, x, m, v, g);
                                    normalise(x, lanes, unit, lengths);
                                    g.fill(ZERO);
                                }
                            }
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
