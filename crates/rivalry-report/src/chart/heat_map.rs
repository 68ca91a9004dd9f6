//! Heat maps: a metric over two parameters.

use super::plot_area::{MARGIN, WIDTH, centered, x_labels};
use crate::draw::{Anchor, ColorRole, Fill, Interval, Rgb, Scene, Stroke, number, text_width};

/// Values over two parameters.
pub(crate) struct HeatMap {
    pub x_title: String,
    pub y_title: String,
    pub xs: Vec<f64>,
    pub ys: Vec<f64>,
    /// By y, then by x; none for combinations without a run.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the colours show.
    pub metric: String,
}

const TOP: f64 = 8.0;
const CELL_HEIGHT: f64 = 32.0;
const MAX_CELL_WIDTH: f64 = 80.0;
/// Narrower cells have no room for their value.
const MIN_LABELLED_WIDTH: f64 = 50.0;

/// Where the cells of a heat map are.
struct Grid {
    left: f64,
    cell_width: f64,
    rows: usize,
}

impl Grid {
    /// The top of a row; the largest y is at the top.
    fn top(&self, row: usize) -> f64 {
        TOP + CELL_HEIGHT * (self.rows - 1 - row) as f64
    }

    fn bottom(&self) -> f64 {
        TOP + CELL_HEIGHT * self.rows as f64
    }

    /// The left edge of a column.
    fn column(&self, column: usize) -> f64 {
        self.left + self.cell_width * column as f64
    }
}

impl HeatMap {
    pub(crate) fn draw(&self) -> Scene {
        let left = 28.0 + self.ys.iter().map(|y| text_width(&number(*y))).fold(0.0, f64::max);
        let cell_width = ((WIDTH - MARGIN - left) / self.xs.len() as f64).min(MAX_CELL_WIDTH);
        let grid = Grid { left, cell_width, rows: self.ys.len() };
        let range = Interval::around(self.values.iter().flatten().flatten().copied());
        let mut scene = Scene::new(WIDTH, 0.0);
        for (row, values) in self.values.iter().enumerate() {
            let middle = grid.top(row) + CELL_HEIGHT / 2.0;
            let label = number(self.ys[row]);
            scene.label(centered(left - 6.0, middle), Anchor::End, ColorRole::Muted, label);
            for (column, value) in values.iter().enumerate() {
                match *value {
                    Some(value) => draw_cell(&mut scene, &grid, (row, column), (value, range)),
                    None => {
                        let center = centered(grid.column(column) + cell_width / 2.0, middle);
                        scene.label(center, Anchor::Middle, ColorRole::Muted, "·");
                    }
                }
            }
        }
        self.draw_axes(&mut scene, &grid);
        self.draw_color_bar(&mut scene, &grid, range);
        scene
    }

    fn draw_axes(&self, scene: &mut Scene, grid: &Grid) {
        let center = |column: usize| grid.column(column) + grid.cell_width / 2.0;
        let labels = self.xs.iter().enumerate().map(|(column, x)| (center(column), number(*x)));
        x_labels(scene, grid.bottom() + 16.0, labels);
        let middle = (grid.left + grid.column(self.xs.len())) / 2.0;
        scene.label((middle, grid.bottom() + 34.0), Anchor::Middle, ColorRole::Text, &*self.x_title);
        scene.vertical_label((MARGIN, (TOP + grid.bottom()) / 2.0), ColorRole::Text, &*self.y_title);
    }

    /// Draws the colour bar and ends the scene below it.
    fn draw_color_bar(&self, scene: &mut Scene, grid: &Grid, range: Interval) {
        const STEPS: usize = 40;
        let (left, right, top) = (grid.left, WIDTH - MARGIN, grid.bottom() + 48.0);
        let width = (right - left) / STEPS as f64;
        for step in 0..STEPS {
            let x = left + width * step as f64;
            let fill = Fill { color: color_at(step as f64 / (STEPS - 1) as f64), opacity: 1.0 };
            // Each step reaches to the right edge, so that no seam shows between two of them.
            scene.rectangle((x, top), (right, top + 10.0), fill);
        }
        let y = top + 26.0;
        scene.label((left, y), Anchor::Start, ColorRole::Muted, format!("{:.4}", range.start));
        scene.label((right, y), Anchor::End, ColorRole::Muted, format!("{:.4}", range.end));
        scene.label(((left + right) / 2.0, y), Anchor::Middle, ColorRole::Text, &*self.metric);
        scene.height = top + 36.0;
    }
}

/// Draws a cell with its value, which is outlined if it is the best of the range.
fn draw_cell(scene: &mut Scene, grid: &Grid, (row, column): (usize, usize), (value, range): (f64, Interval)) {
    let (x, top) = (grid.column(column), grid.top(row));
    let (from, to) = ((x + 1.0, top + 1.0), (x + grid.cell_width - 1.0, top + CELL_HEIGHT - 1.0));
    let share = if range.length() > 0.0 { (value - range.start) / range.length() } else { 1.0 };
    scene.rectangle(from, to, Fill { color: color_at(share), opacity: 1.0 });
    let best = value == range.end;
    if best {
        scene.outline(from, to, Stroke::solid(ColorRole::Text, 2.5));
    }
    if grid.cell_width >= MIN_LABELLED_WIDTH {
        let center = centered(x + grid.cell_width / 2.0, top + CELL_HEIGHT / 2.0);
        let (color, text) = (text_color_on(share), format!("{value:.4}"));
        match best {
            true => scene.bold_label(center, Anchor::Middle, color, text),
            false => scene.label(center, Anchor::Middle, color, text),
        }
    }
}

/// From dark blue to light yellow. Lightness increases throughout, so the order survives greyscale printing and colour
/// vision deficiencies.
fn color_at(share: f64) -> ColorRole {
    const STOPS: [Rgb; 5] =
        [Rgb(32, 38, 100), Rgb(45, 88, 140), Rgb(62, 142, 140), Rgb(142, 196, 110), Rgb(250, 230, 110)];
    let position = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let index = (position as usize).min(STOPS.len() - 2);
    let weight = position - index as f64;
    let (from, to) = (STOPS[index], STOPS[index + 1]);
    let mix = |from: u8, to: u8| (f64::from(from) * (1.0 - weight) + f64::from(to) * weight).round() as u8;
    ColorRole::Fixed(Rgb(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2)))
}

/// The text colour that is legible on that colour.
fn text_color_on(share: f64) -> ColorRole {
    ColorRole::Fixed(if share < 0.55 { Rgb(255, 255, 255) } else { Rgb(20, 24, 28) })
}
