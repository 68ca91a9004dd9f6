//! What the ratings of a log are.

use rivalry::data::{Records, thousands};

/// The ratings of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ratings {
    /// The different values, ascending; none if there are more than [`MOST_STARS`].
    values: Vec<f32>,
    /// The ratings, without those that are missing.
    ratings: Vec<f32>,
    rows: usize,
}

/// More different values than any scale of stars has.
const MOST_STARS: usize = 11;
/// The highest value of a scale of stars.
const HIGHEST_STAR: f32 = 10.0;
/// The share of the highest value from which a rating counts as approval: 3 of 5, 6 of 10.
const APPROVAL: f32 = 0.6;

impl Ratings {
    pub fn of(records: &Records) -> Self {
        let rows = records.user.len();
        let ratings: Vec<f32> =
            records.rating.iter().flatten().copied().filter(|rating| !rating.is_nan()).collect();
        let mut values: Vec<f32> = Vec::new();
        for &rating in &ratings {
            if let Err(place) = values.binary_search_by(|value| value.total_cmp(&rating)) {
                values.insert(place, rating);
            }
            if values.len() > MOST_STARS {
                values.clear();
                break;
            }
        }
        Self { values, ratings, rows }
    }

    /// What they are, in words, and the lowest rating that is kept. Stars are filtered; counts and weights are not, and
    /// neither is anything of which most rows would be lost.
    pub fn decide(&self) -> (String, Option<f32>) {
        if self.ratings.is_empty() {
            return ("none".to_owned(), None);
        }
        let (Some(&lowest), Some(&highest)) = (self.values.first(), self.values.last()) else {
            return ("many different values, as of counts: every row is one interaction".to_owned(), None);
        };
        if lowest == highest {
            return (format!("{lowest} in every row, so not used"), None);
        }
        let bound = if lowest < 0.0 { f32::MIN_POSITIVE } else { APPROVAL * highest };
        let from = self.values.iter().copied().find(|value| *value >= bound).unwrap_or(highest);
        let kept = self.ratings.iter().filter(|rating| **rating >= from).count();
        if highest > HIGHEST_STAR || 2 * kept < self.rows || self.ratings.len() < self.rows {
            return (
                format!("{lowest} to {highest}, not taken for stars: every row is one interaction"),
                None,
            );
        }
        let (kept, rows) = (thousands(kept), thousands(self.rows));
        (format!("{lowest} to {highest}: rows rated {from} or more are kept ({kept} of {rows})"), Some(from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(ratings: &[f32]) -> Option<f32> {
        let n = ratings.len();
        let records =
            Records { user: vec![0; n], item: vec![0; n], rating: Some(ratings.to_vec()), time: None };
        Ratings::of(&records).decide().1
    }

    #[test]
    fn stars_are_filtered_and_counts_are_not() {
        assert_eq!(decide(&[1.0, 2.0, 3.0, 4.0, 5.0, 5.0]), Some(3.0));
        assert_eq!(decide(&[0.5, 2.5, 3.0, 3.5, 5.0, 4.5]), Some(3.0));
        assert_eq!(decide(&[0.0, 1.0, 1.0]), Some(1.0), "thumbs");
        assert_eq!(decide(&[-1.0, 1.0, 1.0]), Some(1.0), "thumbs");
        assert_eq!(decide(&[1.0, 1.0, 1.0, 1.0, 2.0, 6.0]), None, "most would be lost: counts");
        assert_eq!(decide(&[1.0, 2.0, 30.0, 30.0]), None);
        assert_eq!(decide(&[1.0; 9]), None);
        assert_eq!(decide(&(0..40).map(|n| n as f32).collect::<Vec<_>>()), None);
        assert_eq!(decide(&[]), None);
        assert_eq!(decide(&[f32::NAN, 4.0, 5.0, 5.0]), None, "rows without a rating are not thrown away");
    }
}
