//! From a folder of runs to a report: tables, figures and one HTML file that needs nothing else.
//!
//! ```no_run
//! let report = rivalry_report::Report::read("runs".as_ref())?;
//! std::fs::write("report.html", report.html()).unwrap();
//! # Ok::<(), rivalry::Error>(())
//! ```
#![forbid(unsafe_code)]

mod chart;
mod draw;
mod group;
mod html;
mod page;
mod published;
mod report;
mod run;
mod sections;
mod settings;
mod summary;
#[cfg(test)]
mod testing;

pub use page::Figure;
pub use report::{Contents, Report};
