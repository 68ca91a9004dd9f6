//! The learned tables in training, and what the backbone and the normalisation make of them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::backbone::{Backbone, Embeddings, Score, Step, Unit, Users};
use crate::data::Interactions;
use crate::optim::{Gathered, Optimizer, Touched, Trainable};
use crate::scorer::{EmbeddingScorer, HistoryScorer, Scorer, with_prior};

/// A backbone with its learned tables and the embeddings that are scored.
pub struct EmbeddingModel {
    backbone: Box<dyn Backbone>,
    score: Score,
    users: Users,
    /// What is added to the score of each item.
    prior: Option<Vec<f32>>,
    learned: Embeddings,
    /// What the backbone makes of the learned tables, unless it is the identity.
    propagated: Option<Embeddings>,
    /// The rows at length one, where the score is the cosine.
    unit: Option<Unit>,
    /// Whether `propagated` and `unit` are those of a training step, or older than the learned tables.
    stale: bool,
    /// The scored rows of a step that needs only some, in the order in which they are listed.
    gathered: Unit,
    /// Whether the last step's scored rows are those gathered.
    is_gathered: bool,
}

impl EmbeddingModel {
    /// A model that starts from these tables.
    pub fn new(backbone: Box<dyn Backbone>, score: Score, learned: Embeddings) -> Self {
        let propagated = (!backbone.is_identity()).then(|| learned.clone());
        let unit = (score == Score::Cosine).then(|| Unit::like(&learned));
        let (users, prior) = (Users::Table, None);
        let (stale, gathered, is_gathered) = (false, Unit::default(), false);
        let mut model =
            Self { backbone, score, users, prior, learned, propagated, unit, stale, gathered, is_gathered };
        model.refresh();
        model
    }

    /// The same with other embeddings of users.
    #[must_use]
    pub fn with_users(self, users: Users) -> Self {
        Self { users, ..self }
    }

    /// The same with a prior that is added to the score of each item.
    #[must_use]
    pub fn with_prior(self, prior: Option<Vec<f32>>) -> Self {
        Self { prior, ..self }
    }

    /// What is added to the score of each item, if anything.
    pub fn prior(&self) -> Option<&[f32]> {
        self.prior.as_deref()
    }

    /// What the embeddings of users are.
    pub fn users(&self) -> Users {
        self.users
    }

    /// How embeddings make a score.
    pub fn score(&self) -> Score {
        self.score
    }

