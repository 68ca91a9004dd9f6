//! Parses timestamps to seconds since 1970.

use jiff::{Timestamp, civil, tz::Offset};

/// Parses a number (of seconds or any other unit) or an ISO 8601 date, with or without a time of day and an offset.
/// Fractions are rounded down; a time without an offset is taken as UTC.
pub fn parse_time(text: &str) -> Option<i64> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(number);
    }
    if let Ok(number) = text.parse::<f64>() {
        let in_range = number.abs() < i64::MAX as f64; // false for NaN and infinities
        return in_range.then_some(number.floor() as i64);
    }
    let second = |time: Timestamp| time.as_nanosecond().div_euclid(1_000_000_000) as i64;
    // PostgreSQL and others put a space before the offset.
    let compact = text.rsplit_once(' ').filter(|(_, offset)| offset.starts_with(['+', '-', 'Z', 'z']));
    let compact = compact.map(|(time, offset)| time.to_owned() + offset);
    let text = compact.as_deref().unwrap_or(text);
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(second(time));
    }
    let local = text.parse::<civil::DateTime>().ok()?;
    Offset::UTC.to_timestamp(local).ok().map(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_become_seconds() {
        for (text, seconds) in [
            ("978300760", 978_300_760),
            ("978300760.9", 978_300_760),
            ("-1.5", -2),
            ("1970-01-01", 0),
            ("1969-12-31", -86_400),
            ("1969-12-31T23:59:59.5Z", -1),
            ("2000-02-29", 951_782_400),
            ("2024-05-01", 1_714_521_600),
            ("2024-05-01T12:30:00Z", 1_714_566_600),
            ("2024-05-01 12:30:00", 1_714_566_600),
            ("2024-05-01 12:30", 1_714_566_600),
            ("2024-05-01T12:30:00.123+02:00", 1_714_559_400),
            ("2024-05-01T12:30:00-0130", 1_714_572_000),
            ("2024-05-01 12:30:00 +02", 1_714_559_400),
            ("2024-05-01t12:30z", 1_714_566_600),
            ("2016-12-31T23:59:60Z", 1_483_228_799), // a leap second
        ] {
            assert_eq!(parse_time(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in [
            "",
            "x",
            "NaN",
            "inf",
            "1e40",
            "2023-02-29",
            "2024-13-01",
            "2024-5-1",
            "2024-05-01T25:00",
            "2024-05-01T",
        ] {
            assert_eq!(parse_time(text), None, "{text}");
        }
        for text in
            ["2024-05-01T12:30é", "2024-05-01T12:30+é", "é-é-é", "2024-05-01T12:30:00.x", "2024-05-01 +"]
        {
            assert_eq!(parse_time(text), None, "{text}");
        }
    }
}
