//! What a data set looks like: size, density, how long its tail is.

use std::fmt;

use serde::Serialize;

use super::{Dataset, Interactions};

/// The figures of one data set. Unless said otherwise they are of all its parts together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// How many users, those without interactions included.
    pub users: usize,
    /// How many items, those without interactions included.
    pub items: usize,
    /// How many interactions in all.
    pub interactions: usize,
    /// How many of them for training.
    pub train: usize,
    /// How many for validation.
    pub valid: usize,
    /// How many for testing.
    pub test: usize,
    /// The share of all possible pairs that interacted.
    pub density: f64,
    /// Interactions of a user.
    pub per_user: Spread,
    /// Interactions of an item.
    pub per_item: Spread,
    /// Inequality of item popularity: 0 if all items are equally popular, towards 1 if few have everything.
    pub popularity_gini: f64,
    /// The share of interactions that the most popular 20 % of the items have (rounded up to whole items).
    pub top_fifth_share: f64,
    /// What the test part has that training never saw.
    pub unseen_in_test: Unseen,
}

/// Smallest, middle and largest of some counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub min: u32,
    /// The middle one; of an even number, the mean of the two in the middle.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: u32,
}

/// Users and items of a held-out part that training never saw: no model can do them justice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// How many users.
    pub users: usize,
    /// How many held-out pairs are of such users.
    pub user_pairs: usize,
    /// How many items.
    pub items: usize,
    /// How many held-out pairs are of such items.
    pub item_pairs: usize,
}

/// The figures of a data set.
pub fn stats(dataset: &Dataset) -> Stats {
    let parts = [&dataset.train, &dataset.valid, &dataset.test];
    let (users, items) = (dataset.users.len(), dataset.items.len());
    let interactions = parts.iter().map(|part| part.len()).sum();
    let mut per_user: Vec<u32> = (0..users as u32)
        .map(|user| parts.iter().map(|part| part.items_of(user).len() as u32).sum())
        .collect();
    let mut per_item = vec![0; items];
    for part in parts {
        part.item_counts().iter().zip(&mut per_item).for_each(|(count, sum)| *sum += count);
    }
    per_user.sort_unstable();
    per_item.sort_unstable();
    let top_fifth = per_item[items - items.div_ceil(5)..].iter().map(|&count| f64::from(count)).sum::<f64>();
    Stats {
        users,
        items,
        interactions,
        train: dataset.train.len(),
        valid: dataset.valid.len(),
        test: dataset.test.len(),
        density: share(interactions as f64, users as f64 * items as f64),
        per_user: Spread::of(&per_user),
        per_item: Spread::of(&per_item),
        popularity_gini: gini(&per_item),
        top_fifth_share: share(top_fifth, interactions as f64),
        unseen_in_test: Unseen::of(&dataset.train, &dataset.test),
    }
}

impl Spread {
    fn of(sorted: &[u32]) -> Self {
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let middle = [(sorted.len() - 1) / 2, sorted.len() / 2].map(|place| f64::from(sorted[place]));
        let sum: f64 = sorted.iter().map(|&count| f64::from(count)).sum();
        Self { min, median: (middle[0] + middle[1]) / 2.0, mean: sum / sorted.len() as f64, max }
    }
}

impl Unseen {
    /// Compares a held-out part with the training part.
    pub(super) fn of(train: &Interactions, part: &Interactions) -> Self {
        let users = (0..part.n_users() as u32)
            .filter(|&user| train.items_of(user).is_empty())
            .map(|user| part.items_of(user).len())
            .filter(|&pairs| pairs > 0);
        let items = train.item_counts().into_iter().zip(part.item_counts());
        let items = items.filter(|&(train, part)| train == 0 && part > 0).map(|(_, part)| part as usize);
        Self {
            users: users.clone().count(),
            user_pairs: users.sum(),
            items: items.clone().count(),
            item_pairs: items.sum(),
        }
    }
}

/// `Σ (2r - n - 1)·x_r / (n·Σ x)` over counts ascending with rank `r = 1..n`.
fn gini(sorted: &[u32]) -> f64 {
    let n = sorted.len() as f64;
    let ranked = (1..).zip(sorted).map(|(rank, &count)| (2.0 * f64::from(rank) - n - 1.0) * f64::from(count));
    share(ranked.sum(), n * sorted.iter().map(|&count| f64::from(count)).sum::<f64>())
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [train, valid, test] = [self.train, self.valid, self.test].map(thousands);
        let unseen = self.unseen_in_test;
        writeln!(f, "users              {}", thousands(self.users))?;
        writeln!(f, "items              {}", thousands(self.items))?;
        writeln!(f, "interactions       {}", thousands(self.interactions))?;
        writeln!(f, "parts              train {train}, validation {valid}, test {test}")?;
        writeln!(f, "density            {:.3} %", 100.0 * self.density)?;
        writeln!(f, "per user           {}", self.per_user)?;
        writeln!(f, "per item           {}", self.per_item)?;
        writeln!(f, "popularity Gini    {:.3}", self.popularity_gini)?;
        writeln!(f, "top 20 % of items  {:.1} % of interactions", 100.0 * self.top_fifth_share)?;
        write!(f, "unseen in test     {} users, {} items", thousands(unseen.users), thousands(unseen.items))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [min, max] = [self.min, self.max].map(|count| thousands(count as usize));
        write!(f, "min {min}, median {}, mean {:.1}, max {max}", self.median, self.mean)
    }
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_set() {
        let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(3, 5, pairs.iter().copied());
        let dataset = Dataset {
            name: "small".into(),
            users: ["a", "b", "c"].iter().collect(),
            items: ["v", "w", "x", "y", "z"].iter().collect(),
            train: part(&[(0, 0), (0, 1), (1, 0), (1, 2)]),
            valid: part(&[]),
            test: part(&[(0, 3), (1, 3), (2, 0), (2, 3)]),
            checksum: String::new(),
            notes: vec![],
        };
        let stats = stats(&dataset);
        assert_eq!((stats.users, stats.items, stats.interactions), (3, 5, 8));
        assert_eq!(stats.density, 8.0 / 15.0);
        assert_eq!(stats.per_user, Spread { min: 2, median: 3.0, mean: 8.0 / 3.0, max: 3 });
        assert_eq!(stats.per_item, Spread { min: 0, median: 1.0, mean: 1.6, max: 3 });
        assert_eq!(stats.top_fifth_share, 3.0 / 8.0);
        assert_eq!(stats.unseen_in_test, Unseen { users: 1, user_pairs: 2, items: 1, item_pairs: 3 });
        // Counts 0 1 1 3 3: (-4·0 - 2·1 + 0·1 + 2·3 + 4·3) / (5·8).
        assert!((stats.popularity_gini - 16.0 / 40.0).abs() < 1e-12);
        let text = stats.to_string();
        assert!(text.contains("per user           min 2, median 3, mean 2.7, max 3"), "{text}");
    }

    #[test]
    fn long_numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(gini(&[]), 0.0);
        assert_eq!(gini(&[4, 4, 4]), 0.0);
    }
}
