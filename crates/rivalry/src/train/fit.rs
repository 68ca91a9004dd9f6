//! The training loop: epochs of steps, evaluations between them, the best epoch kept.

use std::time::{Duration, Instant};

use super::footprint;
use super::init::beginning;
use super::model::{Model, Score};
use super::optim::AdamConfig;
use super::outcome::{Ending, Fit, Fitted, Outcome};
use super::progress::{Best, Event, Observer, Progress, Record};
use super::step::{Batch, Player, Stepper};
use super::store::{Moment, Stopped, Store};
use crate::backbone::{self, Embeddings};
use crate::config::{Config, Select};
use crate::data::Dataset;
use crate::eval::{EvalOptions, Evaluation, Part, evaluate_watched};
use crate::rng::{Purpose, shuffle, stream};
use crate::sample::Sampler;
use crate::{Error, InputError, Result, loss, sample};

/// No more than this is lost when the machine goes down.
const SAVE_EVERY: Duration = Duration::from_secs(60);

/// Trains a model on the training part, choosing the epoch as the config says, and tests it.
///
/// Runs on the current rayon thread pool; the same config and data give the same bits for any number of threads.
pub fn fit(
    dataset: &Dataset,
    config: &Config,
    from: Option<Stopped>,
    store: &mut dyn Store,
    observer: &mut dyn Observer,
) -> Result<Fitted> {
    Loop::new(dataset, config, from)?.run(store, observer)
}

/// Refuses what [`fit`] could not train, before anything costly is done or anything is written.
pub fn check(dataset: &Dataset, config: &Config) -> Result<()> {
    let select = selection(dataset, config.train.select)?;
    if select == Select::Last && config.train.patience.is_some() {
        return Err(InputError::new("the last epoch is taken, so there is nothing to be patient for")
            .field("train.patience")
            .help("leave it out, or choose the epoch on a validation part")
            .into());
    }
    if config.eval.per_user {
        return Err(InputError::new("a training keeps no values of single users")
            .field("eval.per_user")
            .help("leave it out, and measure them afterwards: rivalry evaluate RUN --per-user FILE.csv")
            .into());
    }
    config.eval.check(dataset)?;
    footprint::check(dataset, config)?;
    sample::build(&config.sampler)?.check(dataset, config.train.negatives())
}

struct Loop<'a> {
    dataset: &'a Dataset,
    config: &'a Config,
    select: Select,
    sampler: Box<dyn Sampler>,
    stepper: Stepper,
    progress: Progress,
    best: Option<Embeddings>,
    saved: Instant,
}

impl<'a> Loop<'a> {
    fn new(dataset: &'a Dataset, config: &'a Config, from: Option<Stopped>) -> Result<Self> {
        let train = &dataset.train;
        check(dataset, config)?;
        let select = selection(dataset, config.train.select)?;
        let sampler = sample::build(&config.sampler)?;
        let mut loss = loss::build(&config.loss)?;
        let size = [train.n_users(), train.n_items(), config.model.dim];
        let Stopped { progress, learned, optim, rival, loss: loss_state, best } =
            from.unwrap_or_else(|| beginning(&*loss, size, config.train.seed));
        let saved_size = [learned.users.rows(), learned.items.rows(), learned.dim()];
        if saved_size != size || !(loss_state.is_empty() || loss.restore(&loss_state)) {
            return Err(InputError::new(format!(
                "the saved state is of another training: users, items and dimensions are {saved_size:?} there and \
                 {size:?} here"
            ))
            .help("resume with the data and config of the run")
            .into());
        }
        let model = Model::new(backbone::build(&config.backbone, train)?, config.model.score, learned);
        let player = Player::new(model, config.optim).with_optim(optim);
        let fresh = progress == Progress::default();
        let lacks_state = loss_state.is_empty() && !loss.state().is_empty() && !fresh;
        if rival.is_some() != loss.rival().is_some() || lacks_state {
            return Err(InputError::new("the saved state lacks what the loss keeps from step to step")
                .help("resume with the config of the run, or train it again")
                .into());
        }
        let rival = match (rival, loss.rival()) {
            (Some((learned, optim)), Some(lr)) => {
                let model = Model::new(backbone::plain(), Score::Cosine, learned);
                Some(
                    Player::new(model, AdamConfig { lr, weight_decay: 0.0, ..config.optim })
                        .with_optim(optim),
                )
            }
            _ => None,
        };
        let stepper = Stepper::new(loss, player, rival, config.train.negatives());
        let stepper = match sampler.sharing() {
            Some(rows) => stepper.sharing(rows),
            None => stepper,
        };
        Ok(Self { dataset, config, select, sampler, stepper, progress, best, saved: Instant::now() })
    }

