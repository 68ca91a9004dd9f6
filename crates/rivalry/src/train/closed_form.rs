//! The trainer of closed-form models: one computation, one evaluation, no epochs.

use std::time::Instant;

use super::{
    Checkpointer, Ending, Fit, Fitted, Observer, Outcome, Progress, Seconds, TrainEvent, Trainer,
    TrainingState, evaluate_part,
};
use crate::collective::Collective;
use crate::config::Config;
use crate::data::Dataset;
use crate::eval::{EvalOptions, EvalPart, Ranks};
use crate::memory::MemoryLimit;
use crate::models::{ClosedForm, FitContext, Kind};
use crate::train::gradient::cut;
use crate::{InputError, Result};

pub(super) struct ClosedFormTrainer<'a> {
    config: &'a Config,
    memory: MemoryLimit,
    collective: &'a dyn Collective,
}

impl<'a> ClosedFormTrainer<'a> {
    pub fn new(config: &'a Config, memory: MemoryLimit, collective: &'a dyn Collective) -> Self {
        Self { config, memory, collective }
    }

    fn model(&self) -> Result<Box<dyn ClosedForm>> {
        let model = &self.config.model;
        match model.entry().build {
            Kind::ClosedForm(build) => Ok(build(model.params())),
            Kind::Gradient(_) => Err(InputError::new(format!("{} is trained by gradients", model.name()))
                .field("model")
                .into()),
        }
    }
}

impl Trainer for ClosedFormTrainer<'_> {
    fn check(&self, dataset: &Dataset) -> Result<()> {
        self.config.eval.check(dataset)?;
        let model = self.model()?;
        if self.collective.size() > 1 && !model.is_shared() {
            let what = format!("{} can't be fitted by several processes", self.config.model.name());
            let help = "use one process, or a model that can: ials, mf, fism";
            return Err(InputError::new(what).field("model.type").help(help).into());
        }
        let bytes = model.memory(&dataset.train);
        let refused = self.memory.require(bytes, &format!("fitting {}", self.config.model.name()));
        Ok(refused.map_err(|refused| refused.help(model.memory_help()))?)
    }

    /// There is nothing to resume from: a fit that was stopped is done again.
    fn fit(
        &self,
        dataset: &Dataset,
        _from: Option<TrainingState>,
        checkpointer: &mut dyn Checkpointer,
        observer: &mut dyn Observer,
    ) -> Result<Fitted> {
        self.collective.agree(self.check(dataset))?;
        let model = self.model()?;
        let progress = Progress::default();
        let started =
            TrainEvent::Started { epochs: 0, batches: 0, pairs: dataset.train.len(), progress: &progress };
        let stop = observer.observe(&started).is_break();
        if self.collective.any(stop) {
            return Ok(Fitted::Stopped(None));
        }
        let began = Instant::now();
        let mut progress = |done, total| observer.observe(&TrainEvent::Fitting { done, total });
        let collective = self.collective;
        let mut context = FitContext { seed: self.config.seed, progress: &mut progress, collective };
        let Some(tensors) = model.fit(&dataset.train, &mut context)? else {
            return Ok(Fitted::Stopped(None));
        };
        let train = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let scorer = model.scorer(&tensors, &dataset.train)?;
        let options = EvalOptions { memory: self.memory, ..self.config.eval.clone() };
        let brief = options.metrics_only();
        // All ranks have the model of all users; each ranks for a part of them.
        let ends = cut(&dataset.train, collective.size());
        let users = ends[collective.rank()] as u32..ends[collective.rank() + 1] as u32;
        let ranks = Ranks { collective, users, first_row: 0 };
        let held_out = |part| (dataset, part, &ranks);
        let Some(valid) = evaluate_part(&*scorer, held_out(EvalPart::Valid), &brief, observer)? else {
            return Ok(Fitted::Stopped(None));
        };
        let Some(test) = evaluate_part(&*scorer, held_out(EvalPart::Test), &options, observer)? else {
            return Ok(Fitted::Stopped(None));
        };
        collective.agree(checkpointer.save_model(&tensors, None))?;
        let outcome = Outcome {
            ending: Ending::Finished,
            training: None,
            valid: (!dataset.valid.is_empty()).then_some(valid.metrics),
            test: test.metrics,
            head: test.head,
            tail: test.tail,
            beyond: test.beyond,
            nothing_learned: None,
            seconds: Seconds { train, eval: began.elapsed().as_secs_f64() },
        };
        Ok(Fitted::Done(Box::new(Fit { tensors, outcome })))
    }
}
