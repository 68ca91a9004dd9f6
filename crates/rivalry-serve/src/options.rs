//! What a server is started with.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::events::POSITIVE_EVENTS;

/// The port that a server listens on unless told otherwise.
pub const PORT: u16 = 7878;

/// What to serve, where, and within which limits.
#[derive(Clone)]
pub struct ServeOptions {
    /// The models; the first one answers where no other is asked for.
    pub models: Vec<ModelSource>,
    /// The address to listen on. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The API key that requests must carry.
    pub key: Option<String>,
    /// Shares of the users that each model answers, by name: an A/B test. Without shares the first model answers all.
    pub split: Vec<(String, f64)>,
    /// A table of items: id, title, url, image.
    pub items: Option<PathBuf>,
    /// The file that feedback is appended to. Without it, feedback is refused.
    pub feedback: Option<PathBuf>,
    /// The names of events that count as interactions; others are stored in a file beside it and change no list.
    pub positive_events: Vec<String>,
    /// Threads that rank; 0 for one per core.
    pub threads: usize,
    /// How often the model files are looked at for changes; `None` for never.
    pub watch: Option<Duration>,
    /// Search by an approximate index in catalogues of at least so many items; `None` for exact search always.
    pub approximate_from: Option<usize>,
    /// Limits on requests and connections.
    pub limits: Limits,
    /// Where messages for the operator go.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

/// A model to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSource {
    /// The name that requests call it by.
    pub name: String,
    /// Its run folder or model file.
    pub path: PathBuf,
}

/// Limits on requests and connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The largest `n + offset` of a list.
    pub max_n: usize,
    /// The most users, items, candidates or events in one request.
    pub max_batch: usize,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// Requests that may be in progress; more are refused with 503.
    pub max_requests: usize,
    /// Connections that may be open; more wait.
    pub max_connections: usize,
    /// Requests per second and client address, with bursts of as many; `None` for no limit.
    pub rate: Option<f64>,
    /// How long a client may take to send the head of a request, also between two requests.
    pub header_timeout: Duration,
    /// How long a request may take, its body included.
    pub request_timeout: Duration,
    /// How long a client may take to receive an answer, once the connection's buffers are full.
    pub write_timeout: Duration,
    /// How long requests in progress are waited for at shutdown.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_n: 1000,
            max_batch: 1000,
            max_body: 1 << 20,
            max_requests: 512,
            max_connections: 1024,
            rate: None,
            header_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            shutdown_timeout: Duration::from_secs(30),
        }
    }
}

impl ServeOptions {
    /// Serves these models on the loopback address, with the default limits and nothing else.
    pub fn new(models: Vec<ModelSource>) -> Self {
        Self {
            models,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)),
            key: None,
            split: Vec::new(),
            items: None,
            feedback: None,
            positive_events: POSITIVE_EVENTS.map(str::to_owned).to_vec(),
            threads: 0,
            watch: Some(Duration::from_secs(2)),
            approximate_from: None,
            limits: Limits::default(),
            log: Arc::new(|_| {}),
        }
    }
}

impl ModelSource {
    /// The model at a path, called by the name of its folder or, for a model file, of the file.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let file = if path.is_dir() { path.file_name() } else { path.file_stem() };
        let name = file.map(|name| name.to_string_lossy().into_owned());
        Self { name: name.filter(|name| !name.is_empty()).unwrap_or_else(|| "model".to_owned()), path }
    }
}
