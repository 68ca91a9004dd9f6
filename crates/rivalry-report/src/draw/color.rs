//! The colours of figures, each in a light and a dark variant.
//!
//! The series colours differ in lightness as well as in hue, so that they can be told apart with a colour vision
//! deficiency; markers and dash patterns repeat the distinction.

use std::fmt::{Display, Formatter, Write};

/// What a colour is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorRole {
    /// Labels.
    Text,
    /// Secondary labels, axes and context lines.
    Muted,
    /// Grid lines.
    Grid,
    /// The background.
    Background,
    /// The series with this index.
    Series(usize),
    /// The same colour in both variants, for the cells of a heat map.
    Fixed(Rgb),
}

/// A colour by its three channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub u8, pub u8, pub u8);

impl Display for Rgb {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self(red, green, blue) = self;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// A colour on a light and on a dark background.
#[derive(Clone, Copy)]
struct Variants {
    light: Rgb,
    dark: Rgb,
}

const fn variants(light: u32, dark: u32) -> Variants {
    Variants { light: rgb(light), dark: rgb(dark) }
}

/// A colour from its hexadecimal form, `0xrrggbb`.
const fn rgb(hex: u32) -> Rgb {
    let [_, red, green, blue] = hex.to_be_bytes();
    Rgb(red, green, blue)
}

const TEXT: Variants = variants(0x1f2428, 0xe8eaec);
const MUTED: Variants = variants(0x6a7178, 0x9aa2aa);
const GRID: Variants = variants(0xdde0e3, 0x3a4046);
const BACKGROUND: Variants = variants(0xffffff, 0x16191c);
const SERIES: [Variants; 8] = [
    variants(0x0072b2, 0x56b4e9),
    variants(0xd55e00, 0xff914d),
    variants(0x008a64, 0x34d3a2),
    variants(0xa03c8a, 0xe59ccb),
    variants(0xa87800, 0xf0c84f),
    variants(0x4a4f55, 0xc9ced3),
    variants(0x7a1f3d, 0xff8fa3),
    variants(0x2f93d6, 0xa5d8ff),
];

impl ColorRole {
    /// The colour on a light background.
    pub(crate) fn light(self) -> Rgb {
        match self {
            Self::Text => TEXT.light,
            Self::Muted => MUTED.light,
            Self::Grid => GRID.light,
            Self::Background => BACKGROUND.light,
            Self::Series(index) => SERIES[index % SERIES.len()].light,
            Self::Fixed(color) => color,
        }
    }

    /// The colour as a CSS value that follows the page's colour scheme.
    pub(crate) fn css(self) -> String {
        match self {
            Self::Text => "var(--text)".to_owned(),
            Self::Muted => "var(--muted)".to_owned(),
            Self::Grid => "var(--grid)".to_owned(),
            Self::Background => "var(--background)".to_owned(),
            Self::Series(index) => format!("var(--s{})", index % SERIES.len()),
            Self::Fixed(color) => color.to_string(),
        }
    }
}

/// The CSS variables of all colours. The dark variant applies on screen only, never in print.
pub(crate) fn style_sheet() -> String {
    let variables = |variant: fn(Variants) -> Rgb| {
        let named = [("text", TEXT), ("muted", MUTED), ("grid", GRID), ("background", BACKGROUND)];
        let mut css = String::new();
        for (name, variants) in named {
            let _ = write!(css, "--{name}:{};", variant(variants));
        }
        for (index, variants) in SERIES.into_iter().enumerate() {
            let _ = write!(css, "--s{index}:{};", variant(variants));
        }
        css
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        variables(|variants| variants.light),
        variables(|variants| variants.dark)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of WCAG 2.
    fn luminance(Rgb(red, green, blue): Rgb) -> f64 {
        let linear = |channel: u8| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The smaller contrast of the two variants with their backgrounds.
    fn lowest_contrast(color: Variants) -> f64 {
        contrast(color.light, BACKGROUND.light).min(contrast(color.dark, BACKGROUND.dark))
    }

    #[test]
    fn labels_and_series_contrast_with_both_backgrounds() {
        assert!(lowest_contrast(TEXT) >= 4.5 && lowest_contrast(MUTED) >= 4.5);
        for (index, color) in SERIES.into_iter().enumerate() {
            assert!(lowest_contrast(color) >= 3.0, "{index}: {}", lowest_contrast(color));
        }
    }
}
