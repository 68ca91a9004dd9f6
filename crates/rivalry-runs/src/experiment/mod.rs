//! Many trainings for one question: what to try ([`Search`]), one attempt at it ([`Trial`]), and the folder they are run
//! in ([`Lab`]), which any number of processes may work on and any of them may die in.

mod choice;
mod findings;
mod halving;
mod index;
mod lab;
mod search;
#[cfg(test)]
mod tests;
mod trial;
mod values;
mod work;

pub use findings::{Chosen, Findings, chosen_runs};
pub use halving::Halving;
pub use index::{Standing, State, failure};
pub use lab::{Lab, Order};
pub use search::Search;
pub use trial::Trial;
pub use work::{Moment, Watch};
