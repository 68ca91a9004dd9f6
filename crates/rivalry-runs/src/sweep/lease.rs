//! Leases on trials: one process trains a trial, whichever machines share the folder of the sweep.
//!
//! A lease is a numbered file. It is taken by creating the file with the next number, which succeeds for one process only, on
//! network file systems too; nothing depends on their locks or on the clocks of other machines. Its holder writes to it
//! every few seconds. A file that stays the same for the whole term, by the clock of the process that waits, is that of a
//! process or a machine that is gone, and the next number is free. A process of this machine that has ended is noticed at once.
//!
//! If a holder was only suspended, two processes may train the same trial for a moment, until the first one sees the higher
//! number and stops. Both write the same bits, and every file takes its place in one step.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rivalry::files::host;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// The folder of the leases, within that of the sweep.
pub(super) const LEASES: &str = ".leases";
/// How long a lease is valid after a sign of its holder.
const TERM: Duration = Duration::from_secs(60);
/// Signs of a holder during a term.
const SIGNS: u32 = 6;

/// The leases of a sweep, and what was seen of those of other processes.
pub(super) struct Leases {
    folder: PathBuf,
    term: Duration,
    seen: Mutex<HashMap<PathBuf, (Vec<u8>, Instant)>>,
}

/// A lease that this process holds. Dropping it releases it.
pub(super) struct Lease {
    lost: Arc<AtomicBool>,
    release: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The content of the file.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    host: String,
    /// The kernel and the process namespace in which the number of the process means something.
    machine: Option<String>,
    process: u32,
    /// The number of signs so far.
    signs: u64,
    released: bool,
}

impl Leases {
    pub fn new(sweep: &Path) -> Self {
        Self { folder: sweep.join(LEASES), term: TERM, seen: Mutex::default() }
    }

    /// Takes the lease of a trial; `None` if another process holds it.
    pub fn try_acquire(&self, trial: &str) -> Result<Option<Lease>> {
        let folder = self.folder.join(trial);
        fs::create_dir_all(&folder).map_err(|e| Error::io("create", &folder, e))?;
        let last = last_number(&folder)?;
        if last > 0 && !self.is_free(&folder.join(last.to_string())) {
            return Ok(None);
        }
        let path = folder.join((last + 1).to_string());
        let holder = Holder::this_process();
        let created = fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match created.and_then(|mut file| file.write_all(&holder.content())) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            Err(error) => return Err(Error::io("create", &path, error)),
        }
        // Whoever looks sees the highest number; the lower ones are of no use.
        for earlier in 1..=last {
            let _ = fs::remove_file(folder.join(earlier.to_string()));
        }
        Ok(Some(Lease::keep(path, holder, self.term)))
    }

    /// Whether the holder of a lease has released it, has ended, or gave no sign for a term.
    fn is_free(&self, path: &Path) -> bool {
        // It may be gone by now: then the next attempt sees its successor.
        let Ok(content) = fs::read(path) else { return false };
        // A file that is being written is not whole.
        let holder: Option<Holder> = serde_json::from_slice(&content).ok();
        if holder.is_some_and(|holder| holder.released || holder.has_ended()) {
            return true;
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.get(path) {
            Some((known, since)) if *known == content => since.elapsed() >= self.term,
            _ => {
                seen.insert(path.to_owned(), (content, Instant::now()));
                false
            }
        }
    }
}

impl Lease {
    /// Gives signs from a thread of its own until the lease is released or lost.
    fn keep(path: PathBuf, mut holder: Holder, term: Duration) -> Self {
        let lost = Arc::new(AtomicBool::new(false));
        let (release, released) = mpsc::channel();
        let keep = {
            let lost = Arc::clone(&lost);
            move || {
                let mut written = Instant::now();
                while let Err(mpsc::RecvTimeoutError::Timeout) = released.recv_timeout(term / SIGNS) {
                    if is_superseded(&path) || written.elapsed() >= term {
                        lost.store(true, Ordering::Relaxed);
                        return;
                    }
                    holder.signs += 1;
                    if fs::write(&path, holder.content()).is_ok() {
                        written = Instant::now();
                    }
                }
                // If it can't be written, it ends with its term.
                let _ = fs::write(&path, Holder { released: true, ..holder }.content());
            }
        };
        Self { lost, release: Some(release), thread: Some(std::thread::spawn(keep)) }
    }

    /// Whether another process has taken the lease, because no sign of this one was seen for a term.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.release.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Holder {
    fn this_process() -> Self {
        Self { host: host(), machine: machine(), process: std::process::id(), signs: 0, released: false }
    }

