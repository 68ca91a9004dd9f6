//! Training: one step ([`Stepper`]), and the loop around it ([`fit`]).
//!
//! This room knows losses, backbones, samplers and metrics by their traits alone, and files not at all: what must
//! outlive a training goes to a [`Store`], what people want to see to an [`Observer`].

mod blocks;
mod fit;
mod model;
mod optim;
mod progress;
mod step;

pub use fit::{Ending, Fit, Fitted, Moment, Nowhere, Outcome, Stopped, Store, check, fit};
pub use model::{Model, Score};
pub use optim::{AdamConfig, AdamState};
pub use progress::{Best, Event, Observer, Progress, Record, Seconds, Silent};
pub use step::{Batch, Player, Stepper};