    fn run(mut self, store: &mut dyn Store, observer: &mut dyn Observer) -> Result<Fitted> {
        let settings = &self.config.train;
        let mut pairs: Vec<(u32, u32)> = Vec::with_capacity(self.dataset.train.len());
        let started = Event::Started {
            epochs: settings.epochs,
            batches: self.dataset.train.len().div_ceil(settings.batch_size),
            pairs: self.dataset.train.len(),
            progress: &self.progress,
        };
        if observer.observe(&started).is_break() {
            return self.stop(store);
        }
        while self.progress.epoch < settings.epochs && !self.out_of_patience() {
            pairs.clear();
            pairs.extend(self.dataset.train.pairs());
            let order = &[self.progress.epoch as u64];
            shuffle(&mut stream(settings.seed, Purpose::Order, order), &mut pairs);
            for batch in pairs.chunks(settings.batch_size).skip(self.progress.batch) {
                self.step(batch)?;
                let event = Event::Step {
                    epoch: self.progress.epoch + 1,
                    batch: self.progress.batch,
                    loss: self.progress.loss_sum
                        / (self.progress.batch * settings.batch_size).min(pairs.len()) as f64,
                };
                // Whoever wants to stop after the last batch of an epoch is asked again while it is evaluated.
                let within = self.progress.batch * settings.batch_size < pairs.len();
                if observer.observe(&event).is_break() && within {
                    return self.stop(store);
                }
                if within && self.saved.elapsed() > SAVE_EVERY {
                    self.save(store)?;
                }
            }
            if self.end_epoch(store, observer)? {
                return self.stop(store);
            }
        }
        self.finish(store, observer)
    }

