//! Recommendations of Rivalry models over HTTP: one process, no database, and a page to look at them.
//!
//! A [`Server`] loads models ([`ModelSource`]) and answers on an address ([`ServeOptions`]). Models are replaced while it runs:
//! a new file is loaded and takes the place of the old one between two requests. The types of the answers are public, for
//! clients; `/openapi.json` describes the interface for other languages.
//!
//! A request goes through `guard` (key, limits, timeout) to its handler in `api`, which takes the model as it is at that
//! moment and leaves the ranking to the threads of `compute`.
#![forbid(unsafe_code)]

mod api;
mod app;
mod compute;
mod error;
mod events;
mod extract;
mod feedback;
mod file_stamp;
mod guard;
mod index;
mod json;
mod metrics;
mod models;
mod options;
mod recommend;
mod seen;
mod served;
mod server;
mod write_timeout;

pub use api::explain::{Explanation, PairSlate, RivalItem, SlateItem};
pub use api::feedback::Stored;
pub use api::models::{Health, ModelInfo, ModelList, ReloadResult, ReloadResults, SearchInfo};
pub use api::openapi::openapi;
pub use api::types::{
    FoundItems, FoundUsers, ItemLinks, Lists, ModelTag, Ranked, Recommendations, ScoredItem, ScoredUser,
    SimilarItems, SimilarUsers, Source, UserHistory,
};
pub use error::{ErrorBody, ErrorDetail};
pub use events::POSITIVE_EVENTS;
pub use options::{Limits, ModelSource, PORT, ServeOptions};
pub use server::{Server, Stopper};
