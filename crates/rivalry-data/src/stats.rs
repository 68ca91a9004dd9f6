//! Statistics of a data set: size, density, long tail.

use std::fmt;

use serde::Serialize;

use super::{Dataset, Interactions, Parts, tally::Tally};

/// Statistics of a data set; unless stated otherwise, of all its sets together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// The number of users, including those without interactions.
    pub users: usize,
    /// The number of items, including those without interactions.
    pub items: usize,
    /// The number of interactions.
    pub interactions: usize,
    /// Interactions in the training set.
    pub train: usize,
    /// Interactions in the validation set.
    pub valid: usize,
    /// Interactions in the test set.
    pub test: usize,
    /// The fraction of all user–item pairs that interacted.
    pub density: f64,
    /// Interactions per user.
    pub per_user: CountStats,
    /// Interactions per item.
    pub per_item: CountStats,
    /// Gini coefficient of item popularity: 0 if all items are equally popular, near 1 if a few have all interactions.
    pub popularity_gini: f64,
    /// The fraction of interactions of the most popular 20 % of the items (rounded up).
    pub top_fifth_share: f64,
    /// Users and items of the test set that don't occur in training.
    pub unseen_in_test: Unseen,
}

/// Summary statistics of a list of counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CountStats {
    /// The minimum.
    pub min: u32,
    /// The median; for an even number of counts, the mean of the middle two.
    pub median: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: u32,
}

/// Users and items of a held-out set that don't occur in training, so that no model can learn them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// The number of users.
    pub users: usize,
    /// The number of held-out pairs of such users.
    pub user_pairs: usize,
    /// The number of items.
    pub items: usize,
    /// The number of held-out pairs of such items.
    pub item_pairs: usize,
}

/// Computes the statistics of a data set.
pub fn stats(dataset: &Dataset) -> Stats {
    Tally::of(dataset.parts()).stats()
}

/// The statistics that follow from the number of pairs of each set, each user and each item.
pub(crate) fn of_counts(
    pairs: Parts<usize>,
    mut per_user: Vec<u32>,
    mut per_item: Vec<u32>,
    unseen_in_test: Unseen,
) -> Stats {
    let (users, items) = (per_user.len(), per_item.len());
    let interactions = pairs.into_iter().sum();
    per_user.sort_unstable();
    per_item.sort_unstable();
    let top_fifth = per_item[items - items.div_ceil(5)..].iter().map(|&count| f64::from(count)).sum::<f64>();
    Stats {
        users,
        items,
        interactions,
        train: pairs.train,
        valid: pairs.valid,
        test: pairs.test,
        density: share(interactions as f64, users as f64 * items as f64),
        per_user: CountStats::of(&per_user),
        per_item: CountStats::of(&per_item),
        popularity_gini: gini(&per_item),
        top_fifth_share: share(top_fifth, interactions as f64),
        unseen_in_test,
    }
}

impl CountStats {
    fn of(sorted: &[u32]) -> Self {
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let middle = [(sorted.len() - 1) / 2, sorted.len() / 2].map(|index| f64::from(sorted[index]));
        let sum: f64 = sorted.iter().map(|&count| f64::from(count)).sum();
        Self { min, median: (middle[0] + middle[1]) / 2.0, mean: sum / sorted.len() as f64, max }
    }
}

impl Unseen {
    /// Compares a held-out set with the training set.
    pub fn of(train: &Interactions, part: &Interactions) -> Self {
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

/// The Gini coefficient of ascending counts, `Σ (2r - n - 1)·x_r / (n·Σ x)` with rank `r = 1..n`: 0 if all are equal, near
/// 1 if a few have everything.
pub fn gini(sorted: &[u32]) -> f64 {
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
        if self.valid + self.test > 0 {
            writeln!(f, "sets               training {train}, validation {valid}, test {test}")?;
        }
        writeln!(f, "density            {:.3} %", 100.0 * self.density)?;
        writeln!(f, "per user           {}", self.per_user)?;
        writeln!(f, "per item           {}", self.per_item)?;
        writeln!(f, "popularity Gini    {:.3}", self.popularity_gini)?;
        write!(f, "top 20 % of items  {:.1} % of interactions", 100.0 * self.top_fifth_share)?;
        if self.test > 0 {
            let [users, items] = [unseen.users, unseen.items].map(thousands);
            write!(f, "\nunseen in test     {users} users, {items} items")?;
        }
        Ok(())
    }
}

impl fmt::Display for CountStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [min, max] = [self.min, self.max].map(|count| thousands(count as usize));
        write!(f, "min {min}, median {}, mean {:.1}, max {max}", self.median, self.mean)
    }
}

/// Formats `1234567` as `1,234,567`.
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

/// `1 pair`, `2,000 pairs`.
pub fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_a_small_data_set() {
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
            warnings: Vec::new(),
            split: None,
            skipped: Default::default(),
            share: None,
        };
        let stats = stats(&dataset);
        assert_eq!((stats.users, stats.items, stats.interactions), (3, 5, 8));
        assert_eq!(stats.density, 8.0 / 15.0);
        assert_eq!(stats.per_user, CountStats { min: 2, median: 3.0, mean: 8.0 / 3.0, max: 3 });
        assert_eq!(stats.per_item, CountStats { min: 0, median: 1.0, mean: 1.6, max: 3 });
        assert_eq!(stats.top_fifth_share, 3.0 / 8.0);
        assert_eq!(stats.unseen_in_test, Unseen { users: 1, user_pairs: 2, items: 1, item_pairs: 3 });
        // Counts 0 1 1 3 3: (-4·0 - 2·1 + 0·1 + 2·3 + 4·3) / (5·8).
        assert!((stats.popularity_gini - 16.0 / 40.0).abs() < 1e-12);
        let text = stats.to_string();
        assert!(text.contains("per user           min 2, median 3, mean 2.7, max 3"), "{text}");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(gini(&[]), 0.0);
        assert_eq!((gini(&[4, 4, 4]), gini(&[0, 0])), (0.0, 0.0));
        assert!((gini(&[0, 0, 0, 9]) - 0.75).abs() < 1e-12);
        assert!((gini(&[1, 2, 3]) - 2.0 / 9.0).abs() < 1e-12);
    }
}
