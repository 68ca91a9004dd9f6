//! Processes that `mpirun` started, over MPI.
//!
//! A fault of MPI itself ends all processes: that is its default, and there is no way on without one of them.

use std::cell::Cell;
use std::time::{Duration, Instant};

use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};
use rivalry::collective::Collective;
use rivalry::{InputError, Result};

use super::Group;
use super::heartbeat::Heartbeat;
use super::shares::Spent;

/// Bytes that one call of MPI may bring: it counts in `i32`.
const MOST: usize = 1 << 30;

/// Messages of so many bytes go from rank to rank; shorter ones are gathered in fewer steps.
const LARGE: usize = 1 << 16;

/// The tag of messages from rank to rank.
const TAG: i32 = 8;

/// This process among those of a training.
pub struct Mpi {
    /// Watches the others until all are done. Dropped before MPI is.
    heartbeat: Option<Heartbeat>,
    world: SimpleCommunicator,
    seconds: Cell<f64>,
    packing: Cell<Duration>,
    received: Cell<u64>,
    has_failed: Cell<bool>,
    _universe: Universe,
}

impl Mpi {
    /// Meets the other processes.
    ///
    /// # Errors
    /// If MPI can't be used from two threads, one of which watches.
    pub fn start() -> Result<Self> {
        let started = mpi::initialize_with_threading(Threading::Multiple);
        let (universe, threading) =
            started.ok_or_else(|| InputError::new("MPI is already in use by this process"))?;
        if threading != Threading::Multiple {
            let fault = "this MPI library can't be called by several threads (MPI_THREAD_MULTIPLE)";
            return Err(InputError::new(fault).help("use Open MPI or MPICH as they are packaged").into());
        }
        let world = universe.world();
        let heartbeat = (world.size() > 1).then(Heartbeat::start);
        Ok(Self {
            heartbeat,
            world,
            seconds: Cell::default(),
            packing: Cell::default(),
            received: Cell::default(),
            has_failed: Cell::default(),
            _universe: universe,
        })
    }

    /// How many bytes each rank gives.
    fn lengths(&self, mine: usize) -> Vec<usize> {
        let mut all = vec![0u64; self.size()];
        self.world.all_gather_into(&(mine as u64), &mut all[..]);
        all.into_iter().map(|length| length as usize).collect()
    }

    /// How many bytes came from other ranks.
    fn of_others(&self, parts: &[Vec<u8>]) -> usize {
        parts.iter().map(Vec::len).sum::<usize>() - parts[self.rank()].len()
    }

    /// Counts what an exchange takes.
    fn measured<T>(&self, received: impl Fn(&T) -> usize, exchange: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        let result = exchange();
        self.seconds.set(self.seconds.get() + began.elapsed().as_secs_f64());
        self.received.set(self.received.get() + received(&result) as u64);
        result
    }

    /// Sends all parts from where they are to where they stay: the collective calls of MPI would take all of them in one buffer.
    fn transfer(&self, to: &[Vec<&[u8]>], from: Vec<Vec<&mut [u8]>>) {
        mpi::request::scope(|scope| {
            let (mut requests, mut own) = (Vec::new(), Vec::new());
            for (rank, places) in from.into_iter().enumerate() {
                if rank == self.rank() {
                    own = places;
                    continue;
                }
                let process = self.world.process_at_rank(rank as i32);
                let receive = |part| process.immediate_receive_into_with_tag(scope, part, TAG);
                requests.extend(places.into_iter().flat_map(|place| place.chunks_mut(MOST)).map(receive));
            }
            for (rank, parts) in to.iter().enumerate().filter(|(rank, _)| *rank != self.rank()) {
                let process = self.world.process_at_rank(rank as i32);
                let send = |part| process.immediate_send_with_tag(scope, part, TAG);
                requests.extend(parts.iter().flat_map(|part| part.chunks(MOST)).map(send));
            }
            own.into_iter().zip(&to[self.rank()]).for_each(|(place, part)| place.copy_from_slice(part));
            requests.into_iter().for_each(mpi::request::Request::wait_without_status);
        });
    }

