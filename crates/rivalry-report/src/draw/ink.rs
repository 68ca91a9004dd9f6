//! The colours of figures, each for light and for dark paper.
//!
//! The series differ in lightness as well as in hue, so that they stay apart for the colour-blind; markers and dashes
//! tell them apart once more.

use std::fmt::Write;

/// A colour by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Labels.
    Text,
    /// Labels that stand back, and lines that are only context.
    Muted,
    /// Grid lines.
    Grid,
    /// The ground.
    Paper,
    /// One of several things that are compared.
    Series(usize),
    /// The same on any paper: the cells of a heat map.
    Fixed(u8, u8, u8),
}

/// Name of the CSS variable, on light paper, on dark paper.
const NAMED: [(&str, [u8; 3], [u8; 3]); 4] = [
    ("text", [0x1f, 0x24, 0x28], [0xe8, 0xea, 0xec]),
    ("muted", [0x6a, 0x71, 0x78], [0x9a, 0xa2, 0xaa]),
    ("grid", [0xdd, 0xe0, 0xe3], [0x3a, 0x40, 0x46]),
    ("paper", [0xff, 0xff, 0xff], [0x16, 0x19, 0x1c]),
];

const SERIES: [([u8; 3], [u8; 3]); 8] = [
    ([0x00, 0x72, 0xb2], [0x56, 0xb4, 0xe9]),
    ([0xd5, 0x5e, 0x00], [0xff, 0x91, 0x4d]),
    ([0x00, 0x8a, 0x64], [0x34, 0xd3, 0xa2]),
    ([0xa0, 0x3c, 0x8a], [0xe5, 0x9c, 0xcb]),
    ([0xa8, 0x78, 0x00], [0xf0, 0xc8, 0x4f]),
    ([0x4a, 0x4f, 0x55], [0xc9, 0xce, 0xd3]),
    ([0x7a, 0x1f, 0x3d], [0xff, 0x8f, 0xa3]),
    ([0x2f, 0x93, 0xd6], [0xa5, 0xd8, 0xff]),
];

impl Ink {
    /// The colour on light paper: red, green, blue.
    pub(crate) fn light(self) -> [u8; 3] {
        match self {
            Self::Series(index) => SERIES[index % SERIES.len()].0,
            Self::Fixed(red, green, blue) => [red, green, blue],
            named => NAMED[named.place()].1,
        }
    }

    /// The colour as CSS knows it, to follow the reader's paper.
    pub(crate) fn variable(self) -> String {
        match self {
            Self::Series(index) => format!("var(--s{})", index % SERIES.len()),
            Self::Fixed(..) => hex(self.light()),
            named => format!("var(--{})", NAMED[named.place()].0),
        }
    }

    /// The colour on light paper, written out.
    pub(crate) fn literal(self) -> String {
        hex(self.light())
    }

    fn place(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Muted => 1,
            Self::Grid => 2,
            _ => 3,
        }
    }
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// The colours as CSS variables; paper is light in print, whatever the screen is.
pub(crate) fn style_sheet() -> String {
    let variables = |dark: bool| {
        let pick = |light, other| hex(if dark { other } else { light });
        let mut text = String::new();
        for (name, light, other) in NAMED {
            let _ = write!(text, "--{name}:{};", pick(light, other));
        }
        for (index, (light, other)) in SERIES.into_iter().enumerate() {
            let _ = write!(text, "--s{index}:{};", pick(light, other));
        }
        text
    };
    format!(
        ":root{{color-scheme:light dark;{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n",
        variables(false),
        variables(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as accessibility guidelines define it.
    fn luminance(colour: [u8; 3]) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = colour.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(a: [u8; 3], b: [u8; 3]) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn labels_and_series_stand_out_on_either_paper() {
        let [_, _, _, (_, light_paper, dark_paper)] = NAMED;
        for (name, light, dark) in &NAMED[..2] {
            assert!(contrast(*light, light_paper) >= 4.5 && contrast(*dark, dark_paper) >= 4.5, "{name}");
        }
        for (index, (light, dark)) in SERIES.iter().enumerate() {
            assert!(contrast(*light, light_paper) >= 3.0, "{index}: {}", contrast(*light, light_paper));
            assert!(contrast(*dark, dark_paper) >= 3.0, "{index}: {}", contrast(*dark, dark_paper));
        }
    }
}
