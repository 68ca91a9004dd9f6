//! Ratings that are not used.

use std::collections::HashMap;
use std::ops::Range;

use crate::thousands;

/// The highest rating of a scale; larger values are counts or prices.
const SCALE: f32 = 100.0;

/// The floors of ratings that are counted in an array.
const NEAR: Range<f32> = -128.0..128.0;

/// What ratings are, seen one after the other.
pub(crate) struct Ratings {
    /// How many there are, missing ones included.
    all: usize,
    low: f32,
    high: f32,
    /// How many have each floor in [`NEAR`].
    near: [usize; 256],
    /// How many have each other floor that is part of a scale, by its bits.
    far: HashMap<u32, usize>,
}

impl Default for Ratings {
    fn default() -> Self {
        let (low, high) = (f32::INFINITY, f32::NEG_INFINITY);
        Self { all: 0, low, high, near: [0; 256], far: HashMap::new() }
    }
}

impl Ratings {
    /// Adds ratings; NaN is a missing one.
    pub fn add(&mut self, ratings: &[f32]) {
        self.all += ratings.len();
        for &rating in ratings.iter().filter(|rating| !rating.is_nan()) {
            (self.low, self.high) = (self.low.min(rating), self.high.max(rating));
            let floor = rating.floor();
            if NEAR.contains(&floor) {
                self.near[(floor - NEAR.start) as usize] += 1;
            } else if self.high <= SCALE {
                *self.far.entry(floor.to_bits()).or_default() += 1;
            }
        }
    }

    /// The number of ratings below a whole number that is part of a scale.
    fn below(&self, threshold: f32) -> usize {
        let near = self.near.iter().enumerate().filter(|(n, _)| NEAR.start + (*n as f32) < threshold);
        let far = self.far.iter().filter(|(bits, _)| f32::from_bits(**bits) < threshold);
        near.map(|(_, count)| count).sum::<usize>() + far.map(|(_, count)| count).sum::<usize>()
    }

    /// Notes that they are ignored, what they are, and how to use them. Nothing is said if all are the same positive
    /// number, as in a log of clicks.
    pub fn note_ignored(&self) -> Option<String> {
        let Self { all, low, high, .. } = *self;
        if low > high || (low == high && low > 0.0) {
            return None;
        }
        let ignored = "not used: every row counts as an interaction";
        if low == high {
            return Some(format!("all ratings are {low} and {ignored}"));
        }
        if high > SCALE {
            return Some(format!("ratings (from {low} to {high}) are {ignored}"));
        }
        let threshold = (low + 0.75 * (high - low)).round();
        let below = self.below(threshold);
        let share = 100.0 * below as f64 / all as f64;
        Some(format!(
            "ratings (from {low} to {high}) are {ignored}; --min-rating {threshold} would leave out the {} below ({share:.0} %)",
            thousands(below)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(ratings: &[f32]) -> String {
        let mut all = Ratings::default();
        ratings.chunks(2).for_each(|some| all.add(some));
        all.note_ignored().unwrap_or_default()
    }

    #[test]
    fn only_ratings_that_say_something_are_noted() {
        assert_eq!([note(&[]), note(&[1.0, 1.0]), note(&[f32::NAN])], ["", "", ""]);
        assert!(note(&[0.0, 0.0]).starts_with("all ratings are 0 and not used"));
        let stars = note(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(stars.contains("from 1 to 5") && stars.contains("--min-rating 4"), "{stars}");
        assert!(stars.ends_with("the 3 below (60 %)"), "{stars}");
        assert!(!note(&[1.0, 25_000.0]).contains("min-rating"), "counts are no scale");
        let negative = note(&[-1000.5, -400.0, -0.5, 3.0, f32::NAN]);
        assert!(negative.contains("--min-rating -248 would leave out the 2 below (40 %)"), "{negative}");
    }
}
