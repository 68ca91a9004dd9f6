//! The automatic search, observed from Python.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use rivalry_runs::auto::{Auto, AutoEvent, AutoObserver, AutoOptions, AutoRecord};
use rivalry_runs::sweep::{Stop, SweepObserver, Trial, TrialEvent};
use serde_json::json;

use crate::detached::{receive, spawn};
use crate::errors::{invalid, raise};

/// What the searching thread sends to the calling thread.
enum Message {
    /// An event, in JSON.
    Event(String),
    /// The search has ended; without a result if it was stopped twice.
    Ended(rivalry::Result<Option<Box<AutoRecord>>>),
}

/// Observes the search on behalf of the calling thread.
struct Forwarder {
    sender: Mutex<Sender<Message>>,
    stop: Arc<AtomicBool>,
}

impl Forwarder {
    fn send(&self, event: serde_json::Value) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        // The receiver is gone if the call has ended.
        let _ = sender.send(Message::Event(event.to_string()));
    }
}

impl SweepObserver for Forwarder {
    fn observe(&self, _: &Trial, _: &TrialEvent<'_>) -> ControlFlow<Stop> {
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(Stop::Sweep),
            false => ControlFlow::Continue(()),
        }
    }
}

impl AutoObserver for Forwarder {
    fn auto(&self, event: &AutoEvent<'_>) {
        match event {
            AutoEvent::Led(leaders) => self.send(json!({ "leaders": leaders })),
            AutoEvent::Skipped(skipped) => self.send(json!({ "skipped": skipped })),
            // What follows the search is stopped by another signal only.
            AutoEvent::SearchEnded { .. } => self.stop.store(false, Ordering::Relaxed),
            _ => {}
        }
    }
}

/// The metric that decides, if it is given, and the minutes.
type Budget = (Option<String>, f64);

/// Searches the best model for a log. `settings` are those of the data, in JSON; `on_event` gets what was understood and
/// what leads, as JSON, on the calling thread. The first Ctrl-C ends the search with the best so far. Returns the record in
/// JSON.
#[pyfunction]
pub fn auto(
    py: Python<'_>,
    settings: &str,
    budget: Budget,
    out: PathBuf,
    threads: usize,
    on_event: Bound<'_, PyAny>,
) -> PyResult<String> {
    let (metric, minutes) = budget;
    let settings: toml::Table =
        serde_json::from_str(settings).map_err(|e| invalid(format!("settings: {e}")))?;
    let metric = metric.map(|metric| metric.parse()).transpose().map_err(raise)?;
    let (sender, mut receiver) = channel();
    let stop = Arc::new(AtomicBool::new(false));
    let observer = Forwarder { sender: Mutex::new(sender.clone()), stop: Arc::clone(&stop) };
    spawn(threads, move || {
        let threads = rayon::current_num_threads();
        let options = AutoOptions { settings, metric, minutes, threads, load: Default::default() };
        let found = Auto::new(options).and_then(|auto| {
            observer.send(json!({ "understood": auto.understood() }));
            auto.run(&out, &observer)
        });
        drop(sender.send(Message::Ended(found.map(|found| found.map(Box::new)))));
    })?;
    let mut reason: Option<PyErr> = None;
    loop {
        let called = match receive(py, &mut receiver)? {
            Some(Message::Ended(ended)) => {
                return match ended.map_err(raise)? {
                    Some(record) => serde_json::to_string(&*record).map_err(|e| invalid(e.to_string())),
                    None => Err(reason.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))),
                };
            }
            Some(Message::Event(event)) => on_event.call1((event,)).map(|_| ()),
            None => Ok(()),
        };
        if let Err(error) = called.and_then(|()| py.check_signals()) {
            stop.store(true, Ordering::Relaxed);
            reason.get_or_insert(error);
        }
    }
}
