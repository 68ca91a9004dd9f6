//! The feedback log: JSON lines that `rivalry train --data` reads.
//!
//! An event is acknowledged after it is on the disk: the lines of all requests that wait are written with one call and
//! synced once (`fdatasync`), and then all of them are answered.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use rivalry::files::{folder_of, sync_folder};
use rivalry::{Error, InputError, Result};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::error::{ApiError, ApiResult};
use crate::metrics::Metrics;

/// One line of the log.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub user: String,
    pub item: String,
    /// Seconds since 1970.
    pub timestamp: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The model that answers this user.
    pub model: String,
    pub checksum: String,
    /// The arm of the A/B test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
}

/// The thread that writes.
pub(crate) struct FeedbackLog {
    queue: Option<mpsc::Sender<Pending>>,
    thread: Option<JoinHandle<()>>,
}

/// Lines that wait to be written, and who waits for them.
struct Pending {
    lines: String,
    events: usize,
    reply: oneshot::Sender<std::io::Result<()>>,
}

impl FeedbackLog {
    /// Opens the log, and passes on what is in it. A last line without an end, of a machine that lost its power, was
    /// never acknowledged and is removed.
    ///
    /// # Errors
    /// If the file can't be opened, or holds something else.
    pub fn open(path: &Path, each: &mut dyn FnMut(&Record), metrics: Arc<Metrics>) -> Result<Self> {
        let failed = |e| Error::io("write", path, e);
        let Some(mut file) = open_alone(path).map_err(failed)? else {
            return Err(InputError::new("another server writes to this feedback log")
                .file(path)
                .help("give each server a log of its own; rivalry update --from-feedback takes several")
                .into());
        };
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|e| Error::io("read", path, e))?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (line, record) in (1..).zip(text[..whole].lines()) {
            let record: Record = serde_json::from_str(record).map_err(|e| {
                InputError::new(format!("not a line of a feedback log: {e}"))
                    .file(path)
                    .line(line)
                    .help("give another file, or remove the line")
            })?;
            each(&record);
        }
        if whole < text.len() {
            file.set_len(whole as u64).map_err(failed)?;
        }
        // The name of a new file must survive, too.
        file.sync_all().and_then(|()| sync_folder(folder_of(path))).map_err(failed)?;
        let (queue, waiting) = mpsc::channel();
        let writer = Writer { file, path: path.to_owned(), len: whole as u64, metrics };
        let thread = std::thread::Builder::new().name("feedback".to_owned());
        let thread = thread.spawn(move || writer.work(&waiting)).map_err(failed)?;
        Ok(Self { queue: Some(queue), thread: Some(thread) })
    }

    /// Appends events. They are on the disk when this returns.
    pub async fn append(&self, records: &[Record]) -> ApiResult<()> {
        let mut lines = String::new();
        for record in records {
            lines.push_str(&serde_json::to_string(record).map_err(|e| ApiError::internal(e.to_string()))?);
            lines.push('\n');
        }
        let (reply, written) = oneshot::channel();
        let pending = Pending { lines, events: records.len(), reply };
        let sent = self.queue.as_ref().is_some_and(|queue| queue.send(pending).is_ok());
        let written = match sent {
            true => written.await.map_err(std::io::Error::other).flatten(),
            false => Err(std::io::Error::other("the log is closed")),
        };
        written.map_err(|e| {
            use axum::http::StatusCode;
            let message = format!("the feedback could not be stored: {e}");
            let help = "send it again; the operator of the server must look at its disk";
            ApiError::new(StatusCode::INSUFFICIENT_STORAGE, "feedback_not_stored", message, help)
        })
    }
}

impl Drop for FeedbackLog {
    /// What was accepted is still written.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Opens a log that no other server writes to; others may read it. Not for appending, because Windows does not shorten a file that
/// is open for that.
#[cfg(not(windows))]
fn open_alone(path: &Path) -> std::io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    // File systems without locks are accepted.
    let taken = matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock));
    Ok((!taken).then_some(file))
}

/// A lock would keep readers out; here the way in which the file is opened keeps out other writers alone.
#[cfg(windows)]
fn open_alone(path: &Path) -> std::io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_SHARE_READ: u32 = 1;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).share_mode(FILE_SHARE_READ);
    match options.open(path) {
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Ok(None),
        file => file.map(Some),
    }
}

struct Writer {
    file: File,
    path: PathBuf,
    /// The length of all that was acknowledged.
    len: u64,
    metrics: Arc<Metrics>,
}

impl Writer {
    fn work(mut self, waiting: &mpsc::Receiver<Pending>) {
        while let Ok(first) = waiting.recv() {
            let mut group = vec![first];
            group.extend(waiting.try_iter());
            let lines: String = group.iter().map(|pending| &*pending.lines).collect();
            let events = group.iter().map(|pending| pending.events).sum();
            let metrics = Arc::clone(&self.metrics);
            match metrics.timed_commit(|| self.write(&lines)) {
                Ok(()) => {
                    metrics.feedback_stored(events);
                    group.into_iter().for_each(|pending| drop(pending.reply.send(Ok(()))));
                }
                Err(error) => {
                    let text = format!("{}: {error}", self.path.display());
                    for pending in group {
                        let _ = pending.reply.send(Err(std::io::Error::other(text.clone())));
                    }
                }
            }
        }
    }

    /// Writes the lines and syncs. What could not be written whole is taken back.
    fn write(&mut self, lines: &str) -> std::io::Result<()> {
        let mut write = || {
            self.file.seek(SeekFrom::End(0))?;
            self.file.write_all(lines.as_bytes())?;
            self.file.sync_data()
        };
        let written = write();
        match written {
            Ok(()) => self.len += lines.len() as u64,
            Err(_) => self.file.set_len(self.len)?,
        }
        written
    }
}
