//! How quantities are distributed, as outlines that may overlap.

use rivalry_runs::inspect::Histogram;

use super::frame::{Frame, UNDER, WIDTH, range};
use super::legend::{Entry, Sample, legend};
use crate::draw::{Paint, Scale, Scene, Shape, Style};

/// Distributions over a common x.
pub(crate) struct Histograms<'a> {
    pub x: String,
    pub series: Vec<HistogramSeries<'a>>,
}

/// One distribution.
pub(crate) struct HistogramSeries<'a> {
    pub name: String,
    pub style: Style,
    pub histogram: &'a Histogram,
}

const HEIGHT: f64 = 150.0;
const TOP: f64 = 10.0;

impl Histograms<'_> {
    /// The picture; none if a distribution has no width to draw.
    pub(crate) fn draw(&self) -> Option<Scene> {
        let densities: Option<Vec<Vec<f64>>> = self.series.iter().map(|s| density(s.histogram)).collect();
        let densities = densities?;
        let (_, highest) = range(densities.iter().flatten().copied());
        let (frame, y) = Frame::beside((0.0, highest), TOP, HEIGHT);
        let edges = self.series.iter().flat_map(|series| series.histogram.edges.iter().copied());
        let x = Scale::linear(range(edges), (frame.left + 4.0, frame.right - 4.0));
        let mut scene = Scene::new(WIDTH, 0.0);
        frame.y_axis(&mut scene, &y, "density");
        frame.x_axis(&mut scene, &x, &self.x);
        for (series, densities) in self.series.iter().zip(&densities) {
            let mut points = vec![(x.at(series.histogram.edges[0]), y.at(0.0))];
            for (edges, density) in series.histogram.edges.windows(2).zip(densities) {
                points.extend([(x.at(edges[0]), y.at(*density)), (x.at(edges[1]), y.at(*density))]);
            }
            points.push((points[points.len() - 1].0, y.at(0.0)));
            scene.shapes.push(Shape::Path {
                points,
                closed: true,
                fill: Some(Paint { ink: series.style.ink, opacity: 0.2 }),
                stroke: Some(series.style.stroke(1.8)),
            });
        }
        let named = self.series.iter().filter(|_| self.series.len() > 1);
        let entries: Vec<Entry> =
            named.map(|s| Entry { name: s.name.clone(), sample: Sample::Line(s.style) }).collect();
        scene.height = legend(&mut scene, &entries, (12.0, WIDTH - 12.0), frame.bottom + UNDER) + 6.0;
        Some(scene)
    }
}

/// The share of each bin for its width, so that bins of different widths can be compared.
fn density(histogram: &Histogram) -> Option<Vec<f64>> {
    let total = histogram.counts.iter().sum::<usize>() as f64;
    let fits = histogram.edges.len() == histogram.counts.len() + 1 && total > 0.0;
    let bins = || histogram.edges.windows(2).map(|edges| edges[1] - edges[0]);
    if !fits || bins().any(|width| width <= 0.0 || !width.is_finite()) {
        return None;
    }
    Some(histogram.counts.iter().zip(bins()).map(|(count, width)| *count as f64 / total / width).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_have_area_one_and_a_constant_has_none() {
        let histogram = Histogram { edges: vec![0.0, 0.5, 2.0], counts: vec![1, 3] };
        assert_eq!(density(&histogram).unwrap(), [0.5, 0.5]);
        assert!(density(&Histogram { edges: vec![1.0, 1.0], counts: vec![4] }).is_none());
        assert!(density(&Histogram { edges: vec![], counts: vec![] }).is_none());
    }
}
