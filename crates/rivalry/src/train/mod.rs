//! Training: one step ([`Stepper`]), and the loop around it ([`fit`]).
//!
//! This room knows losses, backbones, samplers and metrics by their traits alone, and files not at all: what must
//! outlive a training goes to a [`Store`], what people want to see to an [`Observer`].

mod fit;
mod footprint;
mod init;
mod model;
mod optim;
mod outcome;
mod progress;
mod step;
mod store;

pub use fit::{check, fit};
pub use footprint::footprint;
pub use model::{Model, Score};
pub use optim::{AdamConfig, AdamState};
pub use outcome::{Ending, Fit, Fitted, Outcome};
pub use progress::{Best, Event, Observer, Progress, Record, Seconds, Silent};
pub use step::{Batch, Player, Stepper};
pub use store::{Moment, Nowhere, Stopped, Store};
