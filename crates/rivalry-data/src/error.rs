//! The error type of the workspace. Errors are written for the user: where the problem is, what it is, what to do.

mod settings;

use std::path::{Path, PathBuf};

pub use settings::SettingMention;

/// A result whose error is [`Error`] unless stated otherwise.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong in the `rivalry` crates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user's input (a file, a value, a name) is invalid.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// A file operation failed.
    #[error("{}: can't {action}: {source}", path.display())]
    Io {
        /// The operation: `read`, `write`, `create`…
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// Training produced a number that is not finite.
    #[error("the {what} became non-finite in epoch {epoch}, batch {batch}")]
    NonFinite {
        /// The quantity: loss, score, gradient.
        what: &'static str,
        /// The epoch, counted from 1.
        epoch: usize,
        /// The batch within the epoch, counted from 1.
        batch: usize,
    },
    /// A model scores some item with NaN, so the items can't be ranked.
    #[error("the model gives user {user} (dense id) a score that is not a number")]
    NanScore {
        /// The user's dense id.
        user: u32,
    },
    /// A recomputation gave a different result.
    #[error("not verified: {what}")]
    Unverified {
        /// What differs.
        what: String,
    },
    /// A download failed.
    #[error("can't download {url}: {reason}")]
    Download {
        /// The address.
        url: String,
        /// Why it failed.
        reason: String,
    },
}

/// Invalid input: where it is, what is wrong with it, and what the user can do.
///
/// Displayed as `FILE:LINE: FIELD: MESSAGE`, followed by a `help:` line; parts that were not given are left out.
#[derive(Debug)]
pub struct InputError {
    file: Option<PathBuf>,
    line: Option<u64>,
    field: Option<String>,
    message: String,
    help: Option<String>,
    damage: bool,
}

impl InputError {
    /// An error with this message; the other methods add the location and the help.
    pub fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, field: None, message: message.into(), help: None, damage: false }
    }

    /// For inputs that need a cargo feature which this build lacks. `action` completes "this build can't …".
    #[cfg(not(all(feature = "archives", feature = "download", feature = "parquet")))]
    pub(crate) fn missing_feature(action: &str, feature: &str) -> Self {
        Self::new(format!("this build can't {action}: it was built without the feature `{feature}`"))
    }

    /// Sets the file.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.file = Some(path.as_ref().to_owned());
        self
    }

    /// Sets the line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Sets the column, or the config key of a setting.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Marks the file as damaged: truncated, or changed since it was written. See [`Error::is_damage`].
    #[must_use]
    pub fn damage(mut self) -> Self {
        self.damage = true;
        self
    }

    /// The field and the message, without the location and the help.
    pub(crate) fn reason(&self) -> String {
        match &self.field {
            Some(field) => format!("{field}: {}", self.message),
            None => self.message.clone(),
        }
    }

    /// Sets what the user can do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
            f.write_str(": ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Error {
    /// Wraps an operating system error about `path`. A missing file counts as invalid input, everything else as
    /// [`Error::Io`].
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::NotFound {
            return InputError::new(format!("can't {action}: no such file or folder")).file(path).into();
        }
        Self::Io { action, path: path.as_ref().to_owned(), source }
    }

    /// Whether the cause is a damaged file, marked with [`InputError::damage`], which can be regenerated.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Input(error) if error.damage)
    }

    /// The process exit code: 2 for invalid input, 1 for failures at run time.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Io { .. }
            | Self::NonFinite { .. }
            | Self::NanScore { .. }
            | Self::Unverified { .. }
            | Self::Download { .. } => 1,
        }
    }
}

/// The name in `known` most similar to `given`, if any is similar enough to suggest.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&given, &name.to_lowercase()), name))
        .filter(|(similarity, _)| *similarity > 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The error for a name that is not in `known`, with the most similar name as a suggestion.
pub fn unknown_name<'a>(kind: &str, given: &str, known: impl IntoIterator<Item = &'a str>) -> InputError {
    let known: Vec<&str> = known.into_iter().collect();
    let all = known.join(", ");
    let help = match did_you_mean(given, known) {
        Some(name) => format!("did you mean '{name}'? Known: {all}"),
        None => format!("known: {all}"),
    };
    InputError::new(format!("unknown {kind} '{given}'")).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_error_states_location_problem_and_help() {
        let error = InputError::new("not a number").file("a.csv").line(3).field("rating").help("write 4.5");
        assert_eq!(error.to_string(), "a.csv:3: rating: not a number\n  help: write 4.5");
        assert_eq!(Error::from(error).exit_code(), 2);
    }

    #[test]
    fn damage_is_told_from_other_invalid_input() {
        assert!(Error::from(InputError::new("truncated").damage()).is_damage());
        assert!(!Error::from(InputError::new("unknown key")).is_damage());
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_name() {
        assert_eq!(did_you_mean("dls", ["sl", "dsl", "bpr"]), Some("dsl"));
        assert_eq!(did_you_mean("gowala", ["gowalla", "amazon2014-health"]), Some("gowalla"));
        assert_eq!(did_you_mean("zzz", ["sl", "dsl"]), None);
    }
}
