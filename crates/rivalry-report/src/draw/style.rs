//! How one of several things looks in every figure: colour, marker and dash together.

use super::{Ink, Paint, Shape, Stroke};

/// The look of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Style {
    pub ink: Ink,
    pub marker: Marker,
    pub dash: &'static [f64],
}

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
const DASHES: [&[f64]; 4] = [&[], &[7.0, 3.0], &[2.0, 3.0], &[9.0, 3.0, 2.0, 3.0]];

impl Style {
    /// The look of the series with this number. The first forty differ.
    pub(crate) fn of(index: usize) -> Self {
        let marker = MARKERS[index % MARKERS.len()];
        Self { ink: Ink::Series(index), marker, dash: DASHES[(index + index / 8) % DASHES.len()] }
    }

    /// A line in this look.
    pub(crate) fn stroke(&self, width: f64) -> Stroke {
        Stroke { ink: self.ink, width, dash: self.dash, opacity: 1.0 }
    }

    /// A point in this look.
    pub(crate) fn point(&self, x: f64, y: f64, radius: f64) -> Shape {
        self.marker.shape(x, y, radius, self.ink)
    }
}

impl Marker {
    /// The marker around a point.
    pub(crate) fn shape(self, x: f64, y: f64, r: f64, ink: Ink) -> Shape {
        let fill = Some(Paint { ink, opacity: 1.0 });
        let closed = |points: Vec<(f64, f64)>| Shape::Path { points, closed: true, fill, stroke: None };
        match self {
            Self::Circle => Shape::Circle { x, y, r, fill },
            Self::Square => {
                let r = r * 0.9;
                closed(vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)])
            }
            Self::Triangle => {
                let r = r * 1.2;
                closed(vec![(x, y - r), (x + 0.87 * r, y + 0.5 * r), (x - 0.87 * r, y + 0.5 * r)])
            }
            Self::Diamond => {
                let r = r * 1.25;
                closed(vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)])
            }
            Self::Cross => {
                let (a, b) = (r * 1.1, r * 0.4);
                let arms = [(-b, -a), (b, -a), (b, -b), (a, -b), (a, b), (b, b)];
                let back = arms.map(|(dx, dy)| (-dx, -dy));
                closed(arms.iter().chain(&back).map(|(dx, dy)| (x + dx, y + dy)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_many_series_look_alike() {
        let all: Vec<Style> = (0..40).map(Style::of).collect();
        for (index, style) in all.iter().enumerate() {
            let ink = |style: &Style| style.ink.light();
            let same = |other: &Style| {
                (ink(other), other.marker, other.dash) == (ink(style), style.marker, style.dash)
            };
            assert!(!all[..index].iter().any(same), "{index}");
        }
    }
}
