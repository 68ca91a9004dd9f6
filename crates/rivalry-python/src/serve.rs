//! A server of models, on threads of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use rivalry_serve::{ModelSource, ServeOptions};

use crate::detached::run_detached;
use crate::errors::invalid;

/// A running server. It stops when it is stopped or collected.
#[pyclass(frozen, module = "rivalry._rivalry")]
pub struct Server {
    address: SocketAddr,
    running: Mutex<Option<rivalry_serve::Server>>,
}

#[pymethods]
impl Server {
    /// Serves model files by name. `items` and `feedback` are files.
    #[staticmethod]
    #[pyo3(signature = (models, listen, key, items, feedback))]
    fn start(
        py: Python<'_>,
        models: Vec<(String, PathBuf)>,
        listen: &str,
        key: Option<String>,
        items: Option<PathBuf>,
        feedback: Option<PathBuf>,
    ) -> PyResult<Self> {
        let listen = listen
            .parse()
            .map_err(|_| invalid(format!("'{listen}' is no address such as 127.0.0.1:7878")))?;
        let models = models.into_iter().map(|(name, path)| ModelSource { name, path }).collect();
        let options = ServeOptions { listen, key, items, feedback, ..ServeOptions::new(models) };
        let server = run_detached(py, 0, move || rivalry_serve::Server::start(options))?;
        Ok(Self { address: server.address(), running: Mutex::new(Some(server)) })
    }

    /// The address that it listens on.
    fn address(&self) -> String {
        self.address.to_string()
    }

    /// Answers the requests that are in progress, and ends. Nothing happens if it has ended.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        run_detached(py, 1, move || {
            drop(running);
            Ok(())
        })
    }
}
