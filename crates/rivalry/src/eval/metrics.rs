//! Values by metric and cut-off.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut, Index};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::beyond;
use super::metric::{METRICS, MetricEntry};
use crate::{Error, InputError, Result, unknown_name};

/// A metric at a cut-off, such as `NDCG@20`: one of [`METRICS`], or of the metrics of all lists together
/// (`Coverage`, `AveragePopularity`, `Gini`).
///
/// Ordered by cut-off, then as the metrics are listed.
///
/// ```
/// use rivalry::eval::MetricAt;
///
/// let metric: MetricAt = "ndcg@20".parse()?;
/// assert_eq!((metric, metric.to_string()), (MetricAt::ndcg(20), "NDCG@20".to_owned()));
/// # Ok::<(), rivalry::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MetricAt {
    label: &'static str,
    k: usize,
}

impl MetricAt {
    /// `NDCG@k`.
    pub const fn ndcg(k: usize) -> Self {
        Self::new(super::metric::NDCG, k)
    }

    /// `Recall@k`.
    pub const fn recall(k: usize) -> Self {
        Self::new(super::metric::RECALL, k)
    }

    pub(super) const fn new(label: &'static str, k: usize) -> Self {
        Self { label, k }
    }

    /// The name of the metric, without the cut-off.
    pub fn label(self) -> &'static str {
        self.label
    }

    /// The cut-off: the length of the ranked list.
    pub fn k(self) -> usize {
        self.k
    }

    /// The same metric at another cut-off.
    #[must_use]
    pub fn at(self, k: usize) -> Self {
        Self { k, ..self }
    }

    /// The metric's entry in [`METRICS`], if it is one of single lists, with a value for each user.
    pub fn entry(self) -> Option<&'static MetricEntry> {
        METRICS.iter().find(|metric| metric.label == self.label)
    }

    fn position(self) -> usize {
        labels().position(|label| label == self.label).unwrap_or(usize::MAX)
    }
}

/// The labels of all metrics, those of single lists first.
fn labels() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|metric| metric.label).chain(beyond::LABELS)
}

impl Ord for MetricAt {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.k, self.position()).cmp(&(other.k, other.position()))
    }
}

impl PartialOrd for MetricAt {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for MetricAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.label, self.k)
    }
}

impl FromStr for MetricAt {
    type Err = Error;

    /// Reads `NDCG@20`; upper and lower case are the same.
    fn from_str(text: &str) -> Result<Self> {
        let malformed = || {
            let what = format!("expected a metric and a cut-off, found '{text}'");
            InputError::new(what).help("for example NDCG@20")
        };
        let (name, k) = text.split_once('@').ok_or_else(malformed)?;
        let k = k.parse().ok().filter(|&k| k > 0).ok_or_else(malformed)?;
        let found = labels().find(|label| label.eq_ignore_ascii_case(name));
        let label = found.ok_or_else(|| unknown_name("metric", name, labels()))?;
        Ok(Self { label, k })
    }
}

impl Serialize for MetricAt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MetricAt {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A value for each of several metrics, in their order. Can be indexed by name, as in `metrics["NDCG@20"]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Metrics<T = f64>(BTreeMap<MetricAt, T>);

impl<T> Default for Metrics<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Deref for Metrics<T> {
    type Target = BTreeMap<MetricAt, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for Metrics<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl<T> FromIterator<(MetricAt, T)> for Metrics<T> {
    fn from_iter<I: IntoIterator<Item = (MetricAt, T)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T> IntoIterator for Metrics<T> {
    type Item = (MetricAt, T);
    type IntoIter = std::collections::btree_map::IntoIter<MetricAt, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Metrics<T> {
    type Item = (&'a MetricAt, &'a T);
    type IntoIter = std::collections::btree_map::Iter<'a, MetricAt, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Index<&str> for Metrics<T> {
    type Output = T;

    /// # Panics
    /// If there is no such metric, or no value for it.
    fn index(&self, name: &str) -> &T {
        let metric: MetricAt = name.parse().unwrap_or_else(|error| panic!("{error}"));
        self.0.get(&metric).unwrap_or_else(|| panic!("there is no value of {metric}"))
    }
}

impl<T> Index<MetricAt> for Metrics<T> {
    type Output = T;

    /// # Panics
    /// If there is no value of the metric.
    fn index(&self, metric: MetricAt) -> &T {
        self.0.get(&metric).unwrap_or_else(|| panic!("there is no value of {metric}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_by_name_and_length() {
        let read = |text: &str| text.parse::<MetricAt>();
        assert_eq!(read("ndcg@5").unwrap(), MetricAt::ndcg(5));
        assert_eq!(read("HitRate@10").unwrap().to_string(), "HitRate@10");
        assert_eq!(read("Gini@10").unwrap().entry().map(|entry| entry.name), None);
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("recal@20").contains("did you mean 'Recall'?"));
        assert!(error("NDCG").contains("NDCG@20") && error("NDCG@0").contains("found 'NDCG@0'"));
    }

    #[test]
    fn values_are_ordered_by_k_and_then_by_the_list_and_survive_json() {
        let names = ["Gini@20", "NDCG@20", "Recall@100", "Recall@20", "MAP@5"];
        let values: Metrics = names.iter().map(|name| (name.parse().unwrap(), 0.25)).collect();
        let text = serde_json::to_string(&values).unwrap();
        let ordered = r#"{"MAP@5":0.25,"Recall@20":0.25,"NDCG@20":0.25,"Gini@20":0.25,"Recall@100":0.25}"#;
        assert_eq!(text, ordered);
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), values);
        assert_eq!((values["NDCG@20"], values[MetricAt::recall(100)]), (0.25, 0.25));
        assert!(serde_json::from_str::<Metrics>(r#"{"NDGC@20": 1}"#).is_err());
    }
}
