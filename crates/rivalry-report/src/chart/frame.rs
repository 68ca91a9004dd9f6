//! The area that values are drawn in, and the axes at its edges.

use crate::draw::{Anchor, Ink, Scale, Scene, width};

/// The width of every figure.
pub(super) const WIDTH: f64 = 460.0;

/// The room that the ticks and the title of an x axis take.
pub(super) const UNDER: f64 = 44.0;

/// The edges of the area.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// An area of this height, with room on its left for the labels of a y axis over these values.
    pub(super) fn beside(values: (f64, f64), top: f64, height: f64) -> (Self, Scale) {
        let bottom = top + height;
        let scale = Scale::round(values, (bottom, top));
        let widest = scale.ticks(5).iter().map(|(_, label)| width(label)).fold(0.0, f64::max);
        (Self { left: widest + 28.0, right: WIDTH - 12.0, top, bottom }, scale)
    }

    /// Grid lines and labels for y.
    pub(super) fn y_axis(&self, scene: &mut Scene, scale: &Scale, title: &str) {
        for (value, label) in scale.ticks(5) {
            let y = scale.at(value);
            scene.rule((self.left, y), (self.right, y), Ink::Grid);
            scene.label(self.left - 6.0, y + 4.5, Anchor::End, Ink::Muted, label);
        }
        scene.upwards(12.0, (self.top + self.bottom) / 2.0, Ink::Text, title);
    }

    /// Ticks and labels for x, under the area. A label that would touch the one before it is left out.
    pub(super) fn x_axis(&self, scene: &mut Scene, scale: &Scale, title: &str) {
        scene.rule((self.left, self.bottom), (self.right, self.bottom), Ink::Muted);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in scale.ticks(6) {
            let (x, half) = (scale.at(value), width(&label) / 2.0);
            scene.rule((x, self.bottom), (x, self.bottom + 4.0), Ink::Muted);
            if x - half > free {
                scene.label(x, self.bottom + 18.0, Anchor::Middle, Ink::Muted, label);
                free = x + half + 6.0;
            }
        }
        let middle = (self.left + self.right) / 2.0;
        scene.label(middle, self.bottom + 36.0, Anchor::Middle, Ink::Text, title);
    }
}

/// The least and the greatest of values.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let start = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.into_iter().fold(start, |(low, high), x| (low.min(x), high.max(x)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}
