//! Whether the other processes are alive. A process that is killed is noticed by the launcher; one that hangs, or whose host
//! is lost, by its silence.
//!
//! Rank 0 and each other rank send each other an empty message every second, from a thread of its own. Who hears nothing for
//! [`SILENCE`] tells so and ends all processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};

/// The time between two messages.
const INTERVAL: Duration = Duration::from_secs(1);

/// How long a process may be silent.
const SILENCE: Duration = Duration::from_secs(20);

/// How often messages are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The tag of these messages.
const TAG: i32 = 7;

/// The thread that sends and listens.
pub struct Heartbeat {
    done: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Heartbeat {
    /// Begins to send and to listen.
    pub fn start() -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let done = Arc::clone(&done);
            move || watch(&done)
        });
        Self { done, thread }
    }

    /// Ends it. Called when all processes are done.
    pub fn stop(self) {
        self.done.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
    }
}

fn watch(done: &AtomicBool) {
    let world = SimpleCommunicator::world();
    let peers: Vec<i32> = if world.rank() == 0 { (1..world.size()).collect() } else { vec![0] };
    let mut heard: Vec<Instant> = vec![Instant::now(); peers.len()];
    let (mut sent, mut looked) = (None::<Instant>, Instant::now());
    while !done.load(Ordering::Relaxed) {
        // After this process was stopped itself, the others get their time once more.
        if looked.elapsed() > SILENCE / 2 {
            heard.fill(Instant::now());
        }
        looked = Instant::now();
        if sent.is_none_or(|sent| sent.elapsed() >= INTERVAL) {
            peers.iter().for_each(|&peer| world.process_at_rank(peer).send_with_tag(&[0u8; 0][..], TAG));
            sent = Some(Instant::now());
        }
        for (&peer, heard) in peers.iter().zip(&mut heard) {
            let peer = world.process_at_rank(peer);
            while peer.immediate_probe_with_tag(TAG).is_some() {
                peer.receive_into_with_tag(&mut [0u8; 0][..], TAG);
                *heard = Instant::now();
            }
        }
        if let Some(lost) = heard.iter().position(|heard| heard.elapsed() > SILENCE) {
            let (rank, lost, seconds) = (world.rank(), peers[lost], SILENCE.as_secs());
            crate::output::warn(format_args!(
                "rank {lost} has been silent for {seconds} s; rank {rank} ends the training\n  \
                 help: go on from the last checkpoint with --resume"
            ));
            world.abort(1);
        }
        std::thread::sleep(LOOK);
    }
}
