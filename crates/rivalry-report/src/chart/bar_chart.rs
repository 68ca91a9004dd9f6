//! Horizontal bar charts: one or more bars for each category, with error bars and a reference mark.

use super::legend::{LegendEntry, Symbol, end_with_legend};
use super::plot_area::{MARGIN, PlotArea, WIDTH, X_AXIS_HEIGHT, centered};
use crate::draw::{Anchor, ColorRole, Fill, Interval, Marker, Scale, Scene, Stroke, text_width};

/// Bars by category and series.
pub(crate) struct BarChart {
    pub x_title: String,
    pub categories: Vec<String>,
    pub series: Vec<BarSeries>,
    pub marks: Option<Marks>,
    /// The text of a value.
    pub format: fn(f64) -> String,
}

/// A reference value for each category, drawn as a diamond.
pub(crate) struct Marks {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

/// One bar for each category; none where there is no value.
pub(crate) struct BarSeries {
    pub name: String,
    pub color: ColorRole,
    pub bars: Vec<Option<Bar>>,
}

/// A bar.
#[derive(Clone, Copy)]
pub(crate) struct Bar {
    pub value: f64,
    /// The standard deviation of the value, drawn as an error bar.
    pub deviation: Option<f64>,
}

impl Bar {
    /// The ends of the error bar, clipped at zero.
    fn error_interval(self) -> Interval {
        let deviation = self.deviation.unwrap_or(0.0);
        let (low, high) = (self.value - deviation, self.value + deviation);
        match self.value < 0.0 {
            true => Interval::new(low, high.min(0.0)),
            false => Interval::new(low.max(0.0), high),
        }
    }
}

const GAP: f64 = 9.0;
const TOP: f64 = 8.0;
/// From a bar to the text of its value.
const VALUE_GAP: f64 = 5.0;

/// Where the rows of a bar chart are.
struct Rows {
    bar_height: f64,
    bars: usize,
}

impl Rows {
    fn height(&self) -> f64 {
        self.bar_height * self.bars as f64 + GAP
    }

    /// The vertical extent of a bar.
    fn bar(&self, category: usize, series: usize) -> Interval {
        let top = TOP + GAP / 2.0 + self.height() * category as f64 + self.bar_height * series as f64;
        Interval::new(top, top + self.bar_height)
    }

    /// The vertical centre of a category.
    fn middle(&self, category: usize) -> f64 {
        TOP + self.height() * (category as f64 + 0.5)
    }
}

impl BarChart {
    pub(crate) fn draw(&self) -> Scene {
        let rows =
            Rows { bar_height: if self.series.len() == 1 { 17.0 } else { 15.0 }, bars: self.series.len() };
        let names = self.categories.iter().map(|name| text_width(name)).fold(0.0, f64::max);
        let (area, scale) = self.layout(names, TOP + rows.height() * self.categories.len() as f64);
        let mut scene = Scene::new(WIDTH, 0.0);
        for tick in scale.ticks(6) {
            let x = scale.at(tick.value);
            scene.rule((x, TOP), (x, area.bottom), ColorRole::Grid);
        }
        area.x_axis(&mut scene, &scale, &self.x_title);
        for (category, name) in self.categories.iter().enumerate() {
            let middle = rows.middle(category);
            scene.label(centered(names + 4.0, middle), Anchor::End, ColorRole::Text, name);
            let mark =
                self.marks.as_ref().and_then(|marks| marks.values[category]).map(|value| scale.at(value));
            for (index, series) in self.series.iter().enumerate() {
                let rows = rows.bar(category, index);
                match series.bars[category] {
                    Some(bar) => {
                        let end = draw_bar(&mut scene, &scale, rows, (bar, series.color));
                        self.draw_value(&mut scene, bar.value, (end, rows.middle()), mark);
                    }
                    None => draw_dash(&mut scene, scale.at(0.0), rows.middle()),
                }
            }
            if let Some(x) = mark {
                scene.shapes.push(Marker::Diamond.shape((x, middle), 4.5, ColorRole::Background));
                scene.shapes.push(Marker::Diamond.shape((x, middle), 3.2, ColorRole::Text));
            }
        }
        scene.rule((scale.at(0.0), TOP), (scale.at(0.0), area.bottom), ColorRole::Muted);
        end_with_legend(&mut scene, &self.legend(), area.bottom + X_AXIS_HEIGHT);
        scene
    }