    fn content(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Whether it was a process of this machine that is no more.
    fn has_ended(&self) -> bool {
        self.machine.is_some()
            && self.machine == machine()
            && !Path::new("/proc").join(self.process.to_string()).exists()
    }
}

/// What the number of a process refers to: a start of a kernel, and a namespace. Only where there is `/proc`.
fn machine() -> Option<String> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", start.trim(), namespace.display()))
}

/// The highest number in a folder of leases, or 0.
fn last_number(folder: &Path) -> Result<u64> {
    let entries = folder.read_dir().map_err(|e| Error::io("read", folder, e))?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(numbers.max().unwrap_or(0))
}

/// Whether there is a higher number than that of this file.
fn is_superseded(path: &Path) -> bool {
    let number = path.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
    let last = path.parent().and_then(|folder| last_number(folder).ok());
    last > number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leases(sweep: &Path, milliseconds: u64) -> Leases {
        Leases { term: Duration::from_millis(milliseconds), ..Leases::new(sweep) }
    }

    fn file_of(sweep: &Path, number: u64) -> PathBuf {
        sweep.join(LEASES).join("sl-1").join(number.to_string())
    }

    fn write(path: &Path, holder: &Holder) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, holder.content()).unwrap();
    }

    #[test]
    fn one_process_holds_it_until_it_releases_it() {
        let sweep = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| leases(sweep.path(), 60_000));
        let held = one.try_acquire("sl-1").unwrap().unwrap();
        assert!(other.try_acquire("sl-1").unwrap().is_none());
        assert!(other.try_acquire("mf/sl/seed-0").unwrap().is_some(), "another trial");
        drop(held);
        assert!(other.try_acquire("sl-1").unwrap().is_some());
    }

    #[test]
    fn of_many_processes_at_once_one_gets_it() {
        let sweep = tempfile::tempdir().unwrap();
        for round in 0..20 {
            let trial = format!("sl-{}", round % 3);
            let attempts: Vec<Option<Lease>> = std::thread::scope(|scope| {
                let attempt = || leases(sweep.path(), 60_000).try_acquire(&trial).unwrap();
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(attempt)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(attempts.iter().flatten().count(), 1);
        }
    }

    #[test]
    fn a_machine_that_is_gone_is_waited_for_during_a_term() {
        let sweep = tempfile::tempdir().unwrap();
        let elsewhere = Holder { machine: Some("another".to_owned()), ..Holder::this_process() };
        write(&file_of(sweep.path(), 7), &elsewhere);
        let leases = leases(sweep.path(), 200);
        assert!(leases.try_acquire("sl-1").unwrap().is_none(), "seen for the first time");
        std::thread::sleep(Duration::from_millis(250));
        write(&file_of(sweep.path(), 7), &Holder { signs: 1, ..elsewhere });
        assert!(leases.try_acquire("sl-1").unwrap().is_none(), "a sign starts the term again");
        std::thread::sleep(Duration::from_millis(250));
        let held = leases.try_acquire("sl-1").unwrap().unwrap();
        assert!(file_of(sweep.path(), 8).exists() && !file_of(sweep.path(), 7).exists());
        drop(held);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_of_this_machine_that_has_ended_is_not_waited_for() {
        let sweep = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        write(&file_of(sweep.path(), 1), &Holder { process: child.id(), ..Holder::this_process() });
        assert!(leases(sweep.path(), 60_000).try_acquire("sl-1").unwrap().is_some());
    }

    #[test]
    fn a_holder_that_was_suspended_sees_that_it_lost_it() {
        let sweep = tempfile::tempdir().unwrap();
        let held = leases(sweep.path(), 120).try_acquire("sl-1").unwrap().unwrap();
        assert!(!held.is_lost());
        write(&file_of(sweep.path(), 2), &Holder::this_process());
        let start = Instant::now();
        while !held.is_lost() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(held.is_lost());
        drop(held);
        let content: Holder = serde_json::from_slice(&fs::read(file_of(sweep.path(), 2)).unwrap()).unwrap();
        assert!(!content.released, "the lease of the other is left alone");
    }

    #[test]
    fn a_file_that_is_not_whole_is_waited_for() {
        let sweep = tempfile::tempdir().unwrap();
        let path = file_of(sweep.path(), 1);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let leases = leases(sweep.path(), 50);
        assert!(leases.try_acquire("sl-1").unwrap().is_none());
        std::thread::sleep(Duration::from_millis(60));
        assert!(leases.try_acquire("sl-1").unwrap().is_some());
    }
}
