//! The training loop: epochs of steps, evaluations between them, the best epoch kept.

use std::time::{Duration, Instant};

use super::start::Start;
use super::{Batch, GradientStep, GradientTrainer};
use crate::config::{Config, Select, TrainConfig};
use crate::data::Dataset;
use crate::eval::{EvalOptions, EvalPart, Evaluation};
use crate::model::{LEARNED, PROPAGATED, embedding_scorer, gradient_scorer};
use crate::rng::{Purpose, shuffle, stream};
use crate::sampler::Sampler;
use crate::tensors::Tensors;
use crate::train::{
    Best, Checkpointer, Ending, EpochOutcome, Fit, Fitted, Observer, Outcome, Progress, Record, Snapshot,
    TrainEvent, TrainingState, evaluate_part, nothing_learned,
};
use crate::{InputError, Result};

/// The checkpoint interval.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(60);

/// A training in progress.
pub(super) struct Epochs<'a> {
    dataset: &'a Dataset,
    config: &'a Config,
    settings: &'a TrainConfig,
    eval: EvalOptions,
    select: Select,
    sampler: Box<dyn Sampler + 'a>,
    step: GradientStep,
    progress: Progress,
    best: Option<Tensors>,
    saved: Instant,
}

impl<'a> Epochs<'a> {
    pub fn new(
        trainer: &GradientTrainer<'a>,
        dataset: &'a Dataset,
        from: Option<TrainingState>,
    ) -> Result<Self> {
        let &GradientTrainer { config, gradient, memory } = trainer;
        let sampler = gradient.sampler.build(dataset, gradient.train.negatives)?;
        let began = Instant::now();
        let Start { step, mut progress, best } = trainer.start(dataset, from, &*sampler)?;
        progress.seconds.train += began.elapsed().as_secs_f64();
        Ok(Self {
            dataset,
            config,
            settings: &gradient.train,
            eval: EvalOptions { memory, ..config.eval.clone() },
            select: trainer.selection(dataset)?,
            sampler,
            step,
            progress,
            best,
            saved: Instant::now(),
        })
    }

    pub fn run(mut self, checkpointer: &mut dyn Checkpointer, observer: &mut dyn Observer) -> Result<Fitted> {
        let settings = self.settings;
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(self.dataset.train.len());
        let started = TrainEvent::Started {
            epochs: settings.epochs,
            batches: self.dataset.train.len().div_ceil(settings.batch_size),
            pairs: self.dataset.train.len(),
            progress: &self.progress,
        };
        if observer.observe(&started).is_break() {
            return self.stop(checkpointer);
        }
        while self.progress.epoch < settings.epochs && !self.out_of_patience() {
            pairs.clear();
            pairs.extend(self.dataset.train.pairs());
            let epoch = self.progress.epoch as u64;
            shuffle(&mut stream(self.config.seed, Purpose::Order, &[epoch]), &mut pairs);
            for batch in pairs.chunks(settings.batch_size).skip(self.progress.batch) {
                self.take_step(batch)?;
                let event = TrainEvent::Step {
                    epoch: self.progress.epoch + 1,
                    batch: self.progress.batch,
                    loss: self.progress.loss_sum
                        / (self.progress.batch * settings.batch_size).min(pairs.len()) as f64,
                };
                // After the last batch of an epoch the observer is asked again during the evaluation.
                let within = self.progress.batch * settings.batch_size < pairs.len();
                if observer.observe(&event).is_break() && within {
                    return self.stop(checkpointer);
                }
                if within && self.saved.elapsed() > CHECKPOINT_INTERVAL {
                    self.save(checkpointer)?;
                }
            }
            if self.end_epoch(checkpointer, observer)? {
                return self.stop(checkpointer);
            }
        }
        self.finish(checkpointer, observer)
    }

