//! Bars that lie, so that names can be read: one or more for each category, with whiskers and a mark beside them.

use super::frame::{Frame, UNDER, WIDTH, range};
use super::legend::{Entry, Sample, legend};
use crate::draw::{Anchor, Ink, Marker, Scale, Scene, Stroke, width};

/// Bars by category and series.
pub(crate) struct Bars {
    /// What is measured.
    pub axis: String,
    pub categories: Vec<String>,
    pub series: Vec<BarSeries>,
    /// A mark for each category, with its name in the legend.
    pub marks: Option<(String, Vec<Option<f64>>)>,
    /// How values are written.
    pub write: fn(f64) -> String,
}

/// One bar for each category.
pub(crate) struct BarSeries {
    pub name: String,
    pub ink: Ink,
    /// The value and how far it strays.
    pub values: Vec<Option<(f64, Option<f64>)>>,
}

const GAP: f64 = 9.0;
const TOP: f64 = 8.0;

impl Bars {
    pub(crate) fn draw(&self) -> Scene {
        let thickness = if self.series.len() == 1 { 17.0 } else { 15.0 };
        let names = self.categories.iter().map(|name| width(name)).fold(0.0, f64::max);
        let values = || self.series.iter().flat_map(|series| series.values.iter().flatten());
        let written = values().map(|(value, _)| width(&(self.write)(*value))).fold(0.0, f64::max) + 6.0;
        let marks = self.marks.iter().flat_map(|(_, marks)| marks.iter().flatten().copied());
        let ends = values().flat_map(|&(value, strays)| whisker(value, strays));
        let (low, high) = range(ends.chain(marks).chain([0.0]));
        let beside = written + if self.marks.is_some() { 6.0 } else { 0.0 };

        let row = thickness * self.series.len() as f64 + GAP;
        let bottom = TOP + row * self.categories.len() as f64;
        let left = names + 12.0 + if low < 0.0 { written } else { 0.0 };
        let frame = Frame { left, right: WIDTH - if high > 0.0 { beside } else { 8.0 }, top: TOP, bottom };
        let scale = Scale::linear((low, high), (frame.left, frame.right));
        let mut scene = Scene::new(WIDTH, 0.0);
        for (value, _) in scale.ticks(6) {
            scene.rule((scale.at(value), TOP), (scale.at(value), bottom), Ink::Grid);
        }
        frame.x_axis(&mut scene, &scale, &self.axis);
        for (at, name) in self.categories.iter().enumerate() {
            let top = TOP + GAP / 2.0 + row * at as f64;
            let middle = top + (row - GAP) / 2.0;
            scene.label(names + 4.0, middle + 4.5, Anchor::End, Ink::Text, name);
            let mark = self.marks.as_ref().and_then(|(_, marks)| marks[at]);
            for (place, series) in self.series.iter().enumerate() {
                let top = top + thickness * place as f64;
                self.bar(&mut scene, &scale, series, at, (top, top + thickness), mark);
            }
            if let Some(mark) = mark {
                scene.shapes.push(Marker::Diamond.shape(scale.at(mark), middle, 4.5, Ink::Paper));
                scene.shapes.push(Marker::Diamond.shape(scale.at(mark), middle, 3.2, Ink::Text));
            }
        }
        scene.rule((scale.at(0.0), TOP), (scale.at(0.0), bottom), Ink::Muted);
        scene.height = legend(&mut scene, &self.entries(), (12.0, WIDTH - 12.0), bottom + UNDER) + 6.0;
        scene
    }

    fn bar(
        &self,
        scene: &mut Scene,
        scale: &Scale,
        series: &BarSeries,
        at: usize,
        (top, end): (f64, f64),
        mark: Option<f64>,
    ) {
        let middle = (top + end) / 2.0;
        let Some((value, strays)) = series.values[at] else {
            let zero = scale.at(0.0);
            let room = WIDTH - zero > 20.0;
            let (x, anchor) = if room { (zero + 5.0, Anchor::Start) } else { (zero - 5.0, Anchor::End) };
            return scene.label(x, middle + 4.5, anchor, Ink::Muted, "–");
        };
        scene.area((scale.at(0.0), top + 1.0), (scale.at(value), end - 1.0), series.ink, 0.85);
        let [from, to] = whisker(value, strays).map(|end| scale.at(end));
        if to > from {
            let thin = Stroke { ink: Ink::Text, width: 1.5, dash: &[], opacity: 1.0 };
            scene.line(vec![(from, middle), (to, middle)], thin);
            for x in [from, to] {
                scene.line(vec![(x, middle - 3.5), (x, middle + 3.5)], thin);
            }
        }
        let text = (self.write)(value);
        if value < 0.0 {
            scene.label(from - 5.0, middle + 4.5, Anchor::End, Ink::Text, text);
        } else {
            let marked = mark.map_or(f64::NEG_INFINITY, |mark| scale.at(mark) + 4.0);
            scene.label(to.max(marked) + 5.0, middle + 4.5, Anchor::Start, Ink::Text, text);
        }
    }

    /// A single series needs no name, unless there are marks beside it.
    fn entries(&self) -> Vec<Entry> {
        let series = self.series.iter().map(|s| Entry { name: s.name.clone(), sample: Sample::Area(s.ink) });
        let marks = self
            .marks
            .iter()
            .map(|(name, _)| Entry { name: name.clone(), sample: Sample::Mark(Marker::Diamond) });
        let all: Vec<Entry> = series.chain(marks).collect();
        if all.len() > 1 { all } else { Vec::new() }
    }
}

/// From where to where a value strays, on its own side of zero.
fn whisker(value: f64, strays: Option<f64>) -> [f64; 2] {
    let strays = strays.unwrap_or(0.0);
    match value < 0.0 {
        true => [value - strays, (value + strays).min(0.0)],
        false => [(value - strays).max(0.0), value + strays],
    }
}
