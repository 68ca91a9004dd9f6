//! Curves, one line a series, with whiskers where a value strays.

use super::frame::{Frame, UNDER, WIDTH, range};
use super::legend::{Entry, FAINT, Sample, legend};
use crate::draw::{Ink, Scale, Scene, Stroke, Style};

/// Lines over a common x.
pub(crate) struct Lines {
    pub x: String,
    pub y: String,
    pub lines: Vec<Line>,
    /// What the faint lines are, if there are any.
    pub faint: String,
}

/// One line.
pub(crate) struct Line {
    pub name: String,
    /// None for a line that is only context.
    pub style: Option<Style>,
    /// By x, and how far y strays.
    pub points: Vec<(f64, f64, Option<f64>)>,
}

const HEIGHT: f64 = 210.0;
const TOP: f64 = 10.0;

impl Lines {
    pub(crate) fn draw(&self) -> Scene {
        let points = || self.lines.iter().flat_map(|line| line.points.iter());
        let ends =
            points().flat_map(|&(_, y, strays)| [y - strays.unwrap_or(0.0), y + strays.unwrap_or(0.0)]);
        let (frame, y) = Frame::beside(range(ends), TOP, HEIGHT);
        let (low, high) = range(points().map(|&(x, _, _)| x));
        let places = (frame.left + 8.0, frame.right - 8.0);
        // Values that were chosen by factors, not by steps, stand apart only on a scale of factors.
        let x = match (&*self.x, low > 0.0 && high / low >= 20.0) {
            ("epoch", _) => Scale::linear((low, high), places).whole(),
            (_, true) => Scale::log((low, high), places),
            (_, false) => Scale::linear((low, high), places),
        };
        let mut scene = Scene::new(WIDTH, 0.0);
        frame.y_axis(&mut scene, &y, &self.y);
        frame.x_axis(&mut scene, &x, &self.x);
        let (faint, strong): (Vec<&Line>, Vec<&Line>) =
            self.lines.iter().partition(|line| line.style.is_none());
        for line in faint {
            scene.line(line.points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect(), FAINT);
        }
        for line in &strong {
            line.style.iter().for_each(|style| line.draw(&mut scene, &x, &y, style));
        }
        let bottom = frame.bottom + UNDER;
        scene.height = legend(&mut scene, &self.entries(), (12.0, WIDTH - 12.0), bottom) + 6.0;
        scene
    }

    /// Every name once: the runs of one loss share it.
    fn entries(&self) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        for line in &self.lines {
            let Some(style) = line.style else { continue };
            if !entries.iter().any(|entry| entry.name == line.name) {
                entries.push(Entry { name: line.name.clone(), sample: Sample::Line(style) });
            }
        }
        if self.lines.iter().any(|line| line.style.is_none()) {
            entries.push(Entry { name: self.faint.clone(), sample: Sample::Faint });
        }
        entries
    }
}

impl Line {
    fn draw(&self, scene: &mut Scene, x: &Scale, y: &Scale, style: &Style) {
        let places: Vec<(f64, f64)> = self.points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        for (&(_, value, strays), &(at, _)) in self.points.iter().zip(&places) {
            if let Some(strays) = strays.filter(|strays| *strays > 0.0) {
                let whisker = Stroke { ink: style.ink, width: 1.2, dash: &[], opacity: 0.8 };
                scene.line(vec![(at, y.at(value - strays)), (at, y.at(value + strays))], whisker);
            }
        }
        scene.line(places.clone(), style.stroke(1.8));
        // Forty points are a line anyway; a mark on each would only thicken it.
        let every = places.len().div_ceil(12).max(1);
        for &(x, y) in places.iter().step_by(every) {
            scene.shapes.push(style.point(x, y, 3.2));
        }
        if let [(x, y)] = places[..] {
            scene.shapes.push(style.point(x, y, 4.5));
            scene.rule((x - 7.0, y), (x + 7.0, y), Ink::Muted);
        }
    }
}
