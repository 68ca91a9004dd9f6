//! The processes that train one model: this one, or all that `mpirun` started.

#[cfg(feature = "mpi")]
mod heartbeat;
#[cfg(feature = "mpi")]
mod mpi;
mod observer;
mod shares;
pub mod together;

use std::panic::{AssertUnwindSafe, catch_unwind};

use rivalry::collective::{Alone, Collective};
use rivalry::{InputError, Result};

pub use observer::RankObserver;
use shares::Spent;

/// Shards of users where `mpirun` starts a training whose config says nothing of them. Up to so many ranks give the same bits.
const DEFAULT_SHARDS: usize = 8;

/// Variables by which launchers tell a process how many there are.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"];

/// The processes of a training, as one of them sees them.
pub struct Processes {
    group: Box<dyn Group>,
    is_launched: bool,
}

/// A collective that tells of itself and can end all processes.
trait Group: Collective {
    fn as_collective(&self) -> &dyn Collective;

    /// What this process has spent on exchanges.
    fn spent(&self) -> Spent {
        Spent::default()
    }

    /// The host of this process.
    fn host(&self) -> String {
        String::new()
    }

    /// The library that exchanges.
    fn library(&self) -> String {
        String::new()
    }

    /// Whether all ranks know of an error.
    fn has_failed(&self) -> bool {
        false
    }

    /// Ends all processes.
    fn abort(&self, code: u8) -> ! {
        std::process::exit(code.into())
    }
}

impl Group for Alone {
    fn as_collective(&self) -> &dyn Collective {
        self
    }
}

impl Processes {
    /// Meets the other processes, if a launcher started several.
    ///
    /// # Errors
    /// If it did, and this build or its MPI library can't do that.
    pub fn start() -> Result<Self> {
        let launched: Option<usize> = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        Ok(Self { group: group(launched)?, is_launched: launched.is_some() })
    }

    /// What they exchange by.
    pub fn collective(&self) -> &dyn Collective {
        self.group.as_collective()
    }

    /// Whether this process is the one that writes files and talks.
    pub fn is_root(&self) -> bool {
        self.group.rank() == 0
    }

    /// The number of shards where none is given.
    pub fn default_shards(&self) -> usize {
        if self.is_launched { DEFAULT_SHARDS } else { 1 }
    }

    /// The result, unless another process failed.
    pub fn agree<T>(&self, result: anyhow::Result<T>) -> anyhow::Result<T> {
        if self.group.size() == 1 {
            return result;
        }
        let plain = |error: anyhow::Error| match self.is_root() {
            true => error.downcast().unwrap_or_else(|other| InputError::new(format!("{other:#}")).into()),
            // Rank 0 tells what went wrong, and then says where.
            false => {
                let (rank, host) = (self.group.rank(), self.group.host());
                InputError::new(format!("rank {rank} on {host}: {error:#}")).into()
            }
        };
        Ok(self.collective().agree(result.map_err(plain))?)
    }

    /// Refuses processes that differ in something that must be the same; `what` names it: "configs".
    ///
    /// # Errors
    /// If any rank has another than rank 0.
    pub fn check_same(&self, what: &str, mine: &str) -> Result<()> {
        if self.group.size() == 1 {
            return Ok(());
        }
        let all = self.group.all_gather(mine.as_bytes());
        let hosts = self.group.all_gather(self.group.host().as_bytes());
        let Some(rank) = all.iter().position(|theirs| *theirs != all[0]) else { return Ok(()) };
        let [first, other] = [0, rank].map(|rank| String::from_utf8_lossy(&hosts[rank]).into_owned());
        let fault = format!("rank 0 (on {first}) and rank {rank} (on {other}) have different {what}");
        let help = "start all ranks with the same program, arguments and files";
        self.collective().agree(Err(InputError::new(fault).help(help).into()))
    }

    /// Runs what the processes do together. Rank 0 tells of an error that all know of; any other ends them all.
    pub fn run(&self, work: impl FnOnce(&Self) -> anyhow::Result<()>) -> anyhow::Result<()> {
        if self.group.size() == 1 {
            return work(self);
        }
        let rank = self.group.rank();
        match catch_unwind(AssertUnwindSafe(|| work(self))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if self.group.has_failed() || crate::output::exit_code(&error) == 130 => {
                // The exit code is that of rank 0: a launcher that saw another first would end rank 0 before it has told why.
                if rank == 0 { Err(error) } else { Ok(()) }
            }
            Ok(Err(error)) => {
                crate::output::warn(format_args!("rank {rank} on {}: {error:#}", self.group.host()));
                self.group.abort(crate::output::exit_code(&error))
            }
            Err(_) => {
                crate::panics::report(&format!("rank {rank} on {}: ", self.group.host()));
                self.group.abort(1)
            }
        }
    }
}

#[cfg(feature = "mpi")]
fn group(launched: Option<usize>) -> Result<Box<dyn Group>> {
    Ok(match launched {
        None => Box::new(Alone),
        Some(_) => Box::new(mpi::Mpi::start()?),
    })
}

#[cfg(not(feature = "mpi"))]
fn group(launched: Option<usize>) -> Result<Box<dyn Group>> {
    match launched {
        None | Some(1) => Ok(Box::new(Alone)),
        Some(n) => {
            let fault = format!("this is one of {n} processes, and this build of rivalry knows no MPI");
            let help = "build it with MPI: cargo install rivalry-cli --features mpi; or start one process";
            Err(InputError::new(fault).help(help).into())
        }
    }
}
