//! Processes that train one model together, as the library sees them.
//!
//! Each process has a rank, counted from 0. All ranks call the functions of a [`Collective`] in the same order; each call
//! waits for the others. There is no way on without one of them: an implementation whose peer is lost ends the process.

use std::time::Duration;

use crate::{InputError, Result};

/// What processes that train one model exchange.
pub trait Collective {
    /// The number of this process.
    fn rank(&self) -> usize;

    /// The number of processes.
    fn size(&self) -> usize;

    /// What each rank gives, by rank; all ranks get it.
    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>>;

    /// What each rank gives, by rank; rank 0 gets it, the others get nothing.
    fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>>;

    /// What each rank gives this one, by rank; `parts` is what this one gives each.
    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Gives each rank some parts, and gets those of each: `from` has a place for each part, of the length that the other gives.
    /// This rank gives itself some, too.
    fn swap(&self, to: &[Vec<&[u8]>], from: Vec<Vec<&mut [u8]>>) {
        let messages = self.all_to_all(to.iter().map(|parts| parts.concat()).collect());
        for (message, places) in messages.iter().zip(from) {
            let mut rest = &message[..];
            for place in places {
                let (part, after) = rest.split_at(place.len());
                place.copy_from_slice(part);
                rest = after;
            }
        }
    }

    /// What rank 0 gives.
    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;

    /// Is told that all ranks know of an error, so that one message is enough.
    fn note_failure(&self) {}

    /// Is told how long this rank wrote messages, read them, and added up what they brought.
    fn note_packing(&self, _time: Duration) {}
}

/// The one process of a training that is not shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Collective for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn all_gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        vec![bytes.to_vec()]
    }

    fn gather(&self, bytes: &[u8]) -> Vec<Vec<u8>> {
        vec![bytes.to_vec()]
    }

    fn all_to_all(&self, parts: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        parts
    }

    fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8> {
        bytes
    }
}

impl dyn Collective + '_ {
    /// Whether this is rank 0, which alone writes files and reports.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Whether any rank says so.
    pub fn any(&self, flag: bool) -> bool {
        self.size() > 1 && self.all_gather(&[u8::from(flag)]).iter().any(|given| given == &[1]) || flag
    }

    /// The result, unless another rank failed: then its error. So all ranks end together.
    ///
    /// # Errors
    /// If any rank has an error.
    pub fn agree<T>(&self, result: Result<T>) -> Result<T> {
        if self.size() == 1 {
            return result;
        }
        let message = result.as_ref().err().map_or_else(String::new, ToString::to_string);
        let messages = self.all_gather(message.as_bytes());
        let Some(rank) = messages.iter().position(|message| !message.is_empty()) else { return result };
        self.note_failure();
        match result {
            Err(error) => Err(error),
            Ok(_) => Err(InputError::new(String::from_utf8_lossy(&messages[rank])).into()),
        }
    }
}

/// The numbers of all processes, one after another.
pub(crate) fn gathered<T: bytemuck::Pod>(collective: &dyn Collective, mine: &[T]) -> Vec<T> {
    let all = collective.all_gather(bytemuck::cast_slice(mine));
    all.iter().flat_map(|bytes| bytemuck::pod_collect_to_vec::<u8, T>(bytes)).collect()
}

/// Threads as processes.
#[cfg(test)]
#[path = "../../../tests/processes/threads.rs"]
pub(crate) mod threads;

#[cfg(test)]
mod tests {
    use super::threads::together;
    use super::*;

    #[test]
    fn ranks_agree_on_flags_and_errors() {
        for failing in [None, Some(0), Some(2)] {
            let results = together(3, |collective| {
                let mine = failing == Some(collective.rank());
                assert_eq!(collective.any(mine), failing.is_some());
                let result = if mine { Err(InputError::new("no room").into()) } else { Ok(7) };
                collective.agree(result).map_err(|error| error.to_string())
            });
            let expected = if failing.is_some() { Err("no room".to_owned()) } else { Ok(7) };
            assert!(results.iter().all(|result| *result == expected), "{results:?}");
        }
        assert!(together(2, |collective| collective.is_root()) == [true, false]);
    }
}
