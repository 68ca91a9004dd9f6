//! Line charts, with error bars where points have a deviation, alone or as panels with an axis each.

use super::legend::{CONTEXT_LINE, LegendEntry, Symbol, end_with_legend, ring};
use super::plot_area::{Frame, PlotArea, WIDTH, X_AXIS_HEIGHT};
use crate::draw::{Anchor, ColorRole, Interval, Point, Scale, Scene, SeriesStyle, Stroke};

/// Lines over a common x axis.
pub(crate) struct LineChart {
    pub x_title: String,
    pub y_title: String,
    /// Whether x is a count, with ticks at whole numbers.
    pub whole_x: bool,
    pub series: Vec<LineSeries>,
    /// The legend's name for lines without a style.
    pub context_name: String,
    /// The legend's name for marked points.
    pub mark_name: String,
}

/// One line.
pub(crate) struct LineSeries {
    pub name: String,
    /// None for a line that is drawn for context only.
    pub style: Option<SeriesStyle>,
    /// By ascending x.
    pub points: Vec<DataPoint>,
    /// The x of a point that is marked with a ring.
    pub mark: Option<f64>,
}

/// A point of a line.
#[derive(Clone, Copy)]
pub(crate) struct DataPoint {
    pub x: f64,
    pub y: f64,
    /// The standard deviation of y, drawn as an error bar.
    pub deviation: Option<f64>,
}

const HEIGHT: f64 = 210.0;
const PANEL_HEIGHT: f64 = 120.0;
/// The height of a panel's title.
const PANEL_TITLE: f64 = 26.0;
/// Between two panels side by side.
const PANEL_GAP: f64 = 10.0;
const TOP: f64 = 10.0;
/// A line of more points has markers on some of them only.
const MAX_MARKERS: usize = 12;

impl LineChart {
    pub(crate) fn draw(&self) -> Scene {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ends = points().flat_map(|point| {
            let deviation = point.deviation.unwrap_or(0.0);
            [point.y - deviation, point.y + deviation]
        });
        let (area, y) = PlotArea::with_y_scale(Interval::around(ends), TOP, HEIGHT);
        let x = self.x_scale(Interval::around(points().map(|point| point.x)), area.x_interval(8.0));
        let mut scene = Scene::new(WIDTH, 0.0);
        area.y_axis(&mut scene, &y, &self.y_title);
        area.x_axis(&mut scene, &x, &self.x_title);
        draw_series(&mut scene, &Axes { x, y }, &self.series);
        end_with_legend(&mut scene, &self.legend(), area.bottom + X_AXIS_HEIGHT);
        scene
    }

    /// Draws one panel for each name of a series with a style, two side by side. A panel has its own y axis and the
    /// lines of its name; all have the same x axis.
    pub(crate) fn draw_panels(&self) -> Scene {
        let mut names: Vec<&str> = Vec::new();
        for series in self.series.iter().filter(|series| series.style.is_some()) {
            if !names.contains(&&*series.name) {
                names.push(&series.name);
            }
        }
        let all = self.series.iter().flat_map(|series| &series.points);
        let x_values = Interval::around(all.map(|point| point.x));
        let columns = names.len().clamp(1, 2);
        let width = (WIDTH - PANEL_GAP * (columns - 1) as f64) / columns as f64;
        let mut scene = Scene::new(WIDTH, 0.0);
        let mut bottom = 0.0;
        for (index, name) in names.iter().enumerate() {
            let series: Vec<&LineSeries> = self.series.iter().filter(|series| series.name == *name).collect();
            let values = series.iter().flat_map(|series| &series.points).map(|point| point.y);
            let left = (width + PANEL_GAP) * (index % columns) as f64;
            let top = (PANEL_HEIGHT + PANEL_TITLE + X_AXIS_HEIGHT) * (index / columns) as f64 + PANEL_TITLE;
            let frame = Frame { left, right: left + width, top, height: PANEL_HEIGHT };
            let (area, y) = PlotArea::within(Interval::around(values), frame);
            let x = self.x_scale(x_values, area.x_interval(8.0));
            area.y_axis(&mut scene, &y, &self.y_title);
            area.x_axis(&mut scene, &x, &self.x_title);
            scene.bold_label((area.left, top - 8.0), Anchor::Start, ColorRole::Text, *name);
            draw_series(&mut scene, &Axes { x, y }, series);
            bottom = area.bottom + X_AXIS_HEIGHT;
        }
        // The titles of the panels name the lines.
        let legend: Vec<LegendEntry> =
            self.legend().into_iter().filter(|entry| !matches!(entry.symbol, Symbol::Line(_))).collect();
        end_with_legend(&mut scene, &legend, bottom);
        scene
    }

