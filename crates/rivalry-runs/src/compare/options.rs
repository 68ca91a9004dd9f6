//! Options of a comparison.

use super::Method;
use crate::stats::Bootstrap;
use rivalry::eval::METRICS;
use rivalry::{InputError, Result, unknown_name};

/// A metric at a cut-off, such as `NDCG@20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricAt {
    /// The metric's label in results.
    pub label: &'static str,
    /// The length of the ranked list.
    pub k: usize,
}

impl std::fmt::Display for MetricAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.label, self.k)
    }
}

impl std::str::FromStr for MetricAt {
    type Err = rivalry::Error;

    /// Reads `NDCG@20`; upper and lower case are the same.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let what = format!("expected a metric and a cut-off, found '{text}'");
            InputError::new(what).help("for example NDCG@20")
        };
        let (name, k) = text.split_once('@').ok_or_else(wrong)?;
        let k = k.parse().ok().filter(|&k| k > 0).ok_or_else(wrong)?;
        let found = METRICS.iter().find(|metric| metric.label.eq_ignore_ascii_case(name));
        let known = METRICS.iter().map(|metric| metric.label);
        let metric = found.ok_or_else(|| unknown_name("metric", name, known))?;
        Ok(Self { label: metric.label, k })
    }
}

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
        let metrics = ["NDCG", "Recall"].map(|label| MetricAt { label, k: 20 }).to_vec();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_by_name_and_length() {
        let read = |text: &str| text.parse::<MetricAt>();
        assert_eq!(read("ndcg@5").unwrap(), MetricAt { label: "NDCG", k: 5 });
        assert_eq!(read("HitRate@10").unwrap().to_string(), "HitRate@10");
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("recal@20").contains("did you mean 'Recall'?"));
        assert!(error("NDCG").contains("NDCG@20") && error("NDCG@0").contains("found 'NDCG@0'"));
    }
}
