//! Is a difference more than chance? Small pure functions over paired values, one file each.
//!
//! Where other software is asked the same, it gives the same answer: `tests/stats` holds what SciPy says of fixed
//! vectors. Degenerate samples have an answer too: where there is nothing to tell apart, p is one.

mod bootstrap;
mod holm;
mod mean_std;
mod t_test;
mod wilcoxon;

pub use bootstrap::{Bootstrap, mean_interval};
pub use holm::holm;
pub use mean_std::{MeanStd, mean, quantile};
pub use t_test::{TTest, paired_t};
pub use wilcoxon::{SignedRank, wilcoxon};
