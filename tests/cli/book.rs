//! The pages of the book do what they say: the blocks marked `<!-- run -->` are run in order, each page in a folder of its
//! own, and what they print is compared with the block marked `<!-- output -->` that follows. `…` stands for any text within a
//! line, and a line with nothing else for any lines; the last digit of a decimal may be off by two, because not all machines
//! round alike. A picture of the book that a page writes into its folder `figures` is the one that the book shows;
//! RIVALRY_WRITE_DOCS=1 replaces it. Every relative link of a page leads to a file that exists.

use std::path::{Path, PathBuf};
use std::process::Command;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

/// All pages, with their paths below the book's folder.
fn pages() -> Vec<(PathBuf, String)> {
    let mut pages = Vec::new();
    let mut folders = vec![source()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).unwrap();
                pages.push((path.strip_prefix(source()).unwrap().to_owned(), text));
            }
        }
    }
    pages.sort();
    pages
}

/// A command of a page, and what it should print.
#[derive(Debug, PartialEq)]
struct Step {
    script: String,
    output: Option<String>,
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let is_output = match line {
            "<!-- run -->" => false,
            "<!-- output -->" => true,
            _ => continue,
        };
        assert!(lines.next().is_some_and(|line| line.starts_with("```")), "no block after {line}");
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        match steps.last_mut() {
            Some(step) if is_output => step.output = Some(block),
            _ => steps.push(Step { script: block, output: None }),
        }
    }
    steps
}

/// Whether a text is what a pattern with `…` describes.
fn matches(pattern: &[&str], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((&"…", rest)) => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines.split_first().is_some_and(|(line, others)| {
            line_matches(first.trim_end(), line.trim_end()) && matches(rest, others)
        }),
    }
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let Some((before, after)) = pattern.split_once('…') else {
        let (words, found): (Vec<&str>, Vec<&str>) =
            (pattern.split_whitespace().collect(), line.split_whitespace().collect());
        return words.len() == found.len()
            && words.iter().zip(found).all(|(word, found)| word_matches(word, found));
    };
    let Some(rest) = line.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| line_matches(after, &rest[at..]))
}

fn word_matches(word: &str, found: &str) -> bool {
    let number = |word: &str| {
        let digits = word.trim_matches(|c: char| !c.is_ascii_digit() && c != '-').to_owned();
        let decimals = digits.split_once('.')?.1.len() as i32;
        Some((digits.parse::<f64>().ok()?, decimals))
    };
    match (number(word), number(found)) {
        (Some((a, decimals)), Some((b, others))) if decimals == others => {
            (a - b).abs() < 2.5 * 0.1f64.powi(decimals)
        }
        _ => word == found,
    }
}

/// Whether this machine trains the bits that the pages show: without fused multiply-add they differ.
#[cfg(target_arch = "x86_64")]
fn has_the_bits_of_the_pages() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_the_bits_of_the_pages() -> bool {
    false
}

fn run_page(name: &Path, page: &str) {
    let folder = tempfile::tempdir().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_rivalry")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [binary.to_owned()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    for Step { script, output } in steps(page) {
        let done = Command::new("bash")
            .args(["-euc", &script])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .env_remove("RIVALRY_DATA")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{}: {script}\n{said}", name.display());
        let printed = String::from_utf8_lossy(&done.stdout);
        if let Some(output) = output.filter(|_| has_the_bits_of_the_pages()) {
            let (expected, found): (Vec<&str>, Vec<&str>) =
                (output.trim_end().lines().collect(), printed.trim_end().lines().collect());
            assert!(
                matches(&expected, &found),
                "{}: {script}\nprints\n{printed}\nand the page says\n{output}",
                name.display()
            );
        }
    }
    if has_the_bits_of_the_pages() {
        compare_pictures(&folder.path().join("figures"));
    }
}

fn compare_pictures(made: &Path) {
    for entry in std::fs::read_dir(source().join("images")).unwrap() {
        let shown = entry.unwrap().path();
        let Ok(picture) = std::fs::read(made.join(shown.file_name().unwrap())) else { continue };
        if std::env::var_os("RIVALRY_WRITE_DOCS").is_some() {
            std::fs::write(&shown, picture).unwrap();
        } else {
            let same = std::fs::read(&shown).unwrap() == picture;
            assert!(same, "{} is out of date: run this test with RIVALRY_WRITE_DOCS=1", shown.display());
        }
    }
}

#[test]
fn the_commands_of_the_pages_run_and_print_what_the_pages_say() {
    let pages: Vec<_> = pages().into_iter().filter(|(_, page)| !steps(page).is_empty()).collect();
    assert!(pages.len() >= 4, "few pages have commands to run");
    std::thread::scope(|scope| {
        for (name, page) in &pages {
            scope.spawn(move || run_page(name, page));
        }
    });
}

#[test]
fn every_page_is_in_the_summary_and_every_link_of_a_page_leads_somewhere() {
    let summary = std::fs::read_to_string(source().join("SUMMARY.md")).unwrap();
    let mut broken = Vec::new();
    for (name, page) in pages() {
        let listed = summary.contains(&format!("]({})", name.display().to_string().replace('\\', "/")));
        if !listed && name != Path::new("SUMMARY.md") {
            broken.push(format!("{} is not in SUMMARY.md", name.display()));
        }
        let folder = source().join(&name).parent().unwrap().to_owned();
        for link in links(&page) {
            let (file, section) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { source().join(&name) } else { folder.join(file) };
            let text = std::fs::read_to_string(&target).unwrap_or_default();
            if text.is_empty() || !section.is_empty() && !anchors(&text).any(|anchor| anchor == section) {
                broken.push(format!("{}: {link}", name.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// The relative links of a page, outside of code.
fn links(page: &str) -> Vec<&str> {
    let prose = page.split("```").step_by(2);
    let targets = prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    targets.filter(|link| !link.contains("://") && !link.contains(' ')).collect()
}

/// The anchors of the headings of a page, as mdBook makes them.
fn anchors(page: &str) -> impl Iterator<Item = String> + '_ {
    page.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn a_pattern_matches_what_it_describes_and_nothing_else() {
    let matches = |pattern: &str, text: &str| {
        matches(&pattern.lines().collect::<Vec<_>>(), &text.lines().collect::<Vec<_>>())
    };
    assert!(matches("a\nb … d\n…\nz", "a\nb c d\nx\ny\nz"));
    assert!(matches("…", ""));
    for text in ["a\nb c\nz", "a\nb c d\n", "b c d\nz"] {
        assert!(!matches("a\nb … d\n…\nz", text), "{text}");
    }
    assert!(matches(" ease  0.2652 [+0.0022]", " ease 0.2653   [+0.0021]"));
    for text in [" ease  0.2662 [+0.0022]", " knn  0.2652 [+0.0022]", " ease  0.2652"] {
        assert!(!matches(" ease  0.2652 [+0.0022]", text), "{text}");
    }
    let page = "x\n<!-- run -->\n```sh\na\n```\n<!-- output -->\n```text\nb\n```\n";
    assert_eq!(steps(page), [Step { script: "a".to_owned(), output: Some("b".to_owned()) }]);
}
