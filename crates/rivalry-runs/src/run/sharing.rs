//! How several processes shared a training.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How several processes shared a training. The numbers are those of the process that finished it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// The number of processes.
    pub ranks: usize,
    /// Their hosts, in the order of ranks; ranks of one host that follow each other have one entry.
    pub hosts: Vec<String>,
    /// The MPI library.
    pub mpi: String,
    /// The share of the processes' time that went into communication, waiting for other processes included.
    pub communication: f64,
    /// The share that went into writing and reading messages and adding up what they brought.
    #[serde(default)]
    pub packing: f64,
    /// How much less than the slowest process the mean one computed: 0 if all did the same.
    pub imbalance: f64,
    /// Bytes that all processes together received.
    pub received_bytes: u64,
}

impl fmt::Display for Sharing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ranks, communication, packing, imbalance, received_bytes, .. } = self;
        let megabytes = *received_bytes as f64 / 1e6;
        write!(
            f,
            "{ranks} processes: {:.0} % of the time in communication, {:.0} % in packing, imbalance {:.0} %, {megabytes:.1} MB received",
            100.0 * communication,
            100.0 * packing,
            100.0 * imbalance
        )
    }
}
