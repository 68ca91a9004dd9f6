//! Times as people write them, as seconds since 1970.

/// Whole or broken seconds (or any other count), or an ISO 8601 date with or without a time of day. A time
/// without a zone is taken as UTC; parts of a second are cut off.
pub(super) fn parse_time(text: &str) -> Option<i64> {
    if let Ok(count) = text.parse::<i64>() {
        return Some(count);
    }
    if let Ok(count) = text.parse::<f64>() {
        let fits = count.abs() < i64::MAX as f64; // false for NaN and the infinities
        return fits.then_some(count.floor() as i64);
    }
    iso(text)
}

fn iso(text: &str) -> Option<i64> {
    let (date, clock) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim_ascii())),
        None => (text, None),
    };
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let (year, month, day) = (digits(year, 4)?, digits(month, 2)?, digits(day, 2)?);
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_since_1970(year, month, day) * 86_400;
    Some(midnight + clock.map_or(Some(0), time_of_day)?)
}

/// `12:30`, `12:30:05`, `12:30:05.25`, each with nothing, `Z`, `+02:00`, `+0200` or `+02` behind it.
fn time_of_day(text: &str) -> Option<i64> {
    let (clock, zone) = match text.find(['Z', 'z', '+', '-']) {
        Some(at) => (text[..at].trim_ascii(), &text[at..]),
        None => (text, "Z"),
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = parts.next().map_or(Some(0), |s| digits(s, 2))?;
    let good = hour < 24 && minute < 60 && second <= 60 && fraction.bytes().all(|b| b.is_ascii_digit());
    good.then_some(hour * 3600 + minute * 60 + second - offset(zone)?)
}

fn offset(zone: &str) -> Option<i64> {
    let sign = match zone {
        "Z" | "z" => return Some(0),
        _ if zone.starts_with('-') => -1,
        _ => 1,
    };
    let zone = zone.get(1..)?.replace(':', "");
    let (hours, minutes) = zone.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
    Some(sign * (digits(hours, 2)? * 3600 + minutes * 60))
}

fn digits(text: &str, count: usize) -> Option<i64> {
    let good = text.len() == count && text.bytes().all(|b| b.is_ascii_digit());
    good.then(|| text.parse().ok()).flatten()
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts from the first of March of year 0, so that the leap day is the last of its year; months then have a
/// regular pattern of 153 days in five.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    const MARCH_0_TO_1970: i64 = 719_468;
    year * 365 + leap_days + (153 * month + 2) / 5 + day - 1 - MARCH_0_TO_1970
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
            ("2000-02-29", 951_782_400),
            ("2024-05-01", 1_714_521_600),
            ("2024-05-01T12:30:00Z", 1_714_566_600),
            ("2024-05-01 12:30:00", 1_714_566_600),
            ("2024-05-01 12:30", 1_714_566_600),
            ("2024-05-01T12:30:00.123+02:00", 1_714_559_400),
            ("2024-05-01T12:30:00-0130", 1_714_572_000),
            ("2024-05-01 12:30:00 +02", 1_714_559_400),
        ] {
            assert_eq!(parse_time(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
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

    #[test]
    fn days_are_counted_without_gap() {
        let mut expected = days_since_1970(1899, 12, 31);
        for year in 1900..2101 {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    expected += 1;
                    assert_eq!(days_since_1970(year, month, day), expected, "{year}-{month}-{day}");
                }
            }
        }
        assert_eq!(days_since_1970(1970, 1, 1), 0);
    }
}
