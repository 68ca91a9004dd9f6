//! The letters that text is measured with everywhere, and drawn with in PNGs.
//!
//! They are part of the program: a picture must not depend on the fonts of the machine it is made on.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Open Sans: Latin, Greek and Cyrillic letters and the signs that figures use.
static GLYPHS: &str = include_str!("../../font/glyphs.txt");

static FONT: LazyLock<Font> = LazyLock::new(|| Font::parse(GLYPHS).expect("the embedded letters are tested"));

struct Font {
    /// The size that the numbers of the outlines are for.
    em: f64,
    glyphs: HashMap<char, Glyph>,
}

/// A letter.
struct Glyph {
    width: f64,
    outline: Vec<Part>,
}

/// A part of an outline. Letters stand on y = 0, and y goes up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Move([f64; 2]),
    Line([f64; 2]),
    Curve([f64; 4]),
    Close,
}

impl Font {
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let em = lines.next()?.strip_prefix("em ")?.parse().ok()?;
        let glyph = |line: &str| {
            let mut words = line.split(' ');
            let letter = char::from_u32(u32::from_str_radix(words.next()?, 16).ok()?)?;
            let width = words.next()?.parse().ok()?;
            Some((letter, Glyph { width, outline: outline(words)? }))
        };
        Some(Self { em, glyphs: lines.map(glyph).collect::<Option<_>>()? })
    }

    /// The letter; what the font lacks is a box.
    fn glyph(&self, letter: char) -> Option<&Glyph> {
        self.glyphs.get(&letter).or_else(|| self.glyphs.get(&'\0'))
    }
}

fn outline<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    while let Some(command) = words.next() {
        let mut number = || words.next()?.parse::<f64>().ok();
        parts.push(match command {
            "M" => Part::Move([number()?, number()?]),
            "L" => Part::Line([number()?, number()?]),
            "Q" => Part::Curve([number()?, number()?, number()?, number()?]),
            "Z" => Part::Close,
            _ => return None,
        });
    }
    Some(parts)
}

/// Every letter's outline with the place it begins at, the scale for a font of this size, and the width of all.
pub(super) fn outlines(text: &str, size: f64) -> (Vec<(&'static [Part], f64)>, f64, f64) {
    let scale = size / FONT.em;
    let mut x = 0.0;
    let placed = text.chars().filter_map(|letter| FONT.glyph(letter)).map(|glyph| {
        let begin = x;
        x += glyph.width * scale;
        (&*glyph.outline, begin)
    });
    let placed = placed.collect();
    (placed, scale, x)
}

/// How wide a label may be: the reader's own font can be wider than ours by a sixth.
pub(crate) fn width(text: &str) -> f64 {
    outlines(text, 13.0).2 * 1.17
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_that_figures_use_is_there() {
        for letter in "azAZ09 äßñ.,:;%±−–…·×@()[]<>=≤≥/κτραβλσ½'\"“”_+*#&\0".chars()
        {
            assert!(FONT.glyphs.contains_key(&letter), "'{letter}'");
        }
    }

    #[test]
    fn a_longer_text_is_wider_and_an_unknown_letter_takes_room() {
        assert!(width("ii") < width("mm") && width("") == 0.0);
        assert!((80.0..130.0).contains(&width("NDCG@20, test")));
        assert!(width("本") > 3.0);
    }

    #[test]
    fn outlines_are_read_part_by_part() {
        let parts = outline("M 0 1 L 2 3 Q 4 5 6 7 Z".split(' ')).unwrap();
        let expected =
            [Part::Move([0.0, 1.0]), Part::Line([2.0, 3.0]), Part::Curve([4.0, 5.0, 6.0, 7.0]), Part::Close];
        assert_eq!(parts, expected);
        assert!(outline("M 0".split(' ')).is_none() && outline("X 0 0".split(' ')).is_none());
    }
}
