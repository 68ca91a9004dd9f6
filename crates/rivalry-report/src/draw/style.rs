//! The look of a series: colour, marker and dash pattern together.

use super::{ColorRole, Fill, Point, Shape, Stroke};

/// The look of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SeriesStyle {
    pub color: ColorRole,
    pub marker: Marker,
    pub dash: &'static [f64],
}

/// The shape of a data point.
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

impl SeriesStyle {
    /// The look of the series with this index. The first forty are distinct.
    pub(crate) fn of(index: usize) -> Self {
        let marker = MARKERS[index % MARKERS.len()];
        Self { color: ColorRole::Series(index), marker, dash: DASHES[(index + index / 8) % DASHES.len()] }
    }

    /// The stroke of a line of this series.
    pub(crate) fn stroke(&self, width: f64) -> Stroke {
        Stroke { dash: self.dash, ..Stroke::solid(self.color, width) }
    }

    /// The marker of a data point of this series.
    pub(crate) fn point(&self, at: Point, radius: f64) -> Shape {
        self.marker.shape(at, radius, self.color)
    }
}

impl Marker {
    /// The marker centred on a point, at about the same area for every kind.
    pub(crate) fn shape(self, center: Point, radius: f64, color: ColorRole) -> Shape {
        let fill = Fill { color, opacity: 1.0 };
        let ((x, y), r) = (center, radius);
        let polygon =
            |points: Vec<Point>| Shape::Path { points, closed: true, fill: Some(fill), stroke: None };
        match self {
            Self::Circle => Shape::Circle { center, radius, fill },
            Self::Square => {
                let r = r * 0.9;
                polygon(vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)])
            }
            Self::Triangle => {
                let r = r * 1.2;
                polygon(vec![(x, y - r), (x + 0.87 * r, y + 0.5 * r), (x - 0.87 * r, y + 0.5 * r)])
            }
            Self::Diamond => {
                let r = r * 1.25;
                polygon(vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)])
            }
            Self::Cross => {
                let (long, short) = (r * 1.1, r * 0.4);
                let half = [
                    (-short, -long),
                    (short, -long),
                    (short, -short),
                    (long, -short),
                    (long, short),
                    (short, short),
                ];
                let other_half = half.map(|(dx, dy)| (-dx, -dy));
                polygon(half.iter().chain(&other_half).map(|(dx, dy)| (x + dx, y + dy)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_forty_series_look_different() {
        let all: Vec<SeriesStyle> = (0..40).map(SeriesStyle::of).collect();
        for (index, style) in all.iter().enumerate() {
            let look = |style: &SeriesStyle| (style.color.light(), style.marker, style.dash);
            assert!(!all[..index].iter().any(|other| look(other) == look(style)), "{index}");
        }
    }
}
