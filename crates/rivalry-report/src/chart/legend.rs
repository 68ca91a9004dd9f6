//! Legends, in rows below a chart.

use super::plot_area::{MARGIN, WIDTH, centered};
use crate::draw::{Anchor, ColorRole, Fill, Marker, Point, Scene, SeriesStyle, Shape, Stroke, text_width};

/// An entry of a legend.
pub(super) struct LegendEntry {
    pub name: String,
    pub symbol: Symbol,
}

/// The symbol before a name.
pub(super) enum Symbol {
    Line(SeriesStyle),
    Area(ColorRole),
    Point(SeriesStyle),
    Mark(Marker),
    ContextLine,
    ReferenceLine,
    Ring,
}

/// A line that is drawn for context only.
pub(super) const CONTEXT_LINE: Stroke = Stroke { opacity: 0.4, ..Stroke::solid(ColorRole::Muted, 1.0) };

/// A line at a reference value.
pub(super) const REFERENCE_LINE: Stroke =
    Stroke { dash: &[3.0, 3.0], ..Stroke::solid(ColorRole::Muted, 1.4) };

const SYMBOL_WIDTH: f64 = 30.0;
const ROW_HEIGHT: f64 = 21.0;

/// Draws a legend from `top` down and ends the scene below it.
pub(super) fn end_with_legend(scene: &mut Scene, entries: &[LegendEntry], top: f64) {
    let (mut x, mut y) = (MARGIN, top);
    for LegendEntry { name, symbol } in entries {
        let needed = SYMBOL_WIDTH + text_width(name);
        if x > MARGIN && x + needed > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + ROW_HEIGHT);
        }
        let middle = y + ROW_HEIGHT / 2.0;
        draw_symbol(scene, symbol, x, middle);
        scene.label(centered(x + SYMBOL_WIDTH, middle), Anchor::Start, ColorRole::Text, name);
        x += needed + 16.0;
    }
    let bottom = if entries.is_empty() { top } else { y + ROW_HEIGHT };
    scene.height = bottom + 6.0;
}

fn draw_symbol(scene: &mut Scene, symbol: &Symbol, x: f64, y: f64) {
    let center = (x + 12.0, y);
    let line = |scene: &mut Scene, stroke| scene.line(vec![(x, y), (x + 24.0, y)], stroke);
    match *symbol {
        Symbol::Line(style) => {
            line(scene, style.stroke(2.0));
            scene.shapes.push(style.point(center, 3.5));
        }
        Symbol::Area(color) => {
            scene.rectangle((x + 2.0, y - 6.0), (x + 22.0, y + 6.0), Fill { color, opacity: 1.0 });
        }
        Symbol::Point(style) => scene.shapes.push(style.point(center, 4.5)),
        Symbol::Mark(marker) => scene.shapes.push(marker.shape(center, 4.0, ColorRole::Text)),
        Symbol::ContextLine => line(scene, CONTEXT_LINE),
        Symbol::ReferenceLine => line(scene, REFERENCE_LINE),
        Symbol::Ring => ring(scene, center, ColorRole::Text),
    }
}

/// Draws a ring, which marks a point of a line.
pub(super) fn ring(scene: &mut Scene, center: Point, color: ColorRole) {
    let disc = |radius, color| Shape::Circle { center, radius, fill: Fill { color, opacity: 1.0 } };
    scene.shapes.extend([disc(7.0, color), disc(4.5, ColorRole::Background), disc(2.0, color)]);
}
