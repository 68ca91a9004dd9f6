//! Training, observed from Python.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rivalry::config::Config;
use rivalry::ranker::Ranker;
use rivalry::train::{Fitted, NoCheckpoints, Observer, Record, TrainEvent};
use serde_json::json;

use crate::dataset::Dataset;
use crate::detached::{receive, spawn};
use crate::errors::{invalid, raise};
use crate::lists::parse;
use crate::model::Model;

/// What the training thread sends to the calling thread.
enum Message {
    /// An evaluation is done. The training waits for the answer: whether to stop.
    Evaluated(Box<Record>, Sender<bool>),
    /// The training has ended; without a model if it was stopped before there was one.
    Ended(rivalry::Result<Option<Trained>>),
}

/// A trained model and the report on its training, in JSON.
struct Trained {
    ranker: Box<Ranker>,
    report: String,
}

/// The last step taken.
#[derive(Clone, Copy, Default)]
struct Position {
    epoch: usize,
    batch: usize,
    /// Batches in an epoch.
    batches: usize,
    /// The mean loss of the epoch so far.
    loss: f64,
}

/// Observes the training on behalf of the calling thread.
struct Forwarder {
    sender: Sender<Message>,
    stop: Arc<AtomicBool>,
    position: Arc<Mutex<Position>>,
}

impl Observer for Forwarder {
    fn observe(&mut self, event: &TrainEvent<'_>) -> ControlFlow<()> {
        let mut stop = self.stop.load(Ordering::Relaxed);
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        match *event {
            TrainEvent::Started { batches, .. } => position.batches = batches,
            TrainEvent::Step { epoch, batch, loss } => {
                *position = Position { epoch, batch, loss, batches: position.batches };
            }
            TrainEvent::Evaluated(record) => {
                drop(position);
                let (answer, answered) = channel();
                let sent = self.sender.send(Message::Evaluated(Box::new(record.clone()), answer));
                stop |= sent.is_err() || answered.recv().unwrap_or(true);
            }
            _ => {}
        }
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Trains a model. `settings` are those of a config, in JSON.
///
/// `on_evaluation` gets the record of each evaluation as JSON and returns whether to stop; `on_tick` gets the last step
/// (epoch, batch, batches in an epoch, mean loss) at short intervals. Both are called on the calling thread. Returns the
/// model, a report in JSON, and the exception that stopped the training, if one did: then the model is what had been
/// learned until then.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    settings: &str,
    dataset: &Dataset,
    threads: usize,
    on_evaluation: Bound<'_, PyAny>,
    on_tick: Bound<'_, PyAny>,
) -> PyResult<(Model, String, Option<PyErr>)> {
    let config = parse(settings, dataset.data.train.len())?;
    let (sender, mut receiver) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let position = Arc::new(Mutex::new(Position::default()));
    let mut observer =
        Forwarder { sender: sender.clone(), stop: Arc::clone(&stop), position: Arc::clone(&position) };
    let data = Arc::clone(&dataset.data);
    spawn(threads, move || {
        let fitted = rivalry::train::fit(&data, &config, None, &mut NoCheckpoints, &mut observer);
        let ended = fitted.and_then(|fitted| trained(fitted, &data, config));
        drop(sender.send(Message::Ended(ended)));
    })?;

    let mut reason: Option<PyErr> = None;
    let mut reported = (0, 0);
    loop {
        let called = match receive(py, &mut receiver)? {
            Some(Message::Ended(ended)) => {
                return match (ended.map_err(raise)?, reason) {
                    (Some(Trained { ranker, report }), reason) => Ok((Model::new(*ranker), report, reason)),
                    (None, Some(reason)) => Err(reason),
                    (None, None) => Err(PyRuntimeError::new_err("the training was stopped")),
                };
            }
            Some(Message::Evaluated(record, answer)) => {
                let stop = if reason.is_some() { Ok(true) } else { call(&on_evaluation, &record) };
                let _ = answer.send(*stop.as_ref().unwrap_or(&true));
                stop.map(|_| ())
            }
            None => {
                let Position { epoch, batch, batches, loss } =
                    *position.lock().unwrap_or_else(PoisonError::into_inner);
                let moved = (epoch, batch) != std::mem::replace(&mut reported, (epoch, batch));
                if moved && reason.is_none() {
                    on_tick.call1((epoch, batch, batches, loss)).map(|_| ())
                } else {
                    Ok(())
                }
            }
        };
        if let Err(error) = called.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            reason.get_or_insert(error);
        }
    }
}

fn call(on_evaluation: &Bound<'_, PyAny>, record: &Record) -> PyResult<bool> {
    let record = serde_json::to_string(record).map_err(|e| invalid(e.to_string()))?;
    on_evaluation.call1((record,))?.is_truthy()
}

/// The model of a training that ended or was stopped, with a report.
fn trained(
    fitted: Fitted,
    data: &rivalry::data::Dataset,
    config: Config,
) -> rivalry::Result<Option<Trained>> {
    let (model, report) = match fitted {
        Fitted::Done(fit) => {
            let mut report = json!({"ending": fit.outcome.ending, "seconds": fit.outcome.seconds});
            if let Some(training) = &fit.outcome.training {
                report["epochs"] = training.epochs.into();
                report["best_epoch"] = training.best_epoch.into();
            }
            if let Some(reason) = &fit.outcome.nothing_learned {
                report["nothing_learned"] = reason.as_str().into();
            }
            (fit.into_model(data, config), report)
        }
        Fitted::Stopped(None) => return Ok(None),
        Fitted::Stopped(Some(state)) => {
            let (epochs, seconds) = (state.progress.epoch, state.progress.seconds);
            let model = state.into_model(data, config);
            let report =
                json!({"ending": "stopped", "epochs": epochs, "best_epoch": model.epoch, "seconds": seconds});
            (model, report)
        }
    };
    Ok(Some(Trained { ranker: Box::new(Ranker::new(model)?), report: report.to_string() }))
}
