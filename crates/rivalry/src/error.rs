//! One error type for the library. An error is part of the product: it says where, what and what to do.

use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something the user gave (a file, a value, a name) can't be used as it is.
    #[error(transparent)]
    Input(#[from] Box<InputError>),
    /// The operating system refused a file operation.
    #[error("{}: can't {action}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `create`…
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
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
    /// A model scores some item with NaN, so there is no best item to rank first.
    #[error("the model gives user {user} (dense id) a score that is not a number")]
    NanScore {
        /// The user's dense id.
        user: u32,
    },
    /// Something that was computed twice did not come out the same.
    #[error("not verified: {what}")]
    Unverified {
        /// What differs.
        what: String,
    },
    /// A file could not be fetched.
    #[error("can't download {url}: {reason}")]
    Download {
        /// Where from.
        url: String,
        /// What failed.
        reason: String,
    },
}

/// A fault in what the user gave: where it is, what is wrong and a way out.
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
    /// A fault described by `message`; add the place and the way out with the other methods.
    pub fn new(message: impl Into<String>) -> Self {
        Self { file: None, line: None, field: None, message: message.into(), help: None, damage: false }
    }

    /// The file at fault.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.file = Some(path.as_ref().to_owned());
        self
    }

    /// The line at fault, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The column, key or option at fault.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The file is not whole, or no longer what was written.
    #[must_use]
    pub fn damage(mut self) -> Self {
        self.damage = true;
        self
    }

    /// What the user can do about it.
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
    /// Wraps what the system said about `path`. A file that isn't there is the user's to mend; the rest is not.
    pub fn io(action: &'static str, path: impl AsRef<Path>, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::NotFound {
            return InputError::new(format!("can't {action}: no such file or folder")).file(path).into();
        }
        Self::Io { action, path: path.as_ref().to_owned(), source }
    }

    /// Whether a file of ours is damaged, and that is all.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Input(error) if error.damage)
    }

    /// The process exit code: 2 when the user can mend it by giving something else, 1 for failures at run time.
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

/// Of `known`, the name most like `given`, if any is alike enough to be worth suggesting.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    known
        .into_iter()
        .map(|name| (strsim::normalized_damerau_levenshtein(&given, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness > 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The error for a name that is not on a list, with the nearest name that is.
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
    fn an_input_error_says_where_what_and_what_to_do() {
        let error = InputError::new("not a number").file("a.csv").line(3).field("rating").help("write 4.5");
        assert_eq!(error.to_string(), "a.csv:3: rating: not a number\n  help: write 4.5");
        assert_eq!(Error::from(error).exit_code(), 2);
    }

    #[test]
    fn a_typo_finds_the_name_it_meant() {
        assert_eq!(did_you_mean("dls", ["sl", "dsl", "bpr"]), Some("dsl"));
        assert_eq!(did_you_mean("gowala", ["gowalla", "amazon2014-health"]), Some("gowalla"));
        assert_eq!(did_you_mean("zzz", ["sl", "dsl"]), None);
    }
}
