//! How the time of several processes is spent.

use rivalry_runs::run::Sharing;

use super::Processes;

/// The time that a process had, and what of it went into exchanges.
#[derive(Clone, Copy, Default)]
pub struct Spent {
    /// All seconds.
    pub seconds: f64,
    /// Seconds in exchanges, waiting for other processes included.
    pub exchanging: f64,
    /// Seconds for writing and reading messages, and adding up what they brought.
    pub packing: f64,
    /// Bytes received.
    pub received: f64,
}

impl Spent {
    /// What was spent since.
    pub fn since(self, before: Self) -> Self {
        Self {
            seconds: self.seconds - before.seconds,
            exchanging: self.exchanging - before.exchanging,
            packing: self.packing - before.packing,
            received: self.received - before.received,
        }
    }
}

impl Processes {
    /// What this process has spent of so many seconds.
    pub fn spent(&self, seconds: f64) -> Spent {
        Spent { seconds, ..self.group.spent() }
    }

    /// How the training is shared, given the time of this process; `None` for one process. All ranks call it.
    pub fn sharing(&self, spent: Spent) -> Option<Sharing> {
        let ranks = self.group.size();
        if ranks == 1 {
            return None;
        }
        let Spent { seconds, exchanging, packing, received } = spent;
        let numbers = [seconds, exchanging, packing, received].map(f64::to_le_bytes).concat();
        let numbers = self.group.all_gather(&numbers);
        let of_ranks: Vec<[f64; 4]> = numbers.iter().map(|bytes| read(bytes)).collect();
        let names = self.group.all_gather(self.group.host().as_bytes());
        let mut hosts: Vec<String> =
            names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        hosts.dedup();
        let total = |which: usize| of_ranks.iter().map(|of_rank| of_rank[which]).sum::<f64>();
        let computing: Vec<f64> = of_ranks.iter().map(|[all, exchanging, ..]| all - exchanging).collect();
        let longest = computing.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        Some(Sharing {
            ranks,
            hosts,
            mpi: self.group.library(),
            communication: total(1) / total(0).max(f64::MIN_POSITIVE),
            packing: total(2) / total(0).max(f64::MIN_POSITIVE),
            imbalance: 1.0 - computing.iter().sum::<f64>() / ranks as f64 / longest,
            received_bytes: total(3) as u64,
        })
    }
}

fn read(bytes: &[u8]) -> [f64; 4] {
    let mut numbers = [0.0; 4];
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
    }
    numbers
}
