//! A drawing as a list of shapes. Lengths are in pixels; y points down.

use super::ColorRole;

/// A point: x, y.
pub(crate) type Point = (f64, f64);

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// An element of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Straight lines from point to point.
    Path {
        points: Vec<Point>,
        closed: bool,
        fill: Option<Fill>,
        stroke: Option<Stroke>,
    },
    Circle {
        center: Point,
        radius: f64,
        fill: Fill,
    },
    Text(TextLine),
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextLine {
    /// The point on the baseline that `anchor` refers to.
    pub at: Point,
    pub text: String,
    pub anchor: Anchor,
    pub color: ColorRole,
    pub bold: bool,
    /// Whether it is rotated by 90°, reading upwards.
    pub vertical: bool,
}

/// The colour of an area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fill {
    pub color: ColorRole,
    pub opacity: f64,
}

/// The look of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub color: ColorRole,
    pub width: f64,
    pub dash: &'static [f64],
    pub opacity: f64,
}

impl Stroke {
    /// An opaque line without dashes.
    pub(crate) const fn solid(color: ColorRole, width: f64) -> Self {
        Self { color, width, dash: &[], opacity: 1.0 }
    }
}

/// Which point of a text its position refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Scene {
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    /// Adds a filled rectangle between two opposite corners.
    pub(crate) fn rectangle(&mut self, from: Point, to: Point, fill: Fill) {
        let points = corners(from, to);
        self.shapes.push(Shape::Path { points, closed: true, fill: Some(fill), stroke: None });
    }

    /// Adds the outline of a rectangle between two opposite corners.
    pub(crate) fn outline(&mut self, from: Point, to: Point, stroke: Stroke) {
        let points = corners(from, to);
        self.shapes.push(Shape::Path { points, closed: true, fill: None, stroke: Some(stroke) });
    }

    /// Adds lines from point to point.
    pub(crate) fn line(&mut self, points: Vec<Point>, stroke: Stroke) {
        self.shapes.push(Shape::Path { points, closed: false, fill: None, stroke: Some(stroke) });
    }

    /// Adds a solid line of width 1, as for axes and grids.
    pub(crate) fn rule(&mut self, from: Point, to: Point, color: ColorRole) {
        self.line(vec![from, to], Stroke::solid(color, 1.0));
    }

    /// Adds a label.
    pub(crate) fn label(&mut self, at: Point, anchor: Anchor, color: ColorRole, text: impl Into<String>) {
        let text = text.into();
        self.shapes.push(Shape::Text(TextLine { at, text, anchor, color, bold: false, vertical: false }));
    }

    /// Adds a bold label.
    pub(crate) fn bold_label(
        &mut self,
        at: Point,
        anchor: Anchor,
        color: ColorRole,
        text: impl Into<String>,
    ) {
        let text = text.into();
        self.shapes.push(Shape::Text(TextLine { at, text, anchor, color, bold: true, vertical: false }));
    }

    /// Adds a label that reads upwards, centred on the point.
    pub(crate) fn vertical_label(&mut self, at: Point, color: ColorRole, text: impl Into<String>) {
        let (text, anchor) = (text.into(), Anchor::Middle);
        self.shapes.push(Shape::Text(TextLine { at, text, anchor, color, bold: false, vertical: true }));
    }
}

fn corners((x0, y0): Point, (x1, y1): Point) -> Vec<Point> {
    vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
}
