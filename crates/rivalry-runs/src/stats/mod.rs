//! Statistics of paired values: pure functions, one file each.
//!
//! The results agree with SciPy on the vectors of `tests/stats`. Degenerate samples have defined results: without any
//! difference p is one.

mod bootstrap;
mod holm;
mod mean_std;
mod relative_change;
mod t_test;
mod wilcoxon;

pub use bootstrap::{Bootstrap, mean_interval};
pub use holm::holm;
pub use mean_std::{MeanStd, mean, quantile};
pub use relative_change::{Sample, relative_change_interval};
pub use t_test::{TTest, paired_t};
pub use wilcoxon::{SignedRank, wilcoxon};
