//! Shapes on a sheet. Lengths are in points of the sheet; y goes down.

use super::Ink;

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// What a picture is made of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Straight lines from point to point.
    Path { points: Vec<(f64, f64)>, closed: bool, fill: Option<Paint>, stroke: Option<Stroke> },
    /// A disc.
    Circle { x: f64, y: f64, r: f64, fill: Option<Paint> },
    /// A line of text.
    Text(Text),
}

/// A line of text; `y` is its baseline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub x: f64,
    pub y: f64,
    pub text: String,
    pub size: f64,
    pub anchor: Anchor,
    pub ink: Ink,
    pub bold: bool,
    /// Whether it is turned, to be read from below.
    pub upwards: bool,
}

/// How an area is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Paint {
    pub ink: Ink,
    pub opacity: f64,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub ink: Ink,
    pub width: f64,
    pub dash: &'static [f64],
    pub opacity: f64,
}

/// Which part of a text its place is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// The size of labels.
const LABEL: f64 = 13.0;

impl Scene {
    /// An empty sheet.
    pub(crate) fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    /// A filled rectangle, whichever of its corners are given.
    pub(crate) fn area(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, opacity: f64) {
        self.shapes.push(Shape::Path {
            points: corners(from, to),
            closed: true,
            fill: Some(Paint { ink, opacity }),
            stroke: None,
        });
    }

    /// The outline of a rectangle.
    pub(crate) fn outline(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        let points = corners(from, to);
        self.shapes.push(Shape::Path { points, closed: true, fill: None, stroke: Some(stroke) });
    }

    /// Lines from point to point.
    pub(crate) fn line(&mut self, points: Vec<(f64, f64)>, stroke: Stroke) {
        self.shapes.push(Shape::Path { points, closed: false, fill: None, stroke: Some(stroke) });
    }

    /// A thin line without a dash.
    pub(crate) fn rule(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        self.line(vec![from, to], Stroke { ink, width: 1.0, dash: &[], opacity: 1.0 });
    }

    /// A label.
    pub(crate) fn label(&mut self, x: f64, y: f64, anchor: Anchor, ink: Ink, text: impl Into<String>) {
        self.write((x, y), anchor, ink, text.into(), false, false);
    }

    /// A label that stands out.
    pub(crate) fn heading(&mut self, x: f64, y: f64, anchor: Anchor, ink: Ink, text: impl Into<String>) {
        self.write((x, y), anchor, ink, text.into(), true, false);
    }

    /// A label that runs upwards, its middle at the point.
    pub(crate) fn upwards(&mut self, x: f64, y: f64, ink: Ink, text: impl Into<String>) {
        self.write((x, y), Anchor::Middle, ink, text.into(), false, true);
    }

    fn write(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        ink: Ink,
        text: String,
        bold: bool,
        upwards: bool,
    ) {
        self.shapes.push(Shape::Text(Text { x, y, text, size: LABEL, anchor, ink, bold, upwards }));
    }
}

fn corners((x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> Vec<(f64, f64)> {
    vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
}
