//! Original ids and the dense numbers that stand for them.

/// A two-way map between original ids and `0..len`.
///
/// All ids lie in one string, so a million of them cost their letters and a few bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdMap {
    text: String,
    ends: Vec<usize>,
}

impl IdMap {
    /// How many ids.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The original id behind a dense one.
    pub fn original(&self, dense: u32) -> &str {
        let dense = dense as usize;
        let start = if dense == 0 { 0 } else { self.ends[dense - 1] };
        &self.text[start..self.ends[dense]]
    }

    /// All original ids in dense order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.len() as u32).map(|dense| self.original(dense))
    }
}

impl<S: AsRef<str>> FromIterator<S> for IdMap {
    fn from_iter<I: IntoIterator<Item = S>>(ids: I) -> Self {
        let mut map = Self::default();
        for id in ids {
            map.text.push_str(id.as_ref());
            map.ends.push(map.text.len());
        }
        map
    }
}
