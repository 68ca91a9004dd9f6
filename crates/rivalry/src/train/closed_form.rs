//! The trainer of closed-form models: one computation, one evaluation, no epochs.

use std::time::Instant;

use super::{
    Checkpointer, Ending, Fit, Fitted, Observer, Outcome, Progress, Seconds, TrainEvent, Trainer,
    TrainingState, evaluate_part,
};
use crate::config::Config;
use crate::data::Dataset;
use crate::eval::{EvalOptions, EvalPart};
use crate::memory::MemoryLimit;
use crate::models::{ClosedForm, FitContext, Kind};
use crate::{InputError, Result};

pub(super) struct ClosedFormTrainer<'a> {
    config: &'a Config,
    memory: MemoryLimit,
}

impl<'a> ClosedFormTrainer<'a> {
    pub fn new(config: &'a Config, memory: MemoryLimit) -> Self {
        Self { config, memory }
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
        self.check(dataset)?;
        let model = self.model()?;
        let progress = Progress::default();
        let started =
            TrainEvent::Started { epochs: 0, batches: 0, pairs: dataset.train.len(), progress: &progress };
        if observer.observe(&started).is_break() {
            return Ok(Fitted::Stopped(None));
        }
        let began = Instant::now();
        let mut progress = |done, total| observer.observe(&TrainEvent::Fitting { done, total });
        let mut context = FitContext { seed: self.config.seed, progress: &mut progress };
        let Some(tensors) = model.fit(&dataset.train, &mut context)? else {
            return Ok(Fitted::Stopped(None));
        };
        let train = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let scorer = model.scorer(&tensors, &dataset.train)?;
        let options = EvalOptions { memory: self.memory, ..self.config.eval.clone() };
        let brief = options.metrics_only();
        let Some(valid) = evaluate_part(&*scorer, dataset, EvalPart::Valid, &brief, observer)? else {
            return Ok(Fitted::Stopped(None));
        };
        let Some(test) = evaluate_part(&*scorer, dataset, EvalPart::Test, &options, observer)? else {
            return Ok(Fitted::Stopped(None));
        };
        checkpointer.save_model(&tensors, None)?;
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
