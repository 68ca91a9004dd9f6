//! Reports on folders of runs: tables and figures in one self-contained HTML file.
//!
//! ```no_run
//! let report = rivalry_report::Report::read("runs".as_ref(), &Default::default(), &mut |_, _| {})?;
//! std::fs::write("report.html", report.html()).unwrap();
//! # Ok::<(), rivalry::Error>(())
//! ```
#![forbid(unsafe_code)]

mod auto_page;
mod chart;
mod comparison;
mod counts;
mod draw;
mod escape;
mod gradient_figure;
mod group;
mod html;
mod page;
mod published;
mod report;
mod reproduction;
mod run;
mod run_list;
mod sections;
mod settings;
mod summary;
mod table;
#[cfg(test)]
mod testing;

pub use auto_page::auto_page;
pub use comparison::{comparison_notes, comparison_tables};
pub use counts::RunCounts;
pub use escape::escape_markdown;
pub use gradient_figure::gradient_figure;
pub use page::Figure;
pub use report::{Contents, Report};
pub use reproduction::{reproduction_figures, reproduction_markdown};
pub use table::{Table, TableCell, TableColumn};
