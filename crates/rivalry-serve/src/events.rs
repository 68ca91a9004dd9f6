//! Which events of the feedback are interactions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rivalry::Result;

use crate::error::ApiResult;
use crate::feedback::{FeedbackLog, Record};
use crate::metrics::Metrics;
use crate::seen::Seen;

/// The names of events that count as interactions, unless others are given.
pub const POSITIVE_EVENTS: [&str; 10] =
    ["click", "view", "play", "read", "like", "save", "share", "add-to-cart", "buy", "purchase"];

/// The feedback: interactions in the log that `rivalry train` reads, all other events in a log of their own.
pub(crate) struct Feedback {
    positive: FeedbackLog,
    other: FeedbackLog,
    names: Vec<String>,
}

impl Feedback {
    /// Opens both logs, and takes note of the interactions.
    ///
    /// # Errors
    /// If a file can't be opened, or holds something else.
    pub fn open(path: &Path, names: &[String], seen: &Seen, metrics: &Arc<Metrics>) -> Result<Self> {
        let mut note = |record: &Record| {
            if is_positive(names, record) {
                seen.add(&record.user, &record.item);
            }
        };
        let positive = FeedbackLog::open(path, &mut note, Arc::clone(metrics))?;
        let other = FeedbackLog::open(&path_of_others(path), &mut |_| {}, Arc::clone(metrics))?;
        Ok(Self { positive, other, names: names.to_vec() })
    }

    /// Stores events, and returns those that are interactions. They are on the disk when this returns.
    pub async fn append(&self, records: Vec<Record>) -> ApiResult<Vec<Record>> {
        let (positive, other): (Vec<Record>, Vec<Record>) =
            records.into_iter().partition(|record| is_positive(&self.names, record));
        for (log, records) in [(&self.positive, &positive), (&self.other, &other)] {
            if !records.is_empty() {
                log.append(records).await?;
            }
        }
        Ok(positive)
    }
}

/// An event without a name is an interaction, too.
fn is_positive(names: &[String], record: &Record) -> bool {
    record.event.as_ref().is_none_or(|event| names.iter().any(|name| name.eq_ignore_ascii_case(event)))
}

/// `feedback.other.jsonl` for `feedback.jsonl`.
fn path_of_others(path: &Path) -> PathBuf {
    let extension = path.extension().map_or_else(|| "jsonl".into(), |extension| extension.to_string_lossy());
    path.with_extension(format!("other.{extension}"))
}