    fn step(&mut self, pairs: &[(u32, u32)]) -> Result<()> {
        let began = Instant::now();
        let (users, items): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        let batch = self.progress.batch;
        let (train, sampler) = (&self.dataset.train, &self.sampler);
        let (seed, epoch) = (self.config.train.seed, self.progress.epoch as u64);
        let negatives = |row: usize, out: &mut [u32]| {
            let mut rng = stream(seed, Purpose::Negatives, &[epoch, batch as u64, row as u64]);
            sampler.draw(train, users[row], &mut rng, out);
        };
        let batch_of_pairs = Batch {
            users: &users,
            items: &items,
            negatives: &negatives,
            train,
            epoch: self.progress.epoch,
            batch,
            seed,
        };
        let value = self.stepper.step(batch_of_pairs);
        if !value.is_finite() {
            return Err(Error::NonFinite { what: "loss", epoch: self.progress.epoch + 1, batch: batch + 1 });
        }
        self.progress.loss_sum += value * pairs.len() as f64;
        self.progress.batch += 1;
        self.progress.seconds.train += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// Closes an epoch, evaluates if it is time, and says whether the observer asked to stop.
    ///
    /// A stop in the middle of an evaluation leaves the epoch open, with all its batches done: resumed, it begins with
    /// the evaluation.
    fn end_epoch(&mut self, store: &mut dyn Store, observer: &mut dyn Observer) -> Result<bool> {
        let epoch = self.progress.epoch + 1;
        if !epoch.is_multiple_of(self.config.train.eval_every) && epoch != self.config.train.epochs {
            self.close_epoch();
            if self.saved.elapsed() > SAVE_EVERY {
                self.save(store)?;
            }
            return Ok(false);
        }
        let loss = self.progress.loss_sum / self.dataset.train.len() as f64;
        let Some(record) = self.evaluate(epoch, loss, observer)? else { return Ok(true) };
        self.close_epoch();
        if record.best {
            let model = self.stepper.player().model();
            store.save_best(model, epoch)?;
            self.best = Some(model.learned().clone());
        }
        self.progress.history.push(record.clone());
        self.save(store)?;
        Ok(observer.observe(&Event::Evaluated(&record)).is_break() && epoch < self.config.train.epochs)
    }

    fn close_epoch(&mut self) {
        self.progress.epoch += 1;
        self.progress.batch = 0;
        self.progress.loss_sum = 0.0;
    }

    /// What an evaluation finds, unless the observer asks to stop.
    fn evaluate(&mut self, epoch: usize, loss: f64, observer: &mut dyn Observer) -> Result<Option<Record>> {
        let began = Instant::now();
        self.stepper.settle();
        let scored = self.stepper.player().model().scored();
        let options = EvalOptions {
            per_user: false,
            buckets: false,
            beyond_accuracy: false,
            ..self.config.eval.clone()
        };
        let parts =
            [(Part::Valid, !self.dataset.valid.is_empty()), (Part::Test, self.select == Select::Test)];
        let mut measured = [None, None];
        for ((part, wanted), place) in parts.into_iter().zip(&mut measured) {
            if !wanted {
                continue;
            }
            match watched(scored, self.dataset, part, &options, observer)? {
                Some(evaluation) => *place = Some(evaluation.metrics),
                None => return Ok(None),
            }
        }
        let [valid, test] = measured;
        let metric = options.selection_metric();
        let value = match self.select {
            Select::Valid => valid.as_ref().map(|metrics| metrics[&metric]),
            Select::Test => test.as_ref().map(|metrics| metrics[&metric]),
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
        self.config.train.patience.is_some_and(|patience| self.progress.since_best >= patience)
    }

    fn save(&mut self, store: &mut dyn Store) -> Result<()> {
        let player = self.stepper.player();
        let moment = Moment {
            learned: player.model().learned(),
            optim: player.optim(),
            rival: self.stepper.rival().map(|rival| (rival.model().learned(), rival.optim())),
            loss: self.stepper.loss_state(),
        };
        store.save_progress(&self.progress, moment)?;
        self.saved = Instant::now();
        Ok(())
    }

    fn stop(mut self, store: &mut dyn Store) -> Result<Fitted> {
        self.save(store)?;
        let tables = |player: &Player| (player.model().learned().clone(), player.optim().clone());
        let (learned, optim) = tables(self.stepper.player());
        let (rival, loss) = (self.stepper.rival().map(tables), self.stepper.loss_state());
        let Self { progress, best, .. } = self;
        Ok(Fitted::Stopped(Box::new(Stopped { progress, learned, optim, rival, loss, best })))
    }

    /// Tests the epoch that was kept.
    fn finish(mut self, store: &mut dyn Store, observer: &mut dyn Observer) -> Result<Fitted> {
        let ending = if self.out_of_patience() { Ending::OutOfPatience } else { Ending::Finished };
        let kept = self.progress.best.zip(self.best.take());
        let (best, learned) =
            kept.ok_or_else(|| InputError::new("the run has no evaluated epoch to finish with"))?;
        let began = Instant::now();
        let backbone = backbone::build(&self.config.backbone, &self.dataset.train)?;
        let model = Model::new(backbone, self.config.model.score, learned);
        // Whoever trains on all they have has nothing to test on.
        let tested = match self.dataset.test.is_empty() {
            true => Some(Evaluation::default()),
            false => watched(model.scored(), self.dataset, Part::Test, &self.config.eval, observer)?,
        };
        let Some(Evaluation { metrics, head, tail, beyond, .. }) = tested else {
            self.best = Some(model.learned().clone());
            return self.stop(store);
        };
        self.progress.seconds.eval += began.elapsed().as_secs_f64();
        let of_best = self.progress.history.iter().find(|record| record.epoch == best.epoch);
        let epochs = self.progress.epoch;
        let seconds = self.progress.seconds;
        let outcome = Outcome {
            ending,
            epochs,
            best_epoch: best.epoch,
            select: self.select,
            valid: of_best.and_then(|record| record.valid.clone()),
            test: metrics,
            head,
            tail,
            beyond,
            seconds,
            epoch_seconds: seconds.train / epochs as f64,
            pairs_per_second: (self.dataset.train.len() * epochs) as f64 / seconds.train,
        };
        Ok(Fitted::Done(Box::new(Fit { learned: model.learned().clone(), outcome })))
    }
}

/// Evaluates, unless the observer asks to stop.
fn watched(
    scored: &Embeddings,
    dataset: &Dataset,
    part: Part,
    options: &EvalOptions,
    observer: &mut dyn Observer,
) -> Result<Option<Evaluation>> {
    let mut watch = |users: usize| observer.observe(&Event::Evaluating { users });
    evaluate_watched(&scored.users, &scored.items, dataset, part, options, &mut watch)
}

/// How the epoch is chosen, given what the data have.
fn selection(dataset: &Dataset, wanted: Option<Select>) -> Result<Select> {
    let no_validation = dataset.valid.is_empty();
    match wanted {
        Some(Select::Valid) if no_validation => {
            Err(InputError::new("the data have no validation part to choose the epoch on")
                .field("train.select")
                .help("use train.select = \"last\", or carve one out with data.prepare.validation")
                .into())
        }
        Some(select) => Ok(select),
        None if no_validation => Ok(Select::Last),
        None => Ok(Select::Valid),
    }
}
