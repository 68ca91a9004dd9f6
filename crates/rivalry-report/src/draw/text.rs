//! The font that text is measured with everywhere, and drawn with in PNGs.
//!
//! It is part of the program: a picture must not depend on the fonts of the machine it is made on.

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId};

/// Open Sans, cut down to Latin, Greek and Cyrillic letters and the signs that figures use.
static FONT: &[u8] = include_bytes!("../../font/OpenSans-Subset.ttf");

static FACE: LazyLock<Face<'static>> =
    LazyLock::new(|| Face::parse(FONT, 0).expect("the embedded font is tested"));

/// The font.
pub(super) fn face() -> &'static Face<'static> {
    &FACE
}

/// Each letter's glyph and where it begins, for a font of this size. What the font lacks is shown as a box.
pub(super) fn glyphs(text: &str, size: f64) -> (Vec<(GlyphId, f64)>, f64) {
    let face = face();
    let scale = size / f64::from(face.units_per_em());
    let mut x = 0.0;
    let placed = text.chars().map(|letter| {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        let place = (glyph, x);
        x += f64::from(face.glyph_hor_advance(glyph).unwrap_or_default()) * scale;
        place
    });
    let placed = placed.collect();
    (placed, x)
}

/// How wide a label is. The reader's own font may be a little wider than ours.
pub(crate) fn width(text: &str) -> f64 {
    glyphs(text, 13.0).1 * 1.06
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_sign_that_figures_use() {
        for letter in "azAZ09 äßñ.,:;%±−–…·×@()[]<>=≤≥/κτραβλσ½'\"“”_+*#&".chars()
        {
            assert!(face().glyph_index(letter).is_some(), "'{letter}'");
        }
    }

    #[test]
    fn a_longer_text_is_wider() {
        assert!(width("ii") < width("mm") && width("") == 0.0);
        assert!((60.0..120.0).contains(&width("NDCG@20, test")));
    }
}
