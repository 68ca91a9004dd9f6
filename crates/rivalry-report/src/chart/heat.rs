//! A heat map: two settings across and down, colour for what came of them.

use super::frame::{WIDTH, range};
use crate::draw::{Anchor, Ink, Scene, Stroke, number, width};

/// Values over two settings.
pub(crate) struct Heat {
    pub x: String,
    pub y: String,
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
    /// By y, then by x; none where nothing was run.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the colour is.
    pub measure: String,
}

const TOP: f64 = 8.0;
const CELL: f64 = 32.0;

impl Heat {
    pub(crate) fn draw(&self) -> Scene {
        let left = 28.0 + self.ys.iter().map(|y| width(&number(*y))).fold(0.0, f64::max);
        let step = ((WIDTH - 12.0 - left) / self.xs.len() as f64).min(80.0);
        let filled = || self.values.iter().flatten().flatten().copied();
        let (low, high) = range(filled());
        let mut scene = Scene::new(WIDTH, 0.0);
        let roomy = step >= 50.0;
        for (row, values) in self.values.iter().enumerate() {
            // The larger setting stands higher, as on an axis.
            let top = TOP + CELL * (self.ys.len() - 1 - row) as f64;
            scene.label(left - 6.0, top + CELL / 2.0 + 4.5, Anchor::End, Ink::Muted, number(self.ys[row]));
            for (column, value) in values.iter().enumerate() {
                let x = left + step * column as f64;
                let (from, to) = ((x + 1.0, top + 1.0), (x + step - 1.0, top + CELL - 1.0));
                let (middle, base) = (x + step / 2.0, top + CELL / 2.0 + 4.5);
                let Some(value) = *value else {
                    scene.label(middle, base, Anchor::Middle, Ink::Muted, "·");
                    continue;
                };
                let share = if high > low { (value - low) / (high - low) } else { 1.0 };
                scene.area(from, to, colour(share), 1.0);
                let best = value == high;
                if best {
                    scene.outline(from, to, Stroke { ink: Ink::Text, width: 2.5, dash: &[], opacity: 1.0 });
                }
                if roomy {
                    let text = format!("{value:.4}");
                    match best {
                        true => scene.heading(middle, base, Anchor::Middle, on(share), text),
                        false => scene.label(middle, base, Anchor::Middle, on(share), text),
                    }
                }
            }
        }
        self.axes(&mut scene, left, step);
        let top = TOP + CELL * self.ys.len() as f64 + 48.0;
        self.key(&mut scene, (left, WIDTH - 12.0), top, (low, high));
        scene.height = top + 36.0;
        scene
    }

    fn axes(&self, scene: &mut Scene, left: f64, step: f64) {
        let bottom = TOP + CELL * self.ys.len() as f64;
        let mut free = f64::NEG_INFINITY;
        for (column, x) in self.xs.iter().enumerate() {
            let (middle, label) = (left + step * (column as f64 + 0.5), number(*x));
            if middle - width(&label) / 2.0 > free {
                free = middle + width(&label) / 2.0 + 4.0;
                scene.label(middle, bottom + 16.0, Anchor::Middle, Ink::Muted, label);
            }
        }
        let middle = left + step * self.xs.len() as f64 / 2.0;
        scene.label(middle, bottom + 34.0, Anchor::Middle, Ink::Text, &*self.x);
        scene.upwards(12.0, (TOP + bottom) / 2.0, Ink::Text, &*self.y);
    }

    /// What the colours mean.
    fn key(&self, scene: &mut Scene, (left, right): (f64, f64), top: f64, (low, high): (f64, f64)) {
        const PARTS: usize = 40;
        let step = (right - left) / PARTS as f64;
        for part in 0..PARTS {
            let x = left + step * part as f64;
            scene.area((x, top), (x + step + 0.3, top + 10.0), colour(part as f64 / (PARTS - 1) as f64), 1.0);
        }
        let base = top + 26.0;
        scene.label(left, base, Anchor::Start, Ink::Muted, format!("{low:.4}"));
        scene.label(right, base, Anchor::End, Ink::Muted, format!("{high:.4}"));
        scene.label((left + right) / 2.0, base, Anchor::Middle, Ink::Text, &*self.measure);
    }
}

/// From dark blue to light yellow: lightness alone tells the order, for any eye and in print.
fn colour(share: f64) -> Ink {
    const STOPS: [[f64; 3]; 5] = [
        [32.0, 38.0, 100.0],
        [45.0, 88.0, 140.0],
        [62.0, 142.0, 140.0],
        [142.0, 196.0, 110.0],
        [250.0, 230.0, 110.0],
    ];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let [red, green, blue] = std::array::from_fn(|c| {
        let part = place - below as f64;
        (STOPS[below][c] * (1.0 - part) + STOPS[below + 1][c] * part).round() as u8
    });
    Ink::Fixed(red, green, blue)
}

/// The ink that can be read on that colour.
fn on(share: f64) -> Ink {
    if share < 0.55 { Ink::Fixed(255, 255, 255) } else { Ink::Fixed(20, 24, 28) }
}
