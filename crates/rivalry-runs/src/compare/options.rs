//! Options of a comparison.

use super::Method;
use crate::stats::Bootstrap;
use rivalry::eval::MetricAt;
use rivalry::{Result, unknown_name};

/// Options of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct CompareOptions {
    /// The method that the others are compared with: its name, its loss or model if unambiguous, or the folder of one of
    /// its runs. Default: the first method.
    pub baseline: Option<String>,
    /// The metrics.
    pub metrics: Vec<MetricAt>,
    /// The bootstrap of the confidence intervals.
    pub bootstrap: Bootstrap,
}

impl Default for CompareOptions {
    /// NDCG@20 and Recall@20 against the first method.
    fn default() -> Self {
        let metrics = vec![MetricAt::ndcg(20), MetricAt::recall(20)];
        Self { baseline: None, metrics, bootstrap: Bootstrap::default() }
    }
}

impl CompareOptions {
    /// The index of the baseline among the methods.
    pub(super) fn baseline_among(&self, methods: &[Method]) -> Result<usize> {
        let Some(wanted) = &self.baseline else { return Ok(0) };
        let places = |matches: &dyn Fn(&Method) -> bool| -> Vec<usize> {
            (0..methods.len()).filter(|&place| matches(&methods[place])).collect()
        };
        let path = std::path::Path::new(wanted);
        let ways = [
            places(&|method| method.name == *wanted),
            places(&|method| method.runs.iter().any(|run| run.folder.path() == path)),
            places(&|method| method.runs[0].config.method_names().any(|name| name == wanted)),
        ];
        if let Some([place]) = ways.iter().find(|found| !found.is_empty()).map(Vec::as_slice) {
            return Ok(*place);
        }
        let names = methods.iter().map(|method| method.name.as_str());
        Err(unknown_name("method", wanted, names).field("baseline").into())
    }
}
