//! Reading a folder of runs into a report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rivalry::data::{LoadOptions, count};
use rivalry::{InputError, Result};
use rivalry_runs::run::find_runs;
use rivalry_runs::sweep::RunState;

use crate::comparison::comparisons;
use crate::counts::RunCounts;
use crate::group::group;
use crate::html::html;
use crate::page::{Block, Figure, Page, RunEntry};
use crate::run::Run;
use crate::run_list::run_list;
use crate::sections;

/// A report on the runs of a folder.
pub struct Report {
    contents: Contents,
    page: Page,
}

/// What a report covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The number of runs in each state.
    pub runs: RunCounts,
    /// The folders of the runs that can be resumed.
    pub unfinished: Vec<PathBuf>,
    /// The folders of the runs whose training failed.
    pub failed: Vec<PathBuf>,
    /// What is wrong with the runs that are left out because a file of them is damaged.
    pub damaged: Vec<String>,
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
    /// Where losses were run with several seeds, the models of their selected settings are evaluated again to compare
    /// them user by user. That takes the data: `options` says where to look for them. Without them, or without the
    /// models, the report says why there is no comparison. `progress` is called with the number of models of a group
    /// that were evaluated, and their total.
    ///
    /// # Errors
    /// If there is no run, or none whose files are whole. Runs with a damaged file are left out, and the report says so.
    pub fn read(
        folder: &Path,
        options: &LoadOptions,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Self> {
        let found = find_runs(folder)?;
        if found.is_empty() {
            return Err(InputError::new("no runs in this folder or its subfolders")
                .file(folder)
                .help("give a folder with output of 'rivalry train', such as runs")
                .into());
        }
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        for run in &found {
            match Run::read(run, folder, runs.len()) {
                Ok(run) => runs.push(run),
                Err(fault) if fault.is_damage() => damaged.push(fault),
                Err(other) => return Err(other),
            }
        }
        if runs.is_empty() {
            return Err(damaged.swap_remove(0));
        }
        let damaged: Vec<String> = damaged.iter().map(ToString::to_string).collect();
        let groups = group(&runs);
        let names = |name: &dyn Fn(&Run) -> String| runs.iter().map(name).collect::<BTreeSet<_>>();
        let paths = |state: fn(&RunState) -> bool| -> Vec<PathBuf> {
            runs.iter().filter(|run| state(&run.state)).map(|run| run.path.clone()).collect()
        };
        let contents = Contents {
            runs: RunCounts::of(&runs),
            unfinished: paths(|state| *state == RunState::Unfinished),
            failed: paths(|state| matches!(state, RunState::Failed(_))),
            damaged: damaged.clone(),
            inspected: runs.iter().filter(|run| run.inspection.is_some()).count(),
            data: names(&Run::data).into_iter().collect(),
            losses: names(&|run: &Run| run.loss().to_owned()).into_iter().collect(),
            groups: groups.iter().map(|group| group.label.clone()).collect(),
        };
        let mut sections = sections::all(&runs, &groups, &comparisons(&groups, options, progress));
        if let (Some(overview), false) = (sections.first_mut(), damaged.is_empty()) {
            overview.blocks.insert(0, Block::Paragraph(left_out(&damaged)));
        }
        let page = Page {
            title: format!("Report on {}", folder.display()),
            sections,
            runs: runs.iter().map(entry).collect(),
            list: run_list(&runs),
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

fn left_out(damaged: &[String]) -> String {
    format!("{} with a damaged file left out: {}", count(damaged.len(), "run"), damaged.join("; "))
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
    RunEntry { name: run.name.clone(), command: run.command(), config: run.config.to_toml() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_plain() {
        assert_eq!(file_name(7, "NDCG@20 by τ: ../a <b>, mf"), "007-ndcg-20-by-a-b-mf");
    }
}
