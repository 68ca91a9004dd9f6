//! The learned tables, what is scored of them, and how a gradient moves them.

mod rows;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use rivalry_kernels::{Adam, ZERO, adam};
use serde::{Deserialize, Serialize};

use self::rows::{Tables, rows_of};
use super::optim::AdamState;
use crate::backbone::{Backbone, Embeddings, Step, Unit};

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

    /// Takes one Adam step along gradients of the scored tables, and leaves `grads` zero. Of the users only those listed,
    /// ascending and each once, have a gradient.
    pub(super) fn update(
        &mut self,
        grads: &mut Embeddings,
        users: &[u32],
        optim: &mut AdamState,
        step: &Adam,
        lazy: bool,
    ) {
        if self.backbone.is_identity() {
            // Each row goes through all of it while it is in the cache.
            let [user_tables, item_tables] = self.tables(grads, optim);
            user_tables.step_with(users, step, lazy);
            item_tables.step(step, lazy);
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

    /// All that belongs to the users' rows, and to the items'.
    fn tables<'a>(&'a mut self, grads: &'a mut Embeddings, optim: &'a mut AdamState) -> [Tables<'a>; 2] {
        let [mut user_normal, mut item_normal] = [None, None];
        if let Some(Unit { embeddings, inverse_lengths: [users, items] }) = &mut self.unit {
            user_normal = Some((&mut embeddings.users, &mut users[..]));
            item_normal = Some((&mut embeddings.items, &mut items[..]));
        }
        let AdamState { first, second, .. } = optim;
        [
            Tables {
                learned: &mut self.learned.users,
                grads: &mut grads.users,
                first: &mut first.users,
                second: &mut second.users,
                normal: user_normal,
            },
            Tables {
                learned: &mut self.learned.items,
                grads: &mut grads.items,
                first: &mut first.items,
                second: &mut second.items,
                normal: item_normal,
            },
        ]
    }
}