    /// The scorer of the model as it is, for the users of this training set.
    pub fn scorer<'a>(&'a mut self, train: &'a Interactions) -> Box<dyn Scorer + 'a> {
        let (users, score) = (self.users, self.score);
        self.embeddings();
        let scorer = EmbeddingScorer::scored(self.scored(), score);
        let scorer: Box<dyn Scorer + 'a> = match users {
            Users::Table => Box::new(scorer),
            Users::Items { user_weight } => {
                Box::new(HistoryScorer::new(scorer, user_weight, Cow::Borrowed(train)))
            }
        };
        with_prior(scorer, self.prior())
    }

    /// The learned tables.
    pub fn learned(&self) -> &Embeddings {
        &self.learned
    }

    /// The embeddings whose dot products are the scores, up to date with what is learned; where users are made of their
    /// items, the rows of users are what is added to those.
    pub fn embeddings(&mut self) -> &Embeddings {
        self.is_gathered = false;
        if self.stale {
            self.refresh();
        }
        self.scored()
    }

    /// What the backbone makes of the learned tables, up to date, unless it is the identity.
    pub fn propagated(&mut self) -> Option<&Embeddings> {
        if self.stale {
            self.refresh();
        }
        self.propagated.as_ref()
    }

    /// Makes the embeddings of a training step. Rows of users outside its batch may be left as they are.
    pub(super) fn forward(&mut self, step: Step<'_>) {
        self.is_gathered = false;
        if self.propagated.is_none() && self.stale {
            // The steps before gathered their rows.
            self.refresh();
        }
        if let Some(propagated) = &mut self.propagated {
            self.backbone.forward_training(&self.learned, propagated, step);
            self.normalise();
            self.stale = true;
        }
    }

    /// Whether a step with this optimiser can do with the rows of its batch.
    pub(super) fn can_gather(&self, optimizer: &dyn Optimizer) -> bool {
        self.propagated.is_none() && optimizer.is_sparse()
    }

    /// Gathers the scored rows of a training step, up to date, and makes room for their gradients.
    pub(super) fn gather(
        &mut self,
        grads: &mut Embeddings,
        [users, items]: [&[u32]; 2],
        optimizer: &mut dyn Optimizer,
    ) {
        self.gathered.resize([users.len(), items.len()], self.learned.dim(), self.unit.is_some());
        grads.resize_like(&self.gathered.embeddings);
        let Self { learned: params, gathered: scored, .. } = self;
        optimizer.gather(Gathered { params, users, items, scored, grads });
        self.is_gathered = true;
    }

    /// Takes an optimiser step along gradients of the rows that were gathered.
    pub(super) fn apply_gathered(
        &mut self,
        grads: &mut Embeddings,
        [users, items]: [&[u32]; 2],
        optimizer: &mut dyn Optimizer,
    ) {
        let Self { learned: params, gathered: scored, .. } = self;
        optimizer.step_gathered(Gathered { params, users, items, scored, grads });
        self.stale = true;
    }

    /// The embeddings of the last [`forward`](Self::forward) or [`gather`](Self::gather).
    pub(super) fn scored(&self) -> &Embeddings {
        if self.is_gathered {
            return &self.gathered.embeddings;
        }
        match (&self.unit, &self.propagated) {
            (Some(unit), _) => &unit.embeddings,
            (None, Some(propagated)) => propagated,
            (None, None) => &self.learned,
        }
    }

    /// The backbone's auxiliary loss for a batch, on the embeddings of the last forward pass. Its gradients are added in
    /// [`apply`](Self::apply).
    pub(super) fn auxiliary_loss(&mut self, users: &[u32], items: &[u32]) -> f64 {
        match &self.propagated {
            Some(propagated) => self.backbone.auxiliary_loss(propagated, users, items),
            None => 0.0,
        }
    }

    /// Brings rows up to date, where the optimiser defers updates. `grads` are zero.
    pub(super) fn catch_up(
        &mut self,
        grads: &mut Embeddings,
        touched: Touched<'_>,
        optimizer: &mut dyn Optimizer,
    ) {
        if self.propagated.is_none() {
            let Self { learned: params, unit, .. } = self;
            optimizer.catch_up(Trainable { params, grads, unit: unit.as_mut(), touched });
        }
    }

    /// Takes an optimiser step along gradients of the scored embeddings, which are zero afterwards. No rows but those
    /// touched have a gradient.
    pub(super) fn apply(
        &mut self,
        grads: &mut Embeddings,
        touched: Touched<'_>,
        optimizer: &mut dyn Optimizer,
    ) {
        if self.propagated.is_none() {
            // The optimiser has each row in cache, so it also does the normalisation, there and back.
            let Self { learned: params, unit, .. } = self;
            return optimizer.step(Trainable { params, grads, unit: unit.as_mut(), touched });
        }
        if let Some(unit) = &self.unit {
            unit.backward(grads);
        }
        self.backbone.backward(grads);
        optimizer.step(Trainable {
            params: &mut self.learned,
            grads,
            unit: None,
            touched: Touched::default(),
        });
        self.stale = true;
    }

    /// Brings the scored embeddings up to date with what is learned.
    fn refresh(&mut self) {
        if let Some(propagated) = &mut self.propagated {
            self.backbone.forward(&self.learned, propagated);
        }
        self.normalise();
        self.stale = false;
    }

    fn normalise(&mut self) {
        if let Some(unit) = &mut self.unit {
            unit.set(self.propagated.as_ref().unwrap_or(&self.learned));
        }
    }
}