    /// The plot area and the scale of the values, with room for category names on the left and values beside the bars.
    fn layout(&self, names: f64, bottom: f64) -> (PlotArea, Scale) {
        let bars = || self.series.iter().flat_map(|series| series.bars.iter().flatten());
        let value_width = bars().map(|bar| text_width(&(self.format)(bar.value))).fold(0.0, f64::max) + 6.0;
        let marks = self.marks.iter().flat_map(|marks| marks.values.iter().flatten().copied());
        let ends = bars().flat_map(|bar| {
            let interval = bar.error_interval();
            [interval.start, interval.end]
        });
        let values = Interval::around(ends.chain(marks).chain([0.0]));
        let left = names + MARGIN + if values.start < 0.0 { value_width } else { 0.0 };
        let after_bars = value_width + if self.marks.is_some() { 6.0 } else { 0.0 };
        let right = WIDTH - if values.end > 0.0 { after_bars } else { 8.0 };
        let area = PlotArea { left, right, top: TOP, bottom, title: MARGIN };
        (area, Scale::linear(values, area.x_interval(0.0)))
    }

    /// Writes a value beside the end of its bar, clear of the mark.
    fn draw_value(&self, scene: &mut Scene, value: f64, (end, y): (f64, f64), mark: Option<f64>) {
        let text = (self.format)(value);
        if value < 0.0 {
            scene.label(centered(end - VALUE_GAP, y), Anchor::End, ColorRole::Text, text);
        } else {
            let mark_end = mark.map_or(f64::NEG_INFINITY, |x| x + 4.0);
            scene.label(centered(end.max(mark_end) + VALUE_GAP, y), Anchor::Start, ColorRole::Text, text);
        }
    }

    /// A single series without marks needs no legend.
    fn legend(&self) -> Vec<LegendEntry> {
        let series = self
            .series
            .iter()
            .map(|series| LegendEntry { name: series.name.clone(), symbol: Symbol::Area(series.color) });
        let marks = self
            .marks
            .iter()
            .map(|marks| LegendEntry { name: marks.name.clone(), symbol: Symbol::Mark(Marker::Diamond) });
        let entries: Vec<LegendEntry> = series.chain(marks).collect();
        if entries.len() > 1 { entries } else { Vec::new() }
    }
}

/// Draws a bar with its error bar, and returns the x coordinate of the end that is farther from zero.
fn draw_bar(scene: &mut Scene, scale: &Scale, rows: Interval, (bar, color): (Bar, ColorRole)) -> f64 {
    let (from, to) = ((scale.at(0.0), rows.start + 1.0), (scale.at(bar.value), rows.end - 1.0));
    scene.rectangle(from, to, Fill { color, opacity: 0.85 });
    let interval = bar.error_interval();
    let (start, end) = (scale.at(interval.start), scale.at(interval.end));
    if end > start {
        let (y, stroke) = (rows.middle(), Stroke::solid(ColorRole::Text, 1.5));
        scene.line(vec![(start, y), (end, y)], stroke);
        for x in [start, end] {
            scene.line(vec![(x, y - 3.5), (x, y + 3.5)], stroke);
        }
    }
    if bar.value < 0.0 { start } else { end }
}

/// Draws a dash where there is no value, beside the zero line.
fn draw_dash(scene: &mut Scene, zero: f64, y: f64) {
    let (x, anchor) = match WIDTH - zero > 20.0 {
        true => (zero + VALUE_GAP, Anchor::Start),
        false => (zero - VALUE_GAP, Anchor::End),
    };
    scene.label(centered(x, y), anchor, ColorRole::Muted, "–");
}
