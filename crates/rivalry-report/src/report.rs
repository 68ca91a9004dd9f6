//! The whole way from a folder to a page.

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

/// What a report is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// How many runs were found.
    pub runs: usize,
    /// The folders of those that are not finished.
    pub unfinished: Vec<PathBuf>,
    /// How many were given up by a search.
    pub given_up: usize,
    /// How many have been inspected.
    pub inspected: usize,
    /// The names of the data sets.
    pub data: Vec<String>,
    /// The names of the losses.
    pub losses: Vec<String>,
    /// What may be compared: data, backbone and protocol.
    pub groups: Vec<String>,
}

impl Report {
    /// Reads every run in a folder and the folders within it.
    ///
    /// # Errors
    /// If there is no run, or a file of a run can't be read for what it is.
    pub fn read(folder: &Path) -> Result<Self> {
        let found = find_runs(folder)?;
        if found.is_empty() {
            return Err(InputError::new("there is no run in this folder or the folders within it")
                .file(folder)
                .help("give a folder that holds what 'rivalry train' made, such as runs")
                .into());
        }
        let runs = found.iter().enumerate().map(|(number, run)| Run::read(run, folder, number));
        let runs: Vec<Run> = runs.collect::<Result<_>>()?;
        let groups = group(&runs);
        let names = |name: &dyn Fn(&Run) -> String| runs.iter().map(name).collect::<BTreeSet<_>>();
        let unfinished = runs.iter().filter(|run| run.record.is_none() && !run.given_up);
        let contents = Contents {
            runs: runs.len(),
            unfinished: unfinished.map(|run| run.path.clone()).collect(),
            given_up: runs.iter().filter(|run| run.given_up).count(),
            inspected: runs.iter().filter(|run| run.inspection.is_some()).count(),
            data: names(&Run::data).into_iter().collect(),
            losses: names(&|run: &Run| run.loss().to_owned()).into_iter().collect(),
            groups: groups.iter().map(|group| group.label.clone()).collect(),
        };
        let title = format!("Report on {}", folder.display());
        let page =
            Page { title, sections: sections::all(&runs, &groups), runs: runs.iter().map(entry).collect() };
        Ok(Self { contents, page })
    }

    /// What it is on.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// The page.
    pub fn html(&self) -> String {
        html(&self.page)
    }

    /// Every figure with the name of its files, without an ending. The number is that on the page.
    pub fn figures(&self) -> impl Iterator<Item = (String, &Figure)> {
        (1..).zip(self.page.figures()).map(|(number, figure)| (file_name(number, figure.title()), figure))
    }
}

/// Letters that no shell or file system minds.
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
    let summary =
        format!("{}: {} on {}, {}, seed {seed}{state}", run.name, run.loss(), run.data(), run.backbone());
    RunEntry { summary, command: run.command(), config: run.config.to_toml() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name(7, "NDCG@20 by τ: ../a <b>, mf"), "007-ndcg-20-by-a-b-mf");
    }
}
