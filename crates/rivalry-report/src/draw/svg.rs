//! A scene as SVG.

use std::fmt::Write;

use super::Ink;
use super::scene::{Anchor, Paint, Scene, Shape, Stroke, Text};

/// Whose colours the picture has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    /// The page's, which follow the reader's light or dark screen.
    Page,
    /// Its own, for light paper: the picture stands alone.
    Own,
}

impl Colours {
    fn of(self, ink: Ink) -> String {
        match self {
            Self::Page => ink.variable(),
            Self::Own => ink.literal(),
        }
    }
}

/// Text with the five signs that mean something to HTML and XML made harmless, and without those that XML forbids.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                safe.push('\u{fffd}');
            }
            plain => safe.push(plain),
        }
    }
    safe
}

/// The picture, with a title for those who can't see it.
pub(crate) fn svg(scene: &Scene, title: &str, colours: Colours) -> String {
    let (w, h) = (short(scene.width), short(scene.height));
    let title = escape(title);
    let mut out = String::new();
    let _ = match colours {
        Colours::Page => write!(out, r#"<svg role="img" viewBox="0 0 {w} {h}" style="max-width:{w}px""#),
        Colours::Own => {
            write!(
                out,
                r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{w}" height="{h}" viewBox="0 0 {w} {h}""#
            )
        }
    };
    let _ = write!(
        out,
        r#" aria-label="{title}" font-family="'Open Sans',system-ui,sans-serif"><title>{title}</title>"#
    );
    if colours == Colours::Own {
        let _ = write!(out, r#"<rect width="{w}" height="{h}" fill="{}"/>"#, Ink::Paper.literal());
    }
    for shape in &scene.shapes {
        add(&mut out, shape, colours);
    }
    out.push_str("</svg>");
    out
}

fn add(out: &mut String, shape: &Shape, colours: Colours) {
    match shape {
        Shape::Path { points, closed, fill, stroke } => {
            out.push_str("<path d=\"");
            for (at, (x, y)) in points.iter().enumerate() {
                let _ = write!(out, "{}{} {}", if at == 0 { 'M' } else { 'L' }, short(*x), short(*y));
            }
            out.push_str(if *closed { "Z\"" } else { "\"" });
            paint(out, *fill, colours);
            if let Some(line) = stroke {
                draw(out, line, colours);
            }
            out.push_str("/>");
        }
        Shape::Circle { x, y, r, fill } => {
            let _ = write!(out, r#"<circle cx="{}" cy="{}" r="{}""#, short(*x), short(*y), short(*r));
            paint(out, *fill, colours);
            out.push_str("/>");
        }
        Shape::Text(Text { x, y, text, size, anchor, ink, bold, upwards }) => {
            let (x, y) = (short(*x), short(*y));
            let _ = write!(out, r#"<text x="{x}" y="{y}" font-size="{size}" fill="{}""#, colours.of(*ink));
            out.push_str(match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            });
            if *bold {
                out.push_str(r#" font-weight="bold""#);
            }
            if *upwards {
                let _ = write!(out, r#" transform="rotate(-90 {x} {y})""#);
            }
            let _ = write!(out, ">{}</text>", escape(text));
        }
    }
}

fn paint(out: &mut String, fill: Option<Paint>, colours: Colours) {
    let Some(Paint { ink, opacity }) = fill else {
        out.push_str(r#" fill="none""#);
        return;
    };
    let _ = write!(out, r#" fill="{}""#, colours.of(ink));
    if opacity < 1.0 {
        let _ = write!(out, r#" fill-opacity="{}""#, short(opacity));
    }
}

fn draw(out: &mut String, line: &Stroke, colours: Colours) {
    let _ = write!(out, r#" stroke="{}" stroke-width="{}""#, colours.of(line.ink), short(line.width));
    if !line.dash.is_empty() {
        let dash: Vec<String> = line.dash.iter().map(|x| short(*x)).collect();
        let _ = write!(out, r#" stroke-dasharray="{}""#, dash.join(" "));
    }
    if line.opacity < 1.0 {
        let _ = write!(out, r#" stroke-opacity="{}""#, short(line.opacity));
    }
}

/// A length to a hundredth of a point.
fn short(x: f64) -> String {
    let rounded = (x * 100.0).round() / 100.0;
    format!("{}", rounded + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_html_is_escaped() {
        assert_eq!(escape("a<b & \"c\" 'd'>"), "a&lt;b &amp; &quot;c&quot; &#39;d&#39;&gt;");
        assert_eq!(escape("bell\u{7} and tab\t"), "bell\u{fffd} and tab\t");
    }

    #[test]
    fn a_picture_on_the_page_has_the_pages_colours_and_one_alone_its_own() {
        let mut scene = Scene::new(100.0, 50.0);
        scene.label(10.0, 20.0, Anchor::Middle, Ink::Series(1), "<κ>");
        scene.area((0.0, 0.0), (5.004, 5.0), Ink::Text, 0.5);
        let page = svg(&scene, "a & b", Colours::Page);
        for part in [
            "var(--s1)",
            "&lt;κ&gt;",
            "aria-label=\"a &amp; b\"",
            "<title>a &amp; b</title>",
            "M0 0L5 0L5 5L0 5Z",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        let own = svg(&scene, "a", Colours::Own);
        assert!(own.contains("xmlns") && own.contains("#d55e00") && !own.contains("var("), "{own}");
    }
}
