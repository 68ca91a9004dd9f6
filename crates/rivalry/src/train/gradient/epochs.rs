//! The training loop: epochs of steps, evaluations between them, the best epoch kept.

mod saving;

use std::borrow::Cow;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::shards::Shards;
use super::start::Start;
use super::state::whole_tensors;
use super::step::StepBatch;
use super::{Batch, GradientStep, GradientTrainer};
use crate::collective::Collective;
use crate::config::{Config, Select, TrainConfig};
use crate::data::{Dataset, Interactions};
use crate::eval::{EvalOptions, EvalPart, Evaluation, Ranks};
use crate::model::embedding_scorer;
use crate::sampler::Sampler;
use crate::scorer::with_prior;
use crate::tensors::Tensors;
use crate::train::{
    Best, Checkpointer, Ending, EpochOutcome, Fit, Fitted, Observer, Outcome, Progress, Record, TrainEvent,
    TrainingState, evaluate_part, nothing_learned,
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
    collective: &'a dyn Collective,
    shards: Shards,
    /// The training pairs of this process's users, numbered from its first.
    my_train: Cow<'a, Interactions>,
}

impl<'a> Epochs<'a> {
    pub fn new(
        trainer: &GradientTrainer<'a>,
        dataset: &'a Dataset,
        from: Option<TrainingState>,
    ) -> Result<Self> {
        let &GradientTrainer { config, gradient, memory, collective } = trainer;
        let sampler = gradient.sampler.build(dataset, gradient.train.negatives)?;
        let began = Instant::now();
        let shards = trainer.shards(dataset)?;
        let Start { step, mut progress, best } = trainer.start(dataset, from, (&shards, &*sampler))?;
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
            collective,
            my_train: match collective.size() {
                1 => Cow::Borrowed(&dataset.train),
                _ => Cow::Owned(dataset.train.slice_users(as_rows(shards.my_users()))),
            },
            shards,
        })
    }

    pub fn run(mut self, checkpointer: &mut dyn Checkpointer, observer: &mut dyn Observer) -> Result<Fitted> {
        let settings = self.settings;
        let batches = self.dataset.train.len().div_ceil(settings.batch_size);
        let started = TrainEvent::Started {
            epochs: settings.epochs,
            batches,
            pairs: self.dataset.train.len(),
            progress: &self.progress,
        };
        let stop = observer.observe(&started).is_break();
        if self.collective.any(stop) {
            return self.stop(checkpointer);
        }
        while self.progress.epoch < settings.epochs && !self.out_of_patience() {
            let pairs = self.shards.order(&self.dataset.train, self.config.seed, self.progress.epoch as u64);
            for batch in self.progress.batch..batches {
                let done = self.take_step(&pairs)?;
                let event = TrainEvent::Step {
                    epoch: self.progress.epoch + 1,
                    batch: self.progress.batch,
                    loss: self.progress.loss_sum / done.max(1) as f64,
                };
                // After the last batch of an epoch the observer is asked again during the evaluation.
                let (stop, within) = (observer.observe(&event).is_break(), batch + 1 < batches);
                let [stop, due] = self.decide(stop);
                if stop && within {
                    return self.stop(checkpointer);
                }
                if within && due {
                    self.save(checkpointer)?;
                }
            }
            if self.end_epoch(checkpointer, observer)? {
                return self.stop(checkpointer);
            }
        }
        self.finish(checkpointer, observer)
    }

    /// Whether to stop, and whether a checkpoint is due: the same on all ranks.
    fn decide(&self, stop: bool) -> [bool; 2] {
        let due = self.saved.elapsed() > CHECKPOINT_INTERVAL;
        if self.collective.size() == 1 {
            return [stop, due];
        }
        let all = self.collective.all_gather(&[stop, due].map(u8::from));
        [all.iter().any(|flags| flags[0] == 1), all[0][1] == 1]
    }

    /// Takes the next step of an epoch whose pairs are in this order, and returns the number of pairs since its beginning.
    fn take_step(&mut self, pairs: &[Vec<(u32, u32)>]) -> Result<usize> {
        let began = Instant::now();
        let size = self.settings.batch_size;
        let [from, to] = [0, 1].map(|next| self.shards.taken((self.progress.batch + next) * size));
        let counts: Vec<usize> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
        let mine = self.shards.mine();
        let (mut users, mut items, mut cuts) = (Vec::new(), Vec::new(), Vec::new());
        for (shard, pairs) in mine.clone().zip(pairs) {
            if shard > mine.start {
                cuts.push(users.len());
            }
            let part = &pairs[from[shard]..to[shard]];
            users.extend(part.iter().map(|&(user, _)| user));
            items.extend(part.iter().map(|&(_, item)| item));
        }
        let batch = StepBatch {
            whole: Batch {
                users: &users,
                items: &items,
                train: &self.dataset.train,
                epoch: self.progress.epoch,
                batch: self.progress.batch,
                seed: self.config.seed,
            },
            cuts: &cuts,
            first_row: counts[..mine.start].iter().sum(),
            pairs: counts.iter().sum(),
            collective: self.collective,
        };
        // The last batch may have no pair, where there are several shards.
        if batch.pairs > 0 {
            let loss = self.step.step_in_shards(batch, &*self.sampler);
            // All ranks know the loss, and end together if it is not finite.
            let loss = loss.or_else(|error| self.collective.agree(Err(error)))?;
            self.progress.loss_sum += loss * batch.pairs as f64;
        }
        self.progress.batch += 1;
        self.progress.seconds.train += began.elapsed().as_secs_f64();
        Ok(to.iter().sum())
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
            if self.decide(false)[1] {
                self.save(checkpointer)?;
            }
            return Ok(false);
        }
        let loss = self.progress.loss_sum / self.dataset.train.len() as f64;
        let Some(record) = self.evaluate(epoch, loss, observer)? else { return Ok(true) };
        self.close_epoch();
        if record.best {
            let tensors = self.tensors();
            let saved = checkpointer.save_model(&*whole_tensors(self.collective, &tensors)?, Some(epoch));
            self.collective.agree(saved)?;
            self.best = Some(tensors);
        }
        self.progress.history.push(record.clone());
        self.save(checkpointer)?;
        let stop = observer.observe(&TrainEvent::Evaluated(&record)).is_break();
        Ok(self.collective.any(stop) && epoch < self.settings.epochs)
    }

    fn close_epoch(&mut self) {
        self.progress.epoch += 1;
        self.progress.batch = 0;
        self.progress.loss_sum = 0.0;
    }

    /// The result of an evaluation, unless the observer asks to stop.
    fn evaluate(&mut self, epoch: usize, loss: f64, observer: &mut dyn Observer) -> Result<Option<Record>> {
        let began = Instant::now();
        let ranks = self.ranks();
        let scorer = self.step.model_mut().up_to_date().scorer(&self.my_train);
        let options = self.eval.metrics_only();
        let parts = [
            (EvalPart::Valid, !self.dataset.valid.is_empty()),
            (EvalPart::Test, self.select == Select::Test),
        ];
        let mut measured = [None, None];
        for ((part, wanted), place) in parts.into_iter().zip(&mut measured) {
            if wanted {
                let held_out = (self.dataset, part, &ranks);
                let Some(evaluation) = evaluate_part(&*scorer, held_out, &options, observer)? else {
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

    /// The processes of an evaluation: each has rows of its own users alone.
    fn ranks(&self) -> Ranks<'a> {
        let users = self.shards.my_users();
        Ranks { collective: self.collective, first_row: users.start, users }
    }

    fn out_of_patience(&self) -> bool {
        self.settings.patience.is_some_and(|patience| self.progress.since_best >= patience)
    }

    /// Tests the epoch that was kept.
    fn finish(mut self, checkpointer: &mut dyn Checkpointer, observer: &mut dyn Observer) -> Result<Fitted> {
        let ending = if self.out_of_patience() { Ending::OutOfPatience } else { Ending::Finished };
        let kept = self.progress.best.zip(self.best.clone());
        let (best, tensors) =
            kept.ok_or_else(|| InputError::new("the run has no evaluated epoch to finish with"))?;
        let began = Instant::now();
        let (model, train) = (&self.config.model, &self.dataset.train);
        let scorer = embedding_scorer(model, &tensors, &self.my_train)?;
        let scorer = with_prior(scorer, model.popularity_prior(train).as_deref());
        let ranks = self.ranks();
        let held_out = (self.dataset, EvalPart::Test, &ranks);
        let tested = evaluate_part(&*scorer, held_out, &self.eval, observer)?;
        let Some(Evaluation { metrics, head, tail, beyond, .. }) = tested else {
            return self.stop(checkpointer);
        };
        self.progress.seconds.eval += began.elapsed().as_secs_f64();
        let of_best = self.progress.history.iter().find(|record| record.epoch == best.epoch);
        let valid = of_best.and_then(|record| record.valid.clone());
        let tensors = match self.collective.size() {
            1 => tensors,
            _ => whole_tensors(self.collective, &tensors)?.into_owned(),
        };
        let nothing_learned = match self.collective.is_root() {
            // A popularity prior is better than chance by itself.
            true => {
                let dataset = self.dataset.whole()?;
                let learned = embedding_scorer(model, &tensors, &dataset.train)?;
                nothing_learned(&*learned, &dataset, &self.eval, valid.as_ref())
            }
            false => None,
        };
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

fn as_rows(users: Range<u32>) -> Range<usize> {
    users.start as usize..users.end as usize
}
