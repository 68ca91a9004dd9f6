//! Threads as the processes of one training.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use rivalry::collective::Collective;

/// Threads as ranks.
struct Threads<'a> {
    rank: usize,
    size: usize,
    meeting: &'a Meeting,
}

/// What the threads have given for the present call, and of which call it is.
#[derive(Default)]
struct Meeting {
    given: Mutex<(Vec<Option<Vec<u8>>>, Vec<Vec<u8>>, u64)>,
    complete: Condvar,
}

impl Collective for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut meeting = self.meeting.given.lock().unwrap();
        meeting.0.resize(self.size, None);
        meeting.0[self.rank] = Some(bytes.to_vec());
        let call = meeting.2;
        if meeting.0.iter().all(Option::is_some) {
            // A rank can't come to the next call before all have left this one: it waits for them there.
            meeting.1 = meeting.0.iter_mut().map(|given| given.take().unwrap()).collect();
            meeting.2 += 1;
            self.meeting.complete.notify_all();
        }
        while meeting.2 == call {
            let (guard, waited) =
                self.meeting.complete.wait_timeout(meeting, Duration::from_secs(60)).unwrap();
            assert!(!waited.timed_out(), "rank {} waits for the others", self.rank);
            meeting = guard;
        }
        meeting.1.clone()
    }

    fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let all = self.all_gather(bytes);
        if self.rank == 0 { all } else { Vec::new() }
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.all_gather(&bytes).swap_remove(0)
    }
}

/// What the function gives on each of so many ranks, which are threads.
pub fn together<T: Send>(ranks: usize, work: impl Fn(&dyn Collective) -> T + Sync) -> Vec<T> {
    let meeting = Meeting::default();
    let rank = |rank| {
        let (meeting, work) = (&meeting, &work);
        move || work(&Threads { rank, size: ranks, meeting })
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..ranks).map(|number| scope.spawn(rank(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
