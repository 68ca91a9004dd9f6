//! Ratings that are not used.

use crate::thousands;

/// The highest rating of a scale; larger values are counts or prices.
const SCALE: f32 = 100.0;

/// Notes that ratings are ignored, what they are, and how to use them. Nothing is said if all are the same positive
/// number, as in a log of clicks.
pub(crate) fn note_ignored_ratings(ratings: &[f32], notes: &mut Vec<String>) {
    let given = || ratings.iter().copied().filter(|rating| !rating.is_nan());
    let (low, high) =
        given().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), r| (low.min(r), high.max(r)));
    if low > high || (low == high && low > 0.0) {
        return;
    }
    let ignored = "not used: every row counts as an interaction";
    if low == high {
        notes.push(format!("all ratings are {low} and {ignored}"));
        return;
    }
    if high > SCALE {
        notes.push(format!("ratings (from {low} to {high}) are {ignored}"));
        return;
    }
    let threshold = (low + 0.75 * (high - low)).round();
    let below = given().filter(|rating| *rating < threshold).count();
    let share = 100.0 * below as f64 / ratings.len() as f64;
    notes.push(format!(
        "ratings (from {low} to {high}) are {ignored}; --min-rating {threshold} would leave out the {} below ({share:.0} %)",
        thousands(below)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(ratings: &[f32]) -> String {
        let mut notes = Vec::new();
        note_ignored_ratings(ratings, &mut notes);
        notes.pop().unwrap_or_default()
    }

    #[test]
    fn only_ratings_that_say_something_are_noted() {
        assert_eq!([note(&[]), note(&[1.0, 1.0]), note(&[f32::NAN])], ["", "", ""]);
        assert!(note(&[0.0, 0.0]).starts_with("all ratings are 0 and not used"));
        let stars = note(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(stars.contains("from 1 to 5") && stars.contains("--min-rating 4"), "{stars}");
        assert!(stars.ends_with("the 3 below (60 %)"), "{stars}");
        assert!(!note(&[1.0, 25_000.0]).contains("min-rating"), "counts are no scale");
    }
}
