//! The places that state the version agree.

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
