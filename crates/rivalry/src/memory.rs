//! How much memory there may be, and the refusal of what would not fit: before it is allocated, with both figures.
//!
//! The limit belongs to the process, like the memory itself. Without one, it is what the machine (or its container)
//! has free at the moment of the question.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{InputError, Result};

/// The limit that was set; 0 for none.
static LIMIT: AtomicU64 = AtomicU64::new(0);

/// From now on nothing that is estimated to need more than so many bytes is begun.
pub fn set_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit that was set, or else what is free, if the system tells.
pub fn limit() -> Option<u64> {
    match LIMIT.load(Ordering::Relaxed) {
        0 => free(),
        limit => Some(limit),
    }
}

/// Refuses what needs more memory than there may be. `what` is a sentence without its end: "training DSL".
///
/// # Errors
/// If `bytes` exceed the [`limit`].
pub fn require(bytes: u64, what: &str) -> Result<(), InputError> {
    match limit() {
        Some(limit) if bytes > limit => Err(refusal(bytes, limit, what)),
        _ => Ok(()),
    }
}

fn refusal(bytes: u64, limit: u64, what: &str) -> InputError {
    let [needed, limit] = [bytes, limit].map(size);
    InputError::new(format!("{what} needs about {needed} of memory, and there are {limit}"))
}

/// A number of bytes for people: `3.8 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit as f64),
    )
}

/// The number of bytes that a text such as `4G`, `1.5 GB` or `800M` stands for.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let bare = text.strip_suffix("ib").or_else(|| text.strip_suffix('b')).unwrap_or(&text);
    let units = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let unit = units.iter().find_map(|&(letter, power)| Some((bare.strip_suffix(letter)?, power)));
    let (number, power) = unit.unwrap_or((bare, 0));
    let bytes = number.trim().parse::<f64>().ok()? * f64::from(1 << 10).powi(power / 10);
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// What the machine has free, or what its container may still take, whichever is less.
fn free() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let groups = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    let container = groups.iter().find_map(|(most, used)| Some(number(most)?.saturating_sub(number(used)?)));
    machine.into_iter().chain(container).min()
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("4G", 4 << 30),
            ("1.5 GB", 3 << 29),
            ("800M", 800 << 20),
            ("2gib", 2 << 30),
            ("64k", 65536),
            ("12", 12),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for wrong in ["", "G", "-1G", "0", "much", "1e99T", "nan", "4 X"] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
        assert_eq!((size(3 << 29), size(12)), ("1.5 GB".to_owned(), "12 bytes".to_owned()));
    }

    #[test]
    fn a_refusal_names_both_figures() {
        let error = refusal(6 << 30, 2 << 30, "training").to_string();
        assert_eq!(error, "training needs about 6.0 GB of memory, and there are 2.0 GB");
        assert!(require(1, "a byte").is_ok());
    }

    #[test]
    fn what_the_system_says_is_understood() {
        let text = "MemTotal:       24576000 kB\nMemFree:  1 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(available(text), Some(2 << 20));
        assert_eq!(available("nothing of the kind"), None);
    }
}
