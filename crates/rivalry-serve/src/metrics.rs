//! Metrics in the text format of Prometheus.

use std::sync::atomic::AtomicI64;
use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Everything that is counted.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Family<Path, Histogram, fn() -> Histogram>,
    lists: Family<ListLabels, Counter>,
    swaps: Family<Swap, Counter>,
    models: Family<ModelLabels, Gauge>,
    events: Counter,
    commits: Histogram,
    together: Histogram,
    in_progress: Gauge<i64, AtomicI64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    path: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Path {
    path: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ListLabels {
    model: String,
    source: &'static str,
    arm: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Swap {
    model: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabels {
    model: String,
    checksum: String,
}

/// From a fifth of a millisecond to five seconds.
const SECONDS: [f64; 14] =
    [0.0002, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl Metrics {
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("rivalry");
        let requests = Family::default();
        registry.register("requests", "Requests by path and status", requests.clone());
        let by_path: Family<Path, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(seconds as fn() -> Histogram);
        registry.register("request_seconds", "Time from request to answer", by_path.clone());
        let lists = Family::default();
        registry.register("lists", "Lists by model, source and arm", lists.clone());
        let swaps = Family::default();
        registry.register("model_swaps", "Attempts to replace a model", swaps.clone());
        let models = Family::default();
        registry.register("model", "1 for the model that answers", models.clone());
        let events = Counter::default();
        registry.register("feedback_events", "Events stored in the feedback log", events.clone());
        let commits = seconds();
        registry.register(
            "feedback_commit_seconds",
            "Time to write and sync a group of events",
            commits.clone(),
        );
        let together = Histogram::new([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        registry.register("ranked_together", "Users ranked together", together.clone());
        let in_progress = Gauge::default();
        registry.register("requests_in_progress", "Requests in progress", in_progress.clone());
        let seconds = by_path;
        Self { registry, requests, seconds, lists, swaps, models, events, commits, together, in_progress }
    }

    pub fn request_started(&self) -> i64 {
        self.in_progress.inc()
    }

    pub fn request_ended(&self) {
        self.in_progress.dec();
    }

    pub fn answered(&self, path: &str, status: u16, time: Duration) {
        self.requests.get_or_create(&Request { path: path.to_owned(), status }).inc();
        self.seconds.get_or_create(&Path { path: path.to_owned() }).observe(time.as_secs_f64());
    }

    pub fn list(&self, model: &str, source: &'static str, arm: Option<&str>) {
        let labels = ListLabels { model: model.to_owned(), source, arm: arm.unwrap_or_default().to_owned() };
        self.lists.get_or_create(&labels).inc();
    }

    pub fn serving(&self, model: &str, checksum: &str, yes: bool) {
        let labels = ModelLabels { model: model.to_owned(), checksum: checksum.to_owned() };
        if yes {
            self.models.get_or_create(&labels).set(1);
        } else {
            self.models.remove(&labels);
        }
    }

    pub fn swap(&self, model: &str, result: &'static str) {
        self.swaps.get_or_create(&Swap { model: model.to_owned(), result }).inc();
    }

    pub fn feedback_stored(&self, events: usize) {
        self.events.inc_by(events as u64);
    }

    pub fn timed_commit<T>(&self, commit: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = commit();
        self.commits.observe(start.elapsed().as_secs_f64());
        result
    }

    pub fn ranked_together(&self, users: usize) {
        self.together.observe(users as f64);
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
