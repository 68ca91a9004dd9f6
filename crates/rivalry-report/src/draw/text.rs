//! The width of text, estimated without a font.
//!
//! The reader's own font draws the text, so a layout can only leave enough room. The widths below are the largest among
//! common sans-serif fonts (DejaVu Sans, Liberation Sans, Open Sans).

/// The font size of all text in figures.
pub(super) const FONT_SIZE: f64 = 13.0;

/// The estimated width of a label.
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * FONT_SIZE
}

/// The advance width of a character, in multiples of the font size.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | 'I' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '/' | '\\' | '·' => 0.35,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '!' | '"' | '*' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '0'..='9' | '–' | '_' | '?' => 0.64,
        c if c.is_lowercase() => 0.64,
        'A'..='Z' => 0.76,
        // CJK, emoji and other full-width characters.
        '\u{2e80}'.. => 1.0,
        _ => 0.84,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_are_wider_than_narrow_ones() {
        assert!(text_width("ii") < text_width("nn") && text_width("nn") < text_width("本本"));
        assert_eq!(text_width(""), 0.0);
    }

    #[test]
    fn estimates_cover_the_widths_of_a_wide_font() {
        // Widths in DejaVu Sans at this size.
        let labels = [
            ("NDCG@20, test", 101.7),
            ("0.1234", 45.5),
            ("−0.05", 39.8),
            ("amazon2014-health", 130.5),
            ("loss.kappa_tau", 97.0),
            ("share of the gradient, %, by rank", 215.4),
            ("τ 0.1234", 57.4),
            ("+11.7 %", 56.3),
        ];
        for (label, width) in labels {
            let estimate = text_width(label);
            assert!((width..=1.15 * width).contains(&estimate), "{label}: {estimate} for {width}");
        }
    }
}
