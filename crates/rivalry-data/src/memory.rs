//! Memory limits: work that would need more memory than allowed is refused before anything is allocated.

use crate::{InputError, Result};

/// How much memory an operation may use. The default is whatever the machine (or its container) has free at the moment
/// of the check.
///
/// ```
/// use rivalry_data::memory::MemoryLimit;
/// let limit = MemoryLimit::bytes(1 << 30);
/// assert!(limit.require(1 << 20, "reading the file").is_ok());
/// assert!(limit.require(2 << 30, "reading the file").is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryLimit(Option<u64>);

impl MemoryLimit {
    /// A fixed limit.
    pub fn bytes(bytes: u64) -> Self {
        Self(Some(bytes))
    }

    /// The limit in bytes: the fixed one, otherwise the memory that is free now. `None` if the system doesn't say.
    pub fn get(self) -> Option<u64> {
        self.0.or_else(free)
    }

    /// Checks that `bytes` fit. `what` is the subject of the error message, such as "training DSL".
    ///
    /// # Errors
    /// If `bytes` exceed the limit; the message states both sizes.
    pub fn require(self, bytes: u64, what: &str) -> Result<(), InputError> {
        match self.get() {
            Some(limit) if bytes > limit => {
                let (needed, limit) = (size(bytes), size(limit));
                let message =
                    format!("{what} needs about {needed} of memory, but only {limit} are available");
                Err(InputError::new(message))
            }
            _ => Ok(()),
        }
    }
}

/// Formats a number of bytes: `3.8 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")];
    let unit = UNITS.into_iter().find(|(unit, _)| bytes >= *unit);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit as f64),
    )
}

/// Parses a size such as `4G`, `1.5 GB` or `800M` (powers of 1024) into bytes.
pub fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let bare = text.strip_suffix("ib").or_else(|| text.strip_suffix('b')).unwrap_or(&text);
    let units = [('k', 10), ('m', 20), ('g', 30), ('t', 40)];
    let unit = units.iter().find_map(|&(letter, power)| Some((bare.strip_suffix(letter)?, power)));
    let (number, power) = unit.unwrap_or((bare, 0));
    let bytes = number.trim().parse::<f64>().ok()? * f64::from(1 << 10).powi(power / 10);
    (bytes >= 1.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

/// Free memory of the machine or of its container, whichever is less.
fn free() -> Option<u64> {
    let number = |path: &str| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| available(&text));
    let groups = [
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ];
    let container =
        groups.iter().find_map(|(limit, used)| Some(number(limit)?.saturating_sub(number(used)?)));
    machine.into_iter().chain(container).min()
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_and_without_units() {
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
    fn exceeding_the_limit_is_an_error_with_both_sizes() {
        let limit = MemoryLimit::bytes(2 << 30);
        let error = limit.require(6 << 30, "training").unwrap_err().to_string();
        assert_eq!(error, "training needs about 6.0 GB of memory, but only 2.0 GB are available");
        assert!(limit.require(2 << 30, "training").is_ok());
        assert!(MemoryLimit::default().require(1, "a byte").is_ok());
    }

    #[test]
    fn meminfo_is_parsed() {
        let text = "MemTotal:       24576000 kB\nMemFree:  1 kB\nMemAvailable:   2048 kB\n";
        assert_eq!(available(text), Some(2 << 20));
        assert_eq!(available("nothing of the kind"), None);
    }
}