    fn take_step(&mut self, pairs: &[(u32, u32)]) -> Result<()> {
        let began = Instant::now();
        let (users, items): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        let batch = Batch {
            users: &users,
            items: &items,
            train: &self.dataset.train,
            epoch: self.progress.epoch,
            batch: self.progress.batch,
            seed: self.config.seed,
        };
        let loss = self.step.step(batch, &*self.sampler)?;
        self.progress.loss_sum += loss * pairs.len() as f64;
        self.progress.batch += 1;
        self.progress.seconds.train += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Closes an epoch, evaluates if it is time, and says whether the observer asked to stop.
    ///
    /// A stop within an evaluation leaves the epoch open, with all its batches done: resumed, the training starts with
    /// the evaluation.
    fn end_epoch(
        &mut self,
        checkpointer: &mut dyn Checkpointer,
        observer: &mut dyn Observer,
    ) -> Result<bool> {
        self.step.catch_up_all();
        let epoch = self.progress.epoch + 1;
        if !epoch.is_multiple_of(self.settings.eval_every) && epoch != self.settings.epochs {
            self.close_epoch();
            if self.saved.elapsed() > CHECKPOINT_INTERVAL {
                self.save(checkpointer)?;
            }
            return Ok(false);
        }
        let loss = self.progress.loss_sum / self.dataset.train.len() as f64;
        let Some(record) = self.evaluate(epoch, loss, observer)? else { return Ok(true) };
        self.close_epoch();
        if record.best {
            let tensors = self.tensors();
            checkpointer.save_model(&tensors, Some(epoch))?;
            self.best = Some(tensors);
        }
        self.progress.history.push(record.clone());
        self.save(checkpointer)?;
        Ok(observer.observe(&TrainEvent::Evaluated(&record)).is_break() && epoch < self.settings.epochs)
    }

    fn close_epoch(&mut self) {
        self.progress.epoch += 1;
        self.progress.batch = 0;
        self.progress.loss_sum = 0.0;
    }

    /// The result of an evaluation, unless the observer asks to stop.
    fn evaluate(&mut self, epoch: usize, loss: f64, observer: &mut dyn Observer) -> Result<Option<Record>> {
        let began = Instant::now();
        let scorer = self.step.model_mut().up_to_date().scorer(&self.dataset.train);
        let options = self.eval.metrics_only();
        let parts = [
            (EvalPart::Valid, !self.dataset.valid.is_empty()),
            (EvalPart::Test, self.select == Select::Test),
        ];
        let mut measured = [None, None];
        for ((part, wanted), place) in parts.into_iter().zip(&mut measured) {
            if wanted {
                let Some(evaluation) = evaluate_part(&*scorer, self.dataset, part, &options, observer)?
                else {
                    return Ok(None);
                };
                *place = Some(evaluation.metrics);
            }
        }
        let [valid, test] = measured;
        let metric = options.selection_metric();
        let value = match self.select {
            Select::Valid => valid.as_ref().map(|metrics| metrics[metric]),
            Select::Test => test.as_ref().map(|metrics| metrics[metric]),
            Select::Last => None,
        };
        let best = match (self.progress.best.and_then(|best| best.value), value) {
            (Some(so_far), Some(value)) => value > so_far,
            _ => true,
        };
        if best {
            self.progress.best = Some(Best { epoch, value });
            self.progress.since_best = 0;
        } else {
            self.progress.since_best += 1;
        }
        self.progress.seconds.eval += began.elapsed().as_secs_f64();
        Ok(Some(Record { epoch, loss, valid, test, best, seconds: self.progress.seconds }))
    }

    fn out_of_patience(&self) -> bool {
        self.settings.patience.is_some_and(|patience| self.progress.since_best >= patience)
    }

    /// The model as it is saved.
    fn tensors(&mut self) -> Tensors {
        let model = self.step.model_mut().up_to_date();
        let mut tensors = Tensors::default();
        tensors.put_embeddings(LEARNED, model.learned());
        if let Some(propagated) = model.propagated() {
            tensors.put_embeddings(PROPAGATED, propagated);
        }
        tensors
    }

    fn save(&mut self, checkpointer: &mut dyn Checkpointer) -> Result<()> {
        let model = self.step.model();
        let adversary = self.step.adversary();
        let snapshot = Snapshot {
            learned: model.model().learned(),
            optim: model.optimizer_state(),
            adversary: adversary.map(|model| (model.model().learned(), model.optimizer_state())),
            loss: self.step.loss_state(),
        };
        checkpointer.save_progress(&self.progress, snapshot)?;
        self.saved = Instant::now();
        Ok(())
    }

    fn stop(mut self, checkpointer: &mut dyn Checkpointer) -> Result<Fitted> {
        self.save(checkpointer)?;
        let model = self.step.model();
        let state = TrainingState {
            learned: model.model().learned().clone(),
            optim: model.optimizer_state().to_owned(),
            adversary: self
                .step
                .adversary()
                .map(|model| (model.model().learned().clone(), model.optimizer_state().to_owned())),
            loss: self.step.loss_state(),
            progress: self.progress,
            best: self.best,
        };
        Ok(Fitted::Stopped(Some(Box::new(state))))
    }

    /// Tests the epoch that was kept.
    fn finish(mut self, checkpointer: &mut dyn Checkpointer, observer: &mut dyn Observer) -> Result<Fitted> {
        let ending = if self.out_of_patience() { Ending::OutOfPatience } else { Ending::Finished };
        let kept = self.progress.best.zip(self.best.clone());
        let (best, tensors) =
            kept.ok_or_else(|| InputError::new("the run has no evaluated epoch to finish with"))?;
        let began = Instant::now();
        let scorer = gradient_scorer(&self.config.model, &tensors, &self.dataset.train)?;
        let tested = evaluate_part(&*scorer, self.dataset, EvalPart::Test, &self.eval, observer)?;
        let Some(Evaluation { metrics, head, tail, beyond, .. }) = tested else {
            return self.stop(checkpointer);
        };
        self.progress.seconds.eval += began.elapsed().as_secs_f64();
        let of_best = self.progress.history.iter().find(|record| record.epoch == best.epoch);
        let valid = of_best.and_then(|record| record.valid.clone());
        // A popularity prior is better than chance by itself.
        let learned = embedding_scorer(&self.config.model, &tensors, &self.dataset.train)?;
        let nothing_learned = nothing_learned(&*learned, self.dataset, &self.eval, valid.as_ref());
        let (epochs, seconds) = (self.progress.epoch, self.progress.seconds);
        let training = EpochOutcome {
            epochs,
            best_epoch: best.epoch,
            select: self.select,
            epoch_seconds: seconds.train / epochs as f64,
            pairs_per_second: (self.dataset.train.len() * epochs) as f64 / seconds.train,
        };
        let outcome = Outcome {
            ending,
            training: Some(training),
            valid,
            test: metrics,
            head,
            tail,
            beyond,
            nothing_learned,
            seconds,
        };
        Ok(Fitted::Done(Box::new(Fit { tensors, outcome })))
    }
}
