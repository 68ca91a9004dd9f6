//! Shell quoting of paths.

use std::path::Path;

/// The path, quoted for a shell if necessary.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/\\._-+@:~,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(quoted(Path::new("runs/log-mf-sl@k-1")), "runs/log-mf-sl@k-1");
        assert_eq!(quoted(Path::new("my runs/it's $1")), r"'my runs/it'\''s $1'");
    }
}
