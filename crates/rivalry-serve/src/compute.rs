//! The threads that rank. Requests for single users that wait at the same time are ranked together: the item embeddings are
//! then read once for all of them, and a list has the same bits as if it were ranked alone.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use crate::error::{ApiError, ApiResult};
use crate::metrics::Metrics;
use crate::served::{Allowed, List, Served};

/// Users ranked together at most: their scores of a block of items stay in the second-level cache.
const TOGETHER: usize = 64;

/// A request for the list of a known user.
pub(crate) struct UserTask {
    pub served: Arc<Served>,
    pub user: u32,
    /// The length of the list.
    pub n: usize,
    /// Items to leave out besides those that the model knows of the user; ascending.
    pub exclude: Vec<u32>,
}

enum Task {
    User(UserTask, oneshot::Sender<ApiResult<List>>),
    Other(Box<dyn FnOnce() + Send>),
}

/// The threads, and what they have to do.
pub(crate) struct Compute {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

struct Queue {
    state: Mutex<State>,
    wake: Condvar,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    stopped: bool,
}

impl Compute {
    /// Starts so many threads; 0 for one per core.
    pub fn start(threads: usize, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let queue = Arc::new(Queue { state: Mutex::default(), wake: Condvar::new(), metrics });
        let start = |number: usize| {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new().name(format!("rank-{number}")).spawn(move || queue.work())
        };
        let threads = (0..threads).map(start).collect::<Result<_, _>>()?;
        Ok(Self { queue, threads })
    }

    /// The list of a known user.
    pub async fn user(&self, task: UserTask) -> ApiResult<List> {
        let (reply, answer) = oneshot::channel();
        self.queue.push(Task::User(task, reply));
        answer.await.unwrap_or_else(|_| Err(fault()))
    }

    /// The result of any other work.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (reply, answer) = oneshot::channel();
        let work = move || {
            if !reply.is_closed() {
                let _ = reply.send(work());
            }
        };
        self.queue.push(Task::Other(Box::new(work)));
        answer.await.unwrap_or_else(|_| Err(fault()))
    }
}

impl Drop for Compute {
    /// What is in the queue is still done.
    fn drop(&mut self) {
        self.queue.lock().stopped = true;
        self.queue.wake.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The answer to a request whose work ended in a panic.
fn fault() -> ApiError {
    ApiError::internal("the answer could not be computed")
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: Task) {
        self.lock().tasks.push_back(task);
        self.wake.notify_one();
    }

    fn work(&self) {
        while let Some(tasks) = self.next() {
            // A panic ends this work and not the thread. Its requests are answered when the senders are dropped.
            let _ = catch_unwind(AssertUnwindSafe(|| match tasks {
                Next::Other(work) => work(),
                Next::Users(tasks) => self.rank(tasks),
            }));
        }
    }

    /// The next task, with all others that can be done together with it.
    ///
    /// Where there are fewer cores than threads, the thread that receives requests is given the time to receive all that
    /// have arrived, so that they are ranked together.
    fn next(&self) -> Option<Next> {
        std::thread::yield_now();
        let mut state = self.lock();
        loop {
            match state.tasks.pop_front() {
                Some(Task::Other(work)) => return Some(Next::Other(work)),
                Some(Task::User(task, reply)) => {
                    let mut together = vec![(task, reply)];
                    let mut place = 0;
                    while place < state.tasks.len() && together.len() < TOGETHER {
                        let fits = matches!(&state.tasks[place], Task::User(task, _)
                            if Arc::ptr_eq(&task.served, &together[0].0.served));
                        match fits.then(|| state.tasks.remove(place)).flatten() {
                            Some(Task::User(task, reply)) => together.push((task, reply)),
                            _ => place += 1,
                        }
                    }
                    return Some(Next::Users(together));
                }
                None if state.stopped => return None,
                None => {
                    drop(self.wake.wait(state).unwrap_or_else(PoisonError::into_inner));
                    std::thread::yield_now();
                    state = self.lock();
                }
            }
        }
    }

    fn rank(&self, mut tasks: Vec<(UserTask, oneshot::Sender<ApiResult<List>>)>) {
        // Nobody waits for these any more.
        tasks.retain(|(_, reply)| !reply.is_closed());
        let Some((first, _)) = tasks.first() else { return };
        self.metrics.ranked_together(tasks.len());
        let served = Arc::clone(&first.served);
        let asked: Vec<&UserTask> = tasks.iter().map(|(task, _)| task).collect();
        match served.rank_users(&asked, &Allowed::default()) {
            Ok(lists) => {
                for ((_, reply), list) in tasks.into_iter().zip(lists) {
                    let _ = reply.send(Ok(list));
                }
            }
            Err(error) => {
                let error = ApiError::from(error);
                tasks.into_iter().for_each(|(_, reply)| drop(reply.send(Err(error.clone()))));
            }
        }
    }
}

enum Next {
    Users(Vec<(UserTask, oneshot::Sender<ApiResult<List>>)>),
    Other(Box<dyn FnOnce() + Send>),
}
