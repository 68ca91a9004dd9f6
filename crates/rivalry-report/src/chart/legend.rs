//! What is what in a figure, in rows under it.

use crate::draw::{Anchor, Ink, Marker, Scene, Stroke, Style, width};

/// A line of a legend.
pub(super) struct Entry {
    pub name: String,
    pub sample: Sample,
}

/// What an entry shows before its name.
pub(super) enum Sample {
    Line(Style),
    Area(Ink),
    Point(Style),
    Mark(Marker),
    Faint,
    Dashed,
}

const SAMPLE: f64 = 30.0;
const ROW: f64 = 21.0;

/// Writes a legend beginning at `top` between two edges, and says where it ends.
pub(super) fn legend(scene: &mut Scene, entries: &[Entry], (left, right): (f64, f64), top: f64) -> f64 {
    let (mut x, mut y) = (left, top);
    for Entry { name, sample } in entries {
        let needed = SAMPLE + width(name);
        if x > left && x + needed > right {
            (x, y) = (left, y + ROW);
        }
        let middle = y + ROW / 2.0;
        show(scene, sample, x, middle);
        scene.label(x + SAMPLE, middle + 4.5, Anchor::Start, Ink::Text, name);
        x += needed + 16.0;
    }
    if entries.is_empty() { top } else { y + ROW }
}

fn show(scene: &mut Scene, sample: &Sample, x: f64, y: f64) {
    let centre = x + 12.0;
    let line = |scene: &mut Scene, stroke| scene.line(vec![(x, y), (x + 24.0, y)], stroke);
    match sample {
        Sample::Line(style) => {
            line(scene, style.stroke(2.0));
            scene.shapes.push(style.point(centre, y, 3.5));
        }
        Sample::Area(ink) => scene.area((x + 2.0, y - 6.0), (x + 22.0, y + 6.0), *ink, 1.0),
        Sample::Point(style) => scene.shapes.push(style.point(centre, y, 4.5)),
        Sample::Mark(marker) => scene.shapes.push(marker.shape(centre, y, 4.0, Ink::Text)),
        Sample::Faint => line(scene, FAINT),
        Sample::Dashed => line(scene, DASHED),
    }
}

/// A line that is only context.
pub(super) const FAINT: Stroke = Stroke { ink: Ink::Muted, width: 1.0, dash: &[], opacity: 0.4 };

/// A line that others are seen against.
pub(super) const DASHED: Stroke = Stroke { ink: Ink::Muted, width: 1.4, dash: &[3.0, 3.0], opacity: 1.0 };
