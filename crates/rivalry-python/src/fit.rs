//! Training, watched from Python.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rivalry::config::{Config, Select};
use rivalry::run::SavedModel;
use rivalry::train::{Event, Fitted, Nowhere, Observer, Record};
use serde_json::json;

use crate::attend::{start, wait};
use crate::dataset::Dataset;
use crate::errors::{raise, wrong};
use crate::lists::parse;
use crate::model::{Core, Model};

/// What the training tells the thread that called it.
enum Message {
    /// An evaluation is done. The training waits for the answer: whether to stop.
    Evaluated(Box<Record>, Sender<bool>),
    /// It is over.
    Over(rivalry::Result<Box<(Core, String)>>),
}

/// Where the training is: epoch, batch, batches in an epoch, mean loss of the epoch so far.
type Place = (usize, usize, usize, f64);

/// Stands in the training for whoever called it.
struct Delegate {
    sender: Sender<Message>,
    stop: Arc<AtomicBool>,
    place: Arc<Mutex<Place>>,
}

impl Observer for Delegate {
    fn observe(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let mut stop = self.stop.load(Ordering::Relaxed);
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        match *event {
            Event::Started { batches, .. } => place.2 = batches,
            Event::Step { epoch, batch, loss } => *place = (epoch, batch, place.2, loss),
            Event::Evaluated(record) => {
                drop(place);
                let (answer, heard) = channel();
                let sent = self.sender.send(Message::Evaluated(Box::new(record.clone()), answer));
                stop |= sent.is_err() || heard.recv().unwrap_or(true);
            }
            _ => {}
        }
        if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Trains a model. `settings` are those of a config, in JSON.
///
/// `on_evaluation` gets each evaluation's record as JSON and answers whether to stop; `on_tick` gets the place of the
/// training now and then. Both are called on the calling thread. Comes back with the model, a report in JSON, and the
/// exception that ended the training early, if one did: then the model is what had been learned until then.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    settings: &str,
    dataset: &Dataset,
    threads: usize,
    on_evaluation: Bound<'_, PyAny>,
    on_tick: Bound<'_, PyAny>,
) -> PyResult<(Model, String, Option<PyErr>)> {
    let config = parse(settings)?;
    let (sender, mut receiver) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let place = Arc::new(Mutex::new((0, 0, 0, 0.0)));
    let mut delegate =
        Delegate { sender: sender.clone(), stop: Arc::clone(&stop), place: Arc::clone(&place) };
    let data = Arc::clone(&dataset.data);
    start(threads, move || {
        let fitted = rivalry::train::fit(&data, &config, None, &mut Nowhere, &mut delegate);
        let over = fitted.and_then(|fitted| finish(fitted, &data, config)).map(Box::new);
        drop(sender.send(Message::Over(over)));
    })?;

    let mut reason: Option<PyErr> = None;
    let mut told = (0, 0);
    loop {
        let message = wait(py, &mut receiver)?;
        let heard = match message {
            Some(Message::Over(over)) => {
                let (core, report) = *over.map_err(raise)?;
                return Ok((Model::new(core), report, reason));
            }
            Some(Message::Evaluated(record, answer)) => {
                let wish = if reason.is_some() { Ok(true) } else { tell(&on_evaluation, &record) };
                let _ = answer.send(*wish.as_ref().unwrap_or(&true));
                wish.map(|_| ())
            }
            None => {
                let now = *place.lock().unwrap_or_else(PoisonError::into_inner);
                let moved = (now.0, now.1) != std::mem::replace(&mut told, (now.0, now.1));
                if moved && reason.is_none() { on_tick.call1(now).map(|_| ()) } else { Ok(()) }
            }
        };
        if let Err(error) = heard.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            reason.get_or_insert(error);
        }
    }
}

fn tell(on_evaluation: &Bound<'_, PyAny>, record: &Record) -> PyResult<bool> {
    let record = serde_json::to_string(record).map_err(|e| wrong(e.to_string()))?;
    on_evaluation.call1((record,))?.is_truthy()
}

/// The model, however the training ended. One that was stopped gives what it would have given, had it ended there: the
/// best epoch so far where epochs are chosen on validation, otherwise the latest tables.
fn finish(fitted: Fitted, data: &rivalry::data::Dataset, config: Config) -> rivalry::Result<(Core, String)> {
    let (learned, epoch, report) = match fitted {
        Fitted::Done(fit) => {
            let outcome = fit.outcome;
            let report = json!({"ending": outcome.ending, "epochs": outcome.epochs, "best_epoch": outcome.best_epoch,
                "seconds": outcome.seconds});
            (fit.learned, outcome.best_epoch, report)
        }
        Fitted::Stopped(stopped) => {
            let progress = stopped.progress;
            let chosen = config.train.select != Some(Select::Last) && !data.valid.is_empty();
            let (learned, epoch) = match (progress.best.filter(|_| chosen), stopped.best) {
                (Some(best), Some(tables)) => (tables, best.epoch),
                _ => (stopped.learned, progress.epoch),
            };
            let report = json!({"ending": "stopped", "epochs": progress.epoch, "best_epoch": epoch,
                "seconds": progress.seconds});
            (learned, epoch, report)
        }
    };
    let core = Core::new(SavedModel::new(data.clone(), config, learned, epoch))?;
    Ok((core, report.to_string()))
}