    /// What each rank gives, whose lengths are known; `to` is what this one gives each.
    fn received(&self, to: &[Vec<&[u8]>], lengths: impl Iterator<Item = usize>) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = lengths.map(|length| vec![0; length]).collect();
        self.transfer(to, all.iter_mut().map(|message| vec![&mut message[..]]).collect());
        all
    }

    /// What each rank gives, in rounds that MPI can count; `exchange` does one of them, and says whether this rank receives.
    fn in_rounds(
        &self,
        bytes: &[u8],
        lengths: &[usize],
        exchange: impl Fn(&[u8], &mut PartitionMut<'_, [u8], Vec<i32>, Vec<i32>>) -> bool,
    ) -> Vec<Vec<u8>> {
        let portion = MOST / self.size();
        let mut all: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        let rounds = lengths.iter().map(|length| length.div_ceil(portion)).max().unwrap_or_default();
        for round in 0..rounds {
            let part = |length: usize| (round * portion).min(length)..((round + 1) * portion).min(length);
            let counts: Vec<i32> = lengths.iter().map(|&length| part(length).len() as i32).collect();
            let starts = starts(&counts);
            let mut received = vec![0; counts.iter().sum::<i32>() as usize];
            let mut places = PartitionMut::new(&mut received[..], counts.clone(), starts.clone());
            if !exchange(&bytes[part(bytes.len())], &mut places) {
                continue;
            }
            for ((all, start), count) in all.iter_mut().zip(starts).zip(counts) {
                all.extend_from_slice(&received[start as usize..][..count as usize]);
            }
        }
        all
    }
}

/// Where parts of these sizes start, one after another.
fn starts(counts: &[i32]) -> Vec<i32> {
    let next = |end: &mut i32, count: &i32| {
        *end += count;
        Some(*end - count)
    };
    counts.iter().scan(0, next).collect()
}

impl Collective for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.measured(
            |all: &Vec<Vec<u8>>| self.of_others(all),
            || {
                let lengths = self.lengths(bytes.len());
                if lengths.iter().any(|length| *length >= LARGE) {
                    return self.received(&vec![vec![bytes]; self.size()], lengths.into_iter());
                }
                self.in_rounds(bytes, &lengths, |mine, places| {
                    self.world.all_gather_varcount_into(mine, places);
                    true
                })
            },
        )
    }

    fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let root = self.world.process_at_rank(0);
        let all = self.measured(
            |all: &Vec<Vec<u8>>| self.of_others(all),
            || {
                self.in_rounds(bytes, &self.lengths(bytes.len()), |mine, places| {
                    if self.rank() == 0 {
                        root.gather_varcount_into_root(mine, places);
                    } else {
                        root.gather_varcount_into(mine);
                    }
                    self.rank() == 0
                })
            },
        );
        if self.rank() == 0 { all } else { Vec::new() }
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        self.measured(
            |all: &Vec<Vec<u8>>| self.of_others(all),
            || {
                let (rank, size) = (self.rank(), self.size());
                let sent: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
                // From whom to whom.
                let mut lengths = vec![0u64; size * size];
                self.world.all_gather_into(&sent[..], &mut lengths[..]);
                let to: Vec<Vec<&[u8]>> = parts.iter().map(|part| vec![&part[..]]).collect();
                self.received(&to, lengths.iter().skip(rank).step_by(size).map(|&length| length as usize))
            },
        )
    }

    fn swap(&self, to: &[Vec<&[u8]>], from: Vec<Vec<&mut [u8]>>) {
        let others = from.iter().enumerate().filter(|(rank, _)| *rank != self.rank());
        let received: usize = others.flat_map(|(_, places)| places).map(|place| place.len()).sum();
        self.measured(|_| received, || self.transfer(to, from));
    }

    fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let root = self.world.process_at_rank(0);
        self.measured(Vec::len, || {
            let mut length = bytes.len() as u64;
            root.broadcast_into(&mut length);
            bytes.resize(length as usize, 0);
            bytes.chunks_mut(MOST).for_each(|part| root.broadcast_into(part));
            bytes
        })
    }

    fn note_failure(&self) {
        self.has_failed.set(true);
    }

    fn note_packing(&self, time: Duration) {
        self.packing.set(self.packing.get() + time);
    }
}

impl Group for Mpi {
    fn spent(&self) -> Spent {
        Spent {
            exchanging: self.seconds.get(),
            packing: self.packing.get().as_secs_f64(),
            received: self.received.get() as f64,
            ..Spent::default()
        }
    }

    fn host(&self) -> String {
        mpi::environment::processor_name().unwrap_or_default()
    }

    fn library(&self) -> String {
        let version = mpi::environment::library_version().unwrap_or_default();
        version.split([',', '\n', '\0']).next().unwrap_or_default().trim().to_owned()
    }

    fn has_failed(&self) -> bool {
        self.has_failed.get()
    }

    fn abort(&self, code: u8) -> ! {
        self.world.abort(code.into())
    }

    fn as_collective(&self) -> &dyn Collective {
        self
    }
}

impl Drop for Mpi {
    /// The end of the program: once all ranks have reached it, silence is no longer a fault.
    fn drop(&mut self) {
        if let Some(heartbeat) = self.heartbeat.take() {
            self.world.barrier();
            heartbeat.stop();
        }
    }
}
