//! What all requests share.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rivalry::Result;
use rivalry::data::{ItemTable, count, thousands};
use rivalry_kernels::release_free_memory;

use crate::compute::Compute;
use crate::events::Feedback;
use crate::guard::{KeyCheck, RateLimit};
use crate::metrics::Metrics;
use crate::models::{Models, Reloaded, Slot};
use crate::options::ServeOptions;
use crate::seen::Seen;

/// How long requests that hold a replaced model are waited for before its memory is given back.
const LAST_REQUESTS: Duration = Duration::from_secs(1);

/// The state of a server.
pub(crate) struct App {
    pub options: ServeOptions,
    pub models: Models,
    pub compute: Compute,
    pub feedback: Option<Feedback>,
    pub seen: Seen,
    pub titles: ItemTable,
    pub metrics: Arc<Metrics>,
    pub key: Option<KeyCheck>,
    pub rate: Option<RateLimit>,
}

impl App {
    /// Loads everything that the options name.
    ///
    /// # Errors
    /// If something can't be loaded.
    pub fn new(options: ServeOptions) -> Result<Self> {
        let metrics = Arc::new(Metrics::new());
        let titles = options.items.as_deref().map(ItemTable::read).transpose()?.unwrap_or_default();
        let models = Models::load(&options)?;
        let seen = Seen::default();
        let feedback = options
            .feedback
            .as_deref()
            .map(|path| Feedback::open(path, &options.positive_events, &seen, &metrics))
            .transpose()?;
        let compute = Compute::start(options.threads, Arc::clone(&metrics))
            .map_err(|e| rivalry::Error::io("start", "threads", e))?;
        let key = options.key.as_deref().map(KeyCheck::new);
        let rate = options.limits.rate.map(RateLimit::new);
        // What loading needed and serving doesn't.
        release_free_memory();
        for slot in models.slots() {
            let served = slot.current();
            metrics.serving(&slot.name, &served.checksum, true);
            (options.log)(&loaded(&served));
            if options.items.is_some() {
                let titled = served.items().iter().filter(|item| titles.title(item).is_some()).count();
                let items = count(served.items().len(), "item");
                (options.log)(&format!("titles for {} of {items} of {}", thousands(titled), slot.name));
            }
        }
        Ok(Self { options, models, compute, feedback, seen, titles, metrics, key, rate })
    }

    /// Looks at the file of a slot, and replaces its model if there is a new one.
    pub fn reload(&self, slot: &Slot) -> Reloaded {
        let before = slot.current();
        let reloaded = self.models.reload(slot);
        match &reloaded {
            Reloaded::Unchanged => {}
            Reloaded::Swapped(served) => {
                self.metrics.swap(&slot.name, "swapped");
                if before.checksum != served.checksum {
                    self.metrics.serving(&slot.name, &before.checksum, false);
                    self.metrics.serving(&slot.name, &served.checksum, true);
                }
                (self.options.log)(&loaded(served));
                // The old model goes when the last request that holds it is answered.
                let since = Instant::now();
                while Arc::strong_count(&before) > 1 && since.elapsed() < LAST_REQUESTS {
                    std::thread::sleep(Duration::from_millis(5));
                }
                drop(before);
                release_free_memory();
            }
            Reloaded::Refused(error) => {
                self.metrics.swap(&slot.name, "refused");
                (self.options.log)(&format!(
                    "{} stays as it is, because the new model is refused: {error}",
                    slot.name
                ));
            }
        }
        reloaded
    }
}

/// A line about a model that was loaded.
fn loaded(served: &crate::served::Served) -> String {
    let model = served.model();
    let index = match &served.index {
        Some(index) => format!(", HNSW index with recall@20 {:.4}", index.recall_at_20),
        None => String::new(),
    };
    let kind = model.config.model.name();
    let (users, items) = (count(model.users.len(), "user"), count(model.items.len(), "item"));
    format!("loaded {}: {kind}, {users}, {items}, {}{index}", served.name, served.checksum)
}
