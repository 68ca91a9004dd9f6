//! Reading a folder of runs into a report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rivalry::{InputError, Result};
use rivalry_runs::run::find_runs;

use crate::group::group;
use crate::html::html;
use crate::page::{Figure, Page, RunEntry};
use crate::run::Run;
use crate::sections;

/// A report on the runs of a folder.
pub struct Report {
    contents: Contents,
    page: Page,
}

/// What a report covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The number of runs.
    pub runs: usize,
    /// The folders of the unfinished runs.
    pub unfinished: Vec<PathBuf>,
    /// The number of runs that successive halving pruned.
    pub pruned: usize,
    /// The number of runs with an inspection.
    pub inspected: usize,
    /// The names of the data sets.
    pub data: Vec<String>,
    /// The names of the losses.
    pub losses: Vec<String>,
    /// The labels of the groups of comparable runs: data, backbone and protocol.
    pub groups: Vec<String>,
}

impl Report {
    /// Reads all runs in a folder and its subfolders.
    ///
    /// # Errors
    /// If there is no run, or a file of a run is invalid.
    pub fn read(folder: &Path) -> Result<Self> {
        let found = find_runs(folder)?;
        if found.is_empty() {
            return Err(InputError::new("no runs in this folder or its subfolders")
                .file(folder)
                .help("give a folder with output of 'rivalry train', such as runs")
                .into());
        }
        let runs = found.iter().enumerate().map(|(index, run)| Run::read(run, folder, index));
        let runs: Vec<Run> = runs.collect::<Result<_>>()?;
        let groups = group(&runs);
        let names = |name: &dyn Fn(&Run) -> String| runs.iter().map(name).collect::<BTreeSet<_>>();
        let unfinished = runs.iter().filter(|run| run.record.is_none() && !run.pruned);
        let contents = Contents {
            runs: runs.len(),
            unfinished: unfinished.map(|run| run.path.clone()).collect(),
            pruned: runs.iter().filter(|run| run.pruned).count(),
            inspected: runs.iter().filter(|run| run.inspection.is_some()).count(),
            data: names(&Run::data).into_iter().collect(),
            losses: names(&|run: &Run| run.loss().to_owned()).into_iter().collect(),
            groups: groups.iter().map(|group| group.label.clone()).collect(),
        };
        let page = Page {
            title: format!("Report on {}", folder.display()),
            sections: sections::all(&runs, &groups),
            runs: runs.iter().map(entry).collect(),
        };
        Ok(Self { contents, page })
    }

    /// What the report covers.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The report as one self-contained HTML file.
    pub fn html(&self) -> String {
        html(&self.page)
    }

    /// All figures with a file name each, without extension. They are numbered as on the page.
    pub fn figures(&self) -> impl Iterator<Item = (String, &Figure)> {
        (1..).zip(self.page.figures()).map(|(number, figure)| (file_name(number, figure.title()), figure))
    }
}

/// A file name of ASCII letters, digits and hyphens.
fn file_name(number: usize, title: &str) -> String {
    let plain = title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), " ");
    let words: Vec<&str> = plain.split_whitespace().collect();
    let mut name = format!("{number:03}-{}", words.join("-"));
    name.truncate(100);
    name
}

fn entry(run: &Run) -> RunEntry {
    let state = if run.record.is_some() { "" } else { ", unfinished" };
    let seed = run.config.seed;
    let description =
        format!("{}: {} on {}, {}, seed {seed}{state}", run.name, run.loss(), run.data(), run.backbone());
    RunEntry { description, command: run.command(), config: run.config.to_toml() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name(7, "NDCG@20 by τ: ../a <b>, mf"), "007-ndcg-20-by-a-b-mf");
    }
}
