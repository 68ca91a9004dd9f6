//! Histograms, as outlines that may overlap.

use rivalry_runs::inspect::Histogram;

use super::legend::{LegendEntry, Symbol, end_with_legend};
use super::plot_area::{PlotArea, WIDTH, X_AXIS_HEIGHT};
use crate::draw::{Fill, Interval, Scale, Scene, SeriesStyle, Shape};

/// Distributions over a common x axis.
pub(crate) struct HistogramChart<'a> {
    pub x_title: String,
    pub series: Vec<HistogramSeries<'a>>,
}

/// One distribution.
pub(crate) struct HistogramSeries<'a> {
    pub name: String,
    pub style: SeriesStyle,
    pub histogram: &'a Histogram,
}

const HEIGHT: f64 = 150.0;
const TOP: f64 = 10.0;

impl HistogramChart<'_> {
    /// The chart; none if a distribution is constant or empty.
    pub(crate) fn draw(&self) -> Option<Scene> {
        let densities: Option<Vec<Vec<f64>>> = self.series.iter().map(|s| density(s.histogram)).collect();
        let densities = densities?;
        let highest = densities.iter().flatten().copied().fold(0.0, f64::max);
        let (area, y) = PlotArea::with_y_scale(Interval::new(0.0, highest), TOP, HEIGHT);
        let edges = self.series.iter().flat_map(|series| series.histogram.edges.iter().copied());
        let x = Scale::linear(Interval::around(edges), area.x_interval(4.0));
        let mut scene = Scene::new(WIDTH, 0.0);
        area.y_axis(&mut scene, &y, "density");
        area.x_axis(&mut scene, &x, &self.x_title);
        for (series, densities) in self.series.iter().zip(&densities) {
            let mut points = vec![(x.at(series.histogram.edges[0]), y.at(0.0))];
            for (edges, density) in series.histogram.edges.windows(2).zip(densities) {
                points.extend([(x.at(edges[0]), y.at(*density)), (x.at(edges[1]), y.at(*density))]);
            }
            points.push((points[points.len() - 1].0, y.at(0.0)));
            scene.shapes.push(Shape::Path {
                points,
                closed: true,
                fill: Some(Fill { color: series.style.color, opacity: 0.2 }),
                stroke: Some(series.style.stroke(1.8)),
            });
        }
        let named = self.series.iter().filter(|_| self.series.len() > 1);
        let entries: Vec<LegendEntry> =
            named.map(|s| LegendEntry { name: s.name.clone(), symbol: Symbol::Line(s.style) }).collect();
        end_with_legend(&mut scene, &entries, area.bottom + X_AXIS_HEIGHT);
        Some(scene)
    }
}

/// The share of each bin divided by its width; none if there is nothing to draw.
fn density(histogram: &Histogram) -> Option<Vec<f64>> {
    let total = histogram.counts.iter().sum::<usize>() as f64;
    let valid = histogram.edges.len() == histogram.counts.len() + 1 && total > 0.0;
    let bins = || histogram.edges.windows(2).map(|edges| edges[1] - edges[0]);
    if !valid || bins().any(|width| width <= 0.0 || !width.is_finite()) {
        return None;
    }
    Some(histogram.counts.iter().zip(bins()).map(|(count, width)| *count as f64 / total / width).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_density_has_area_one_and_a_constant_has_no_density() {
        let histogram = Histogram { edges: vec![0.0, 0.5, 2.0], counts: vec![1, 3] };
        assert_eq!(density(&histogram).unwrap(), [0.5, 0.5]);
        assert!(density(&Histogram { edges: vec![1.0, 1.0], counts: vec![4] }).is_none());
        assert!(density(&Histogram { edges: vec![], counts: vec![] }).is_none());
    }
}
