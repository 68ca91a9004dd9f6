//! Two slates of one positive: which negatives the gradient goes to, with few strong competitors and with many.

use rivalry_runs::inspect::{Slate, TwoSlates};

use super::frame::{Frame, UNDER, WIDTH, range};
use super::legend::{DASHED, Entry, Sample, legend};
use crate::draw::{Anchor, Ink, Scale, Scene, Stroke, Style, number, width};

const HEIGHT: f64 = 130.0;
const ABOVE: f64 = 52.0;

/// The two panels, one above the other on the same axes. `tau` is the temperature without the pair's own part.
pub(crate) fn two_slates(slates: &TwoSlates, own: &str, tau: Option<f64>) -> Scene {
    let both = [("few strong competitors", &slates.calm), ("many strong competitors", &slates.contested)];
    let negatives = || both.iter().flat_map(|(_, slate)| &slate.negatives);
    let (_, highest) = range(negatives().flat_map(|negative| [negative.sl, negative.this_loss]));
    let positives = both.iter().map(|(_, slate)| slate.score);
    let scores = range(negatives().map(|negative| negative.score).chain(positives));
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = 0.0;
    for (title, slate) in both {
        let (frame, y) = Frame::beside((0.0, highest), top + ABOVE, HEIGHT);
        let x = Scale::linear(scores, (frame.left + 10.0, frame.right - 10.0));
        scene.heading(frame.left, top + 16.0, Anchor::Start, Ink::Text, title);
        let figures = format!("c {:.3}", slate.competition);
        scene.label(frame.right, top + 16.0, Anchor::End, Ink::Muted, figures);
        panel(&mut scene, &frame, (&x, &y), slate, tau);
        top = frame.bottom + UNDER;
    }
    let point = |name: &str, index| Entry { name: name.to_owned(), sample: Sample::Point(Style::of(index)) };
    let line = Entry { name: "score of the positive".to_owned(), sample: Sample::Dashed };
    let entries = [point("sl", 0), point(own, 1), line];
    scene.height = legend(&mut scene, &entries, (12.0, WIDTH - 12.0), top + 2.0) + 6.0;
    scene
}

fn panel(scene: &mut Scene, frame: &Frame, (x, y): (&Scale, &Scale), slate: &Slate, tau: Option<f64>) {
    frame.y_axis(scene, y, "share of gradient");
    frame.x_axis(scene, x, "score");
    let temperatures = tau.map(|tau| (0, tau)).into_iter().chain([(1, slate.temperature)]);
    for (place, (series, temperature)) in temperatures.enumerate() {
        ruler(scene, frame, x, (series, place), temperature);
    }
    let positive = x.at(slate.score);
    scene.line(vec![(positive, frame.top), (positive, frame.bottom)], DASHED);
    for (series, share) in [(0, false), (1, true)] {
        let style = Style::of(series);
        for negative in &slate.negatives {
            let value = if share { negative.this_loss } else { negative.sl };
            let (x, top) = (x.at(negative.score), y.at(value));
            let stem = Stroke { ink: style.ink, width: 1.2, dash: &[], opacity: 0.6 };
            scene.line(vec![(x, y.at(0.0)), (x, top)], stem);
            scene.shapes.push(style.point(x, top, 4.0));
        }
    }
}

/// The temperature as a length on the score axis: over it a weight falls to 1/e, where κ is one.
fn ruler(scene: &mut Scene, frame: &Frame, x: &Scale, (series, place): (usize, usize), temperature: f64) {
    let length = x.at(temperature) - x.at(0.0);
    let y = frame.top - 24.0 + 14.0 * place as f64;
    let ink = Style::of(series).ink;
    let label = format!("τ {}", number((temperature * 1e4).round() / 1e4));
    let room = frame.right - frame.left - width(&label) - 12.0;
    let end = frame.left + length.min(room);
    let stroke = Stroke { ink, width: 2.5, dash: &[], opacity: 1.0 };
    scene.line(vec![(frame.left, y), (end, y)], stroke);
    let ticks = if length <= room { vec![frame.left, end] } else { vec![frame.left] };
    for x in ticks {
        scene.line(vec![(x, y - 4.0), (x, y + 4.0)], stroke);
    }
    scene.label(end + 6.0, y + 4.5, Anchor::Start, ink, label);
}