    /// Logarithmic for positive values over more than a factor of 20, as of a learning rate.
    fn x_scale(&self, values: Interval, coordinates: Interval) -> Scale {
        if self.whole_x {
            Scale::linear(values, coordinates).whole()
        } else if values.start > 0.0 && values.end / values.start >= 20.0 {
            Scale::log(values, coordinates)
        } else {
            Scale::linear(values, coordinates)
        }
    }

    /// One entry for each name: series may share one.
    fn legend(&self) -> Vec<LegendEntry> {
        let mut entries: Vec<LegendEntry> = Vec::new();
        for series in &self.series {
            let Some(style) = series.style else { continue };
            if !entries.iter().any(|entry| entry.name == series.name) {
                entries.push(LegendEntry { name: series.name.clone(), symbol: Symbol::Line(style) });
            }
        }
        if self.series.iter().any(|series| series.style.is_none()) {
            entries.push(LegendEntry { name: self.context_name.clone(), symbol: Symbol::ContextLine });
        }
        if self.series.iter().any(|series| series.marked().is_some()) {
            entries.push(LegendEntry { name: self.mark_name.clone(), symbol: Symbol::Ring });
        }
        entries
    }
}

/// Draws the lines without a style first, below the others.
fn draw_series<'s>(scene: &mut Scene, axes: &Axes, series: impl IntoIterator<Item = &'s LineSeries>) {
    let (styled, context): (Vec<_>, Vec<_>) = series.into_iter().partition(|series| series.style.is_some());
    for series in context {
        scene.line(series.points.iter().map(|point| axes.at(point)).collect(), CONTEXT_LINE);
    }
    for series in styled {
        if let Some(style) = &series.style {
            series.draw(scene, axes, style);
        }
    }
}

struct Axes {
    x: Scale,
    y: Scale,
}

impl Axes {
    fn at(&self, point: &DataPoint) -> Point {
        (self.x.at(point.x), self.y.at(point.y))
    }
}

impl LineSeries {
    /// The point that is marked.
    fn marked(&self) -> Option<&DataPoint> {
        self.points.iter().find(|point| Some(point.x) == self.mark)
    }

    fn draw(&self, scene: &mut Scene, axes: &Axes, style: &SeriesStyle) {
        let error_bar = Stroke { opacity: 0.8, ..Stroke::solid(style.color, 1.2) };
        for &DataPoint { x, y, deviation } in &self.points {
            if let Some(deviation) = deviation.filter(|deviation| *deviation > 0.0) {
                let ends = [y - deviation, y + deviation].map(|end| (axes.x.at(x), axes.y.at(end)));
                scene.line(ends.into(), error_bar);
            }
        }
        let points: Vec<Point> = self.points.iter().map(|point| axes.at(point)).collect();
        let interval = points.len().div_ceil(MAX_MARKERS).max(1);
        let markers: Vec<Point> = points.iter().copied().step_by(interval).collect();
        if let [(x, y)] = points[..] {
            scene.shapes.push(style.point((x, y), 4.5));
            scene.rule((x - 7.0, y), (x + 7.0, y), ColorRole::Muted);
        }
        scene.line(points, style.stroke(1.8));
        scene.shapes.extend(markers.into_iter().map(|at| style.point(at, 3.2)));
        if let Some(point) = self.marked() {
            ring(scene, axes.at(point), style.color);
        }
    }
}
