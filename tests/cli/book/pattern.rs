//! Patterns that describe what a command prints: `…` stands for any text within a line, and a line with nothing else for any
//! lines; the last digit of a decimal may be off by two, because not all machines round alike.

/// Whether a text is what a pattern with `…` describes.
pub fn matches(pattern: &[&str], lines: &[&str]) -> bool {
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
}
