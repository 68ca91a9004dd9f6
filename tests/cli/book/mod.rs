//! The pages of the book do what they say: the blocks marked `<!-- run -->` are run in order, each page in a folder of its
//! own, and what they print is compared with the block marked `<!-- output -->` that follows (`pattern`). A block marked
//! `<!-- serve -->` is a server that goes on in the background until the next one or the end of the page; it listens on a free
//! port, which the blocks after it have in the place of the usual one. A picture of the book that a page writes into its
//! folder `figures` is the one that the book shows; RIVALRY_WRITE_DOCS=1 replaces it. Every relative link of a page leads to a
//! file that exists.

mod pattern;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::serve::Running;
use pattern::matches;

/// Where a server listens by default.
const USUAL_ADDRESS: &str = "127.0.0.1:7878";

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

/// Commands of a page, and what they should print.
#[derive(Debug, PartialEq)]
struct Step {
    script: String,
    /// Whether it is a server, to be left running.
    serves: bool,
    output: Option<String>,
}

fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if !["<!-- run -->", "<!-- serve -->", "<!-- output -->"].contains(&line) {
            continue;
        }
        assert!(lines.next().is_some_and(|line| line.starts_with("```")), "no block after {line}");
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let block = block.join("\n");
        match steps.last_mut() {
            Some(step) if line == "<!-- output -->" => step.output = Some(block),
            _ => steps.push(Step { script: block, serves: line == "<!-- serve -->", output: None }),
        }
    }
    steps
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
    let mut server: Option<Running> = None;
    for Step { mut script, serves, output } in steps(page) {
        if serves {
            // The one before ends first: a feedback log belongs to one server.
            drop(server.take());
            let args = script.strip_prefix("rivalry serve ").expect("a block of one command, rivalry serve");
            server = Some(Running::start(folder.path(), &args.split_whitespace().collect::<Vec<_>>()));
            continue;
        }
        if let Some(server) = &server {
            script = script.replace(USUAL_ADDRESS, &server.address);
        }
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
fn the_steps_of_a_page_are_its_marked_blocks() {
    let page = "x\n<!-- run -->\n```sh\na\n```\n<!-- output -->\n```text\nb\n```\n```sh\nc\n```\n<!-- serve -->\n```sh\nd\n```\n";
    let step = |script: &str, serves, output: Option<&str>| Step {
        script: script.to_owned(),
        serves,
        output: output.map(str::to_owned),
    };
    assert_eq!(steps(page), [step("a", false, Some("b")), step("d", true, None)]);
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
