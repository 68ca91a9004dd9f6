//! The places that state a version agree.

use std::path::Path;

#[test]
fn the_version_is_the_same_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")), "CITATION.cff");
    assert!(read("CHANGELOG.md").contains(&format!("\n## {version} (")), "CHANGELOG.md");
    assert!(
        read("crates/rivalry-serve/openapi.json").contains(&format!("\"version\": \"{version}\"")),
        "openapi.json"
    );
    let manifest = read("Cargo.toml");
    for line in manifest.lines().filter(|line| line.contains("path = \"crates/")) {
        assert!(line.contains(&format!("version = \"{version}\"")), "{line}");
    }
}

#[test]
fn badges_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (readme, manifest, python) = (read("README.md"), read("Cargo.toml"), read("pyproject.toml"));
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_else(|| panic!("no {key}"));
        line.trim_matches(['=', ' ', '"', '>']).to_owned()
    };
    let expected = [
        format!("rust-{}%2B", value(&manifest, "rust-version")),
        format!("python-{}%2B", value(&python, "requires-python")),
        format!("license-{}-", value(&manifest, "license").replace(" OR ", "%20or%20").replace('-', "--")),
    ];
    for badge in expected {
        assert!(readme.contains(&badge), "README.md has no badge {badge}");
    }
}
