//! The gradient on two slates of one positive: with few strong competitors and with many.

use rivalry_runs::inspect::{Slate, TwoSlates};

use super::legend::{LegendEntry, REFERENCE_LINE, Symbol, end_with_legend};
use super::plot_area::{PlotArea, WIDTH, X_AXIS_HEIGHT, centered};
use crate::draw::{Anchor, ColorRole, Interval, Scale, Scene, SeriesStyle, Stroke, number, text_width};

const HEIGHT: f64 = 130.0;
/// The height of a panel's title and temperatures.
const TITLE_HEIGHT: f64 = 52.0;

/// Series indices of the softmax loss and of the run's loss.
const SL: usize = 0;
const OWN: usize = 1;

/// Draws the two slates one above the other on the same axes. `tau` is the base temperature of `loss`.
pub(crate) fn two_slates(slates: &TwoSlates, loss: &str, tau: Option<f64>) -> Scene {
    let both = [("few strong competitors", &slates.calm), ("many strong competitors", &slates.contested)];
    let negatives = || both.iter().flat_map(|(_, slate)| &slate.negatives);
    let highest = negatives().flat_map(|negative| [negative.sl, negative.this_loss]).fold(0.0, f64::max);
    let positives = both.iter().map(|(_, slate)| slate.score);
    let scores = Interval::around(negatives().map(|negative| negative.score).chain(positives));
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = 0.0;
    for (title, slate) in both {
        let (area, y) = PlotArea::with_y_scale(Interval::new(0.0, highest), top + TITLE_HEIGHT, HEIGHT);
        let x = Scale::linear(scores, area.x_interval(10.0));
        scene.bold_label((area.left, top + 16.0), Anchor::Start, ColorRole::Text, title);
        let competition = format!("c {:.3}", slate.competition);
        scene.label((area.right, top + 16.0), Anchor::End, ColorRole::Muted, competition);
        let panel = Panel { area, x, y };
        panel.draw(&mut scene, slate);
        let temperatures = tau.map(|tau| (SL, tau)).into_iter().chain([(OWN, slate.temperature)]);
        for (row, (series, temperature)) in temperatures.enumerate() {
            panel.draw_temperature(&mut scene, row, series, temperature);
        }
        top = area.bottom + X_AXIS_HEIGHT;
    }
    let point = |name: &str, series| LegendEntry {
        name: name.to_owned(),
        symbol: Symbol::Point(SeriesStyle::of(series)),
    };
    let positive = LegendEntry { name: "score of the positive".to_owned(), symbol: Symbol::ReferenceLine };
    end_with_legend(&mut scene, &[point("sl", SL), point(loss, OWN), positive], top + 2.0);
    scene
}

struct Panel {
    area: PlotArea,
    x: Scale,
    y: Scale,
}

impl Panel {
    fn draw(&self, scene: &mut Scene, slate: &Slate) {
        self.area.y_axis(scene, &self.y, "share of gradient");
        self.area.x_axis(scene, &self.x, "score");
        let positive = self.x.at(slate.score);
        scene.line(vec![(positive, self.area.top), (positive, self.area.bottom)], REFERENCE_LINE);
        let sl = slate.negatives.iter().map(|negative| (SL, negative.score, negative.sl));
        let own = slate.negatives.iter().map(|negative| (OWN, negative.score, negative.this_loss));
        for (series, score, share) in sl.chain(own) {
            let style = SeriesStyle::of(series);
            let (x, y) = (self.x.at(score), self.y.at(share));
            let stem = Stroke { opacity: 0.6, ..Stroke::solid(style.color, 1.2) };
            scene.line(vec![(x, self.y.at(0.0)), (x, y)], stem);
            scene.shapes.push(style.point((x, y), 4.0));
        }
    }

    /// Draws a temperature as a length on the score axis. Over a difference of one temperature in score, the weight of
    /// a negative with κ = 1 falls to 1/e.
    fn draw_temperature(&self, scene: &mut Scene, row: usize, series: usize, temperature: f64) {
        let start = self.area.left;
        let length = self.x.at(temperature) - self.x.at(0.0);
        let y = self.area.top - 24.0 + 14.0 * row as f64;
        let label = format!("τ {}", number((temperature * 1e4).round() / 1e4));
        let room = self.area.right - start - text_width(&label) - 12.0;
        let end = start + length.min(room);
        let color = SeriesStyle::of(series).color;
        let stroke = Stroke::solid(color, 2.5);
        scene.line(vec![(start, y), (end, y)], stroke);
        scene.line(vec![(start, y - 4.0), (start, y + 4.0)], stroke);
        // A length that was cut has no end mark.
        if length <= room {
            scene.line(vec![(end, y - 4.0), (end, y + 4.0)], stroke);
        }
        scene.label(centered(end + 6.0, y), Anchor::Start, color, label);
    }
}
