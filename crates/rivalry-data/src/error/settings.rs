//! Settings in error messages, named as the user gave them.
//!
//! An error names a setting by its config key: as its field (several are separated by commas), or in backticks in its
//! message and help, alone (`` `data.read.item` ``) or with a value (`` `data.prepare.split.type = "random"` ``). A program
//! whose users give settings in another way, as flags or arguments, renames them with [`Error::rename_settings`].

use super::{Error, InputError};

/// A setting that an error mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingMention<'a> {
    /// The config key, such as `data.read.item`.
    pub key: &'a str,
    /// The value that the error suggests, without the quotes of a TOML string.
    pub value: Option<&'a str>,
}

impl<'a> SettingMention<'a> {
    /// Parses `KEY` or `KEY = VALUE`.
    fn parse(text: &'a str) -> Self {
        match text.split_once(" = ") {
            Some((key, value)) => Self { key, value: Some(value.trim_matches('"')) },
            None => Self { key: text, value: None },
        }
    }
}

impl Error {
    /// The same error with its settings renamed. `name` returns what to write in place of a setting, or `None` to leave
    /// it as it is; it is also asked about fields that are no settings.
    #[must_use]
    pub fn rename_settings(self, name: &dyn Fn(SettingMention<'_>) -> Option<String>) -> Self {
        match self {
            Self::Input(error) => Self::Input(Box::new(error.rename_settings(name))),
            other => other,
        }
    }
}

impl InputError {
    fn rename_settings(self, name: &dyn Fn(SettingMention<'_>) -> Option<String>) -> Self {
        let renamed = |key: &str| name(SettingMention::parse(key)).unwrap_or_else(|| key.to_owned());
        let field = self.field.map(|field| field.split(", ").map(renamed).collect::<Vec<_>>().join(", "));
        let help = self.help.map(|help| rename_quoted(&help, name));
        Self { message: rename_quoted(&self.message, name), field, help, ..self }
    }
}

/// Replaces every setting in backticks.
fn rename_quoted(text: &str, name: &dyn Fn(SettingMention<'_>) -> Option<String>) -> String {
    let mut renamed = String::with_capacity(text.len());
    for (n, piece) in text.split('`').enumerate() {
        if n % 2 == 0 {
            renamed.push_str(piece);
            continue;
        }
        match name(SettingMention::parse(piece)) {
            Some(given) => renamed.push_str(&given),
            None => renamed.extend(["`", piece, "`"]),
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(setting: SettingMention<'_>) -> Option<String> {
        let flag = match setting.key {
            "data.read.item" => "--item-col",
            "data.prepare.split.type" => "--split",
            _ => return None,
        };
        Some(setting.value.map_or_else(|| flag.to_owned(), |value| format!("{flag} {value}")))
    }

    #[test]
    fn settings_are_renamed_in_field_message_and_help() {
        let error = InputError::new("`data.read.item` is `thing`")
            .field("data.read.item, data.read.user")
            .help("set `data.prepare.split.type = \"random\"`, or data.read.item");
        assert_eq!(
            Error::from(error).rename_settings(&flag).to_string(),
            "--item-col, data.read.user: --item-col is `thing`\n  help: set --split random, or data.read.item"
        );
    }

    #[test]
    fn other_fields_and_other_errors_stay() {
        let error = Error::from(InputError::new("not a number").file("a.csv").line(3).field("rating"));
        assert_eq!(error.rename_settings(&flag).to_string(), "a.csv:3: rating: not a number");
        let error = Error::Unverified { what: "`data.read.item`".into() };
        assert_eq!(error.rename_settings(&flag).to_string(), "not verified: `data.read.item`");
    }
}
