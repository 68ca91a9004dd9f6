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

/// Where the threads meet in each call.
#[derive(Default)]
struct Meeting {
    state: Mutex<State>,
    complete: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of the present call.
    call: u64,
    /// What each thread has given for it.
    given: Vec<Option<Vec<u8>>>,
    /// What all have given for the call before.
    complete: Vec<Vec<u8>>,
}

impl Collective for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut state = self.meeting.state.lock().unwrap();
        state.given.resize(self.size, None);
        state.given[self.rank] = Some(bytes.to_vec());
        let call = state.call;
        if state.given.iter().all(Option::is_some) {
            // A rank can't come to the next call before all have left this one: it waits for them there.
            state.complete = state.given.iter_mut().map(|given| given.take().unwrap()).collect();
            state.call += 1;
            self.meeting.complete.notify_all();
        }
        while state.call == call {
            let (guard, waited) = self.meeting.complete.wait_timeout(state, Duration::from_secs(60)).unwrap();
            assert!(!waited.timed_out(), "rank {} waits for the others", self.rank);
            state = guard;
        }
        state.complete.clone()
    }

    fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let all = self.all_gather(bytes);
        if self.rank == 0 { all } else { Vec::new() }
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        // What goes from whom to whom, one rank after another.
        let all: Vec<Vec<Vec<u8>>> = (0..self.size).map(|to| self.all_gather(&parts[to])).collect();
        all.into_iter().nth(self.rank).unwrap()
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
