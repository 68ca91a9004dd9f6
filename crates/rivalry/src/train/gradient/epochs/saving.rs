//! What outlives a training: the model, and the state to resume from.

use std::time::Instant;

use super::Epochs;
use crate::Result;
use crate::model::{LEARNED, PROPAGATED};
use crate::tensors::Tensors;
use crate::train::gradient::OptimizedModel;
use crate::train::gradient::state::{whole, whole_state, whole_tensors};
use crate::train::{Checkpointer, Fitted, Snapshot, TrainingState};

impl Epochs<'_> {
    /// The model as it is saved.
    pub(super) fn tensors(&mut self) -> Tensors {
        let model = self.step.model_mut().up_to_date();
        let mut tensors = Tensors::default();
        tensors.put_embeddings(LEARNED, model.learned());
        if let Some(propagated) = model.propagated() {
            tensors.put_embeddings(PROPAGATED, propagated);
        }
        tensors
    }

    /// Saves what is needed to resume: rank 0 does, with the users of all.
    pub(super) fn save(&mut self, checkpointer: &mut dyn Checkpointer) -> Result<()> {
        let (collective, model) = (self.collective, self.step.model());
        let optim = model.optimizer_state();
        let learned = whole(collective, model.model().learned());
        let adversary = self.step.adversary().map(|model| (model.model().learned(), model.optimizer_state()));
        let adversary = adversary
            .as_ref()
            .map(|(learned, optim)| (whole(collective, learned), whole_state(collective, optim)));
        let snapshot = Snapshot {
            learned: &learned,
            optim: whole_state(collective, &optim),
            adversary: adversary.as_ref().map(|(learned, optim)| (&**learned, optim.clone())),
            loss: self.step.loss_state(),
        };
        collective.agree(checkpointer.save_progress(&self.progress, snapshot))?;
        self.saved = Instant::now();
        Ok(())
    }

    pub(super) fn stop(mut self, checkpointer: &mut dyn Checkpointer) -> Result<Fitted> {
        self.save(checkpointer)?;
        let (collective, model) = (self.collective, self.step.model());
        let owned = |model: &OptimizedModel| {
            let learned = whole(collective, model.model().learned()).into_owned();
            (learned, whole_state(collective, &model.optimizer_state()).to_owned())
        };
        let (learned, optim) = owned(model);
        let state = TrainingState {
            learned,
            optim,
            adversary: self.step.adversary().map(owned),
            loss: self.step.loss_state(),
            progress: self.progress,
            best: match self.best {
                Some(best) => Some(whole_tensors(collective, &best)?.into_owned()),
                None => None,
            },
        };
        Ok(Fitted::Stopped(Some(Box::new(state))))
    }
}
