//! The area that data are drawn in, and its axes.

use crate::draw::{Anchor, ColorRole, Interval, Point, Scale, Scene, text_width};

/// The width of every figure.
pub(super) const WIDTH: f64 = 460.0;

/// The free margin at the sides of a figure.
pub(super) const MARGIN: f64 = 12.0;

/// The height of an x axis with its labels and title.
pub(super) const X_AXIS_HEIGHT: f64 = 44.0;

/// From the middle of a label to its baseline.
pub(super) const BASELINE: f64 = 4.5;

/// The edges of the area.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlotArea {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// The x coordinate of the title of the y axis.
    pub title: f64,
}

/// The room for an area and the labels of its y axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    /// The height of the area.
    pub height: f64,
}

impl PlotArea {
    /// An area of this height across the figure, with a y scale over `values` and room for its labels.
    pub(super) fn with_y_scale(values: Interval, top: f64, height: f64) -> (Self, Scale) {
        Self::within(values, Frame { left: 0.0, right: WIDTH, top, height })
    }

    /// An area within a frame, with a y scale over `values` and room for its labels.
    pub(super) fn within(values: Interval, frame: Frame) -> (Self, Scale) {
        let Frame { left, right, top, height } = frame;
        let bottom = top + height;
        let scale = Scale::widened_to_ticks(values, Interval::new(bottom, top));
        let labels = scale.ticks(5).into_iter().map(|tick| text_width(&tick.label)).fold(0.0, f64::max);
        (Self { left: left + labels + 28.0, right: right - MARGIN, top, bottom, title: left + MARGIN }, scale)
    }

    /// The x coordinates at this distance from both sides.
    pub(super) fn x_interval(&self, margin: f64) -> Interval {
        Interval::new(self.left + margin, self.right - margin)
    }

    /// Draws the grid lines, labels and title of the y axis.
    pub(super) fn y_axis(&self, scene: &mut Scene, scale: &Scale, title: &str) {
        for tick in scale.ticks(5) {
            let y = scale.at(tick.value);
            scene.rule((self.left, y), (self.right, y), ColorRole::Grid);
            scene.label((self.left - 6.0, y + BASELINE), Anchor::End, ColorRole::Muted, tick.label);
        }
        scene.vertical_label((self.title, (self.top + self.bottom) / 2.0), ColorRole::Text, title);
    }

    /// Draws the line, ticks, labels and title of the x axis.
    pub(super) fn x_axis(&self, scene: &mut Scene, scale: &Scale, title: &str) {
        scene.rule((self.left, self.bottom), (self.right, self.bottom), ColorRole::Muted);
        let mut labels = Vec::new();
        // As many as have room for their labels.
        let wanted = ((self.right - self.left) / 60.0).round().clamp(2.0, 6.0);
        for tick in scale.ticks(wanted as usize) {
            let x = scale.at(tick.value);
            scene.rule((x, self.bottom), (x, self.bottom + 4.0), ColorRole::Muted);
            labels.push((x, tick.label));
        }
        x_labels(scene, self.bottom + 18.0, labels);
        let middle = (self.left + self.right) / 2.0;
        scene.label((middle, self.bottom + 36.0), Anchor::Middle, ColorRole::Text, title);
    }
}

/// Draws labels centred on their x coordinates, or as near to that as fits the figure, without those that would overlap the one before.
pub(super) fn x_labels(scene: &mut Scene, y: f64, labels: impl IntoIterator<Item = (f64, String)>) {
    let mut free = f64::NEG_INFINITY;
    for (x, label) in labels {
        let half = text_width(&label) / 2.0;
        let x = x.clamp(half + 1.0, WIDTH - half - 1.0);
        if x - half > free {
            free = x + half + 5.0;
            scene.label((x, y), Anchor::Middle, ColorRole::Muted, label);
        }
    }
}

/// The point for a label that is vertically centred at `y`.
pub(super) fn centered(x: f64, y: f64) -> Point {
    (x, y + BASELINE)
}
