//! A scene as SVG.

use std::fmt::Write;

use super::ColorRole;
use super::scene::{Anchor, Fill, Scene, Shape, Stroke, TextLine};
use super::text::FONT_SIZE;
use crate::escape::escape_xml;

/// How much larger than drawn a figure may become on a wide page.
const MAX_ENLARGEMENT: f64 = 1.1;

/// Where the colours of an SVG come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    /// The CSS variables of the page, which follow the reader's colour scheme.
    Page,
    /// The light variant, for a file of its own.
    Standalone,
}

impl Palette {
    fn color(self, role: ColorRole) -> String {
        match self {
            Self::Page => role.css(),
            Self::Standalone => role.light().to_string(),
        }
    }
}

/// Writes a scene as an `<svg>` element, with a title for screen readers.
pub(crate) fn svg(scene: &Scene, title: &str, palette: Palette) -> String {
    let (w, h) = (length(scene.width), length(scene.height));
    let title = escape_xml(title);
    let mut out = String::new();
    let _ = match palette {
        Palette::Page => {
            let widest = length(scene.width * MAX_ENLARGEMENT);
            write!(out, r#"<svg role="img" viewBox="0 0 {w} {h}" style="max-width:{widest}px""#)
        }
        Palette::Standalone => write!(
            out,
            r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{w}" height="{h}" viewBox="0 0 {w} {h}""#
        ),
    };
    let _ = write!(
        out,
        r#" aria-label="{title}" font-family="system-ui,sans-serif" font-size="{FONT_SIZE}"><title>{title}</title>"#
    );
    if palette == Palette::Standalone {
        let background = palette.color(ColorRole::Background);
        let _ = write!(out, r#"<rect width="{w}" height="{h}" fill="{background}"/>"#);
    }
    for shape in &scene.shapes {
        write_shape(&mut out, shape, palette);
    }
    out.push_str("</svg>");
    out
}

fn write_shape(out: &mut String, shape: &Shape, palette: Palette) {
    match shape {
        Shape::Path { points, closed, fill, stroke } => {
            out.push_str("<path d=\"");
            for (index, (x, y)) in points.iter().enumerate() {
                let _ = write!(out, "{}{} {}", if index == 0 { 'M' } else { 'L' }, length(*x), length(*y));
            }
            out.push_str(if *closed { "Z\"" } else { "\"" });
            match fill {
                Some(fill) => write_fill(out, fill, palette),
                None => out.push_str(r#" fill="none""#),
            }
            if let Some(stroke) = stroke {
                write_stroke(out, stroke, palette);
            }
            out.push_str("/>");
        }
        Shape::Circle { center: (x, y), radius, fill } => {
            let _ = write!(out, r#"<circle cx="{}" cy="{}" r="{}""#, length(*x), length(*y), length(*radius));
            write_fill(out, fill, palette);
            out.push_str("/>");
        }
        Shape::Text(line) => write_text(out, line, palette),
    }
}

fn write_text(out: &mut String, line: &TextLine, palette: Palette) {
    let (x, y) = (length(line.at.0), length(line.at.1));
    let _ = write!(out, r#"<text x="{x}" y="{y}" fill="{}""#, palette.color(line.color));
    out.push_str(match line.anchor {
        Anchor::Start => "",
        Anchor::Middle => r#" text-anchor="middle""#,
        Anchor::End => r#" text-anchor="end""#,
    });
    if line.bold {
        out.push_str(r#" font-weight="bold""#);
    }
    if line.vertical {
        let _ = write!(out, r#" transform="rotate(-90 {x} {y})""#);
    }
    let _ = write!(out, ">{}</text>", escape_xml(&line.text));
}

fn write_fill(out: &mut String, fill: &Fill, palette: Palette) {
    let _ = write!(out, r#" fill="{}""#, palette.color(fill.color));
    if fill.opacity < 1.0 {
        let _ = write!(out, r#" fill-opacity="{}""#, length(fill.opacity));
    }
}

fn write_stroke(out: &mut String, stroke: &Stroke, palette: Palette) {
    let _ =
        write!(out, r#" stroke="{}" stroke-width="{}""#, palette.color(stroke.color), length(stroke.width));
    if !stroke.dash.is_empty() {
        let dash: Vec<String> = stroke.dash.iter().map(|x| length(*x)).collect();
        let _ = write!(out, r#" stroke-dasharray="{}""#, dash.join(" "));
    }
    if stroke.opacity < 1.0 {
        let _ = write!(out, r#" stroke-opacity="{}""#, length(stroke.opacity));
    }
}

/// A number with at most two decimals.
fn length(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    // Adding zero turns -0 into 0.
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_svg_has_the_colours_of_the_page_or_its_own() {
        let mut scene = Scene::new(100.0, 50.0);
        scene.label((10.0, 20.0), Anchor::Middle, ColorRole::Series(1), "<κ>");
        scene.rectangle((0.0, 0.0), (5.004, 5.0), Fill { color: ColorRole::Text, opacity: 0.5 });
        let on_page = svg(&scene, "a & b", Palette::Page);
        for expected in [
            "var(--s1)",
            "&lt;κ&gt;",
            "aria-label=\"a &amp; b\"",
            "<title>a &amp; b</title>",
            "M0 0L5 0L5 5L0 5Z",
        ] {
            assert!(on_page.contains(expected), "{expected}: {on_page}");
        }
        let standalone = svg(&scene, "a", Palette::Standalone);
        assert!(standalone.contains("xmlns") && standalone.contains("#d55e00"), "{standalone}");
        assert!(!standalone.contains("var("), "{standalone}");
    }
}
