//! A scene as PNG, at twice its size, on light paper.

use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint as Brush, Path as Outline, PathBuilder, Pixmap, Stroke as Pen,
    StrokeDash, Transform,
};

use super::Ink;
use super::scene::{Anchor, Paint, Scene, Shape, Stroke, Text};
use super::text::{Part, outlines};

const SCALE: f32 = 2.0;

/// The picture as the bytes of a file; none if it has no size.
pub(crate) fn png(scene: &Scene) -> Option<Vec<u8>> {
    let pixels = |length: f64| (length * f64::from(SCALE)).ceil() as u32;
    let mut canvas = Pixmap::new(pixels(scene.width), pixels(scene.height))?;
    canvas.fill(colour(Ink::Paper, 1.0));
    for shape in &scene.shapes {
        add(&mut canvas, shape);
    }
    canvas.encode_png().ok()
}

fn add(canvas: &mut Pixmap, shape: &Shape) {
    match shape {
        Shape::Path { points, closed, fill, stroke } => {
            let mut path = PathBuilder::new();
            for (at, &(x, y)) in points.iter().enumerate() {
                if at == 0 { path.move_to(x as f32, y as f32) } else { path.line_to(x as f32, y as f32) }
            }
            if *closed {
                path.close();
            }
            let Some(path) = path.finish() else { return };
            fill.iter().for_each(|paint| pour(canvas, &path, *paint));
            stroke.iter().for_each(|stroke| draw(canvas, &path, stroke));
        }
        Shape::Circle { x, y, r, fill } => {
            let path = PathBuilder::from_circle(*x as f32, *y as f32, *r as f32);
            if let (Some(path), Some(paint)) = (path, fill) {
                pour(canvas, &path, *paint);
            }
        }
        Shape::Text(text) => write(canvas, text),
    }
}

fn pour(canvas: &mut Pixmap, path: &Outline, Paint { ink, opacity }: Paint) {
    canvas.fill_path(path, &brush(ink, opacity), FillRule::Winding, onto_canvas(), None);
}

fn draw(canvas: &mut Pixmap, path: &Outline, stroke: &Stroke) {
    let dash = stroke.dash.iter().map(|x| *x as f32).collect();
    let pen = Pen {
        width: stroke.width as f32,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        dash: StrokeDash::new(dash, 0.0),
        ..Pen::default()
    };
    canvas.stroke_path(path, &brush(stroke.ink, stroke.opacity), &pen, onto_canvas(), None);
}

fn write(canvas: &mut Pixmap, text: &Text) {
    let Text { x, y, ref text, size, anchor, ink, bold, upwards } = *text;
    let (letters, scale, width) = outlines(text, size);
    let start = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::End => -width,
    };
    let mut path = PathBuilder::new();
    for (outline, at) in letters {
        let x = |x: f64| (start + at + x * scale) as f32;
        let y = |y: f64| (-y * scale) as f32;
        for part in outline {
            match *part {
                Part::Move([to_x, to_y]) => path.move_to(x(to_x), y(to_y)),
                Part::Line([to_x, to_y]) => path.line_to(x(to_x), y(to_y)),
                Part::Curve([by_x, by_y, to_x, to_y]) => path.quad_to(x(by_x), y(by_y), x(to_x), y(to_y)),
                Part::Close => path.close(),
            }
        }
    }
    let Some(path) = path.finish() else { return };
    let turn = if upwards { Transform::from_rotate(-90.0) } else { Transform::identity() };
    let place = turn.post_translate(x as f32, y as f32).post_concat(onto_canvas());
    canvas.fill_path(&path, &brush(ink, 1.0), FillRule::Winding, place, None);
    if bold {
        // One weight of the font is enough if strong letters get an outline.
        let pen = Pen { width: size as f32 * 0.05, ..Pen::default() };
        canvas.stroke_path(&path, &brush(ink, 1.0), &pen, place, None);
    }
}

fn onto_canvas() -> Transform {
    Transform::from_scale(SCALE, SCALE)
}

fn brush(ink: Ink, opacity: f64) -> Brush<'static> {
    let mut brush = Brush { anti_alias: true, ..Brush::default() };
    brush.set_color(colour(ink, opacity));
    brush
}

fn colour(ink: Ink, opacity: f64) -> Color {
    let [red, green, blue] = ink.light();
    Color::from_rgba8(red, green, blue, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(fill: impl FnOnce(&mut Scene)) -> Pixmap {
        let mut scene = Scene::new(60.0, 30.0);
        fill(&mut scene);
        Pixmap::decode_png(&png(&scene).unwrap()).unwrap()
    }

    fn is_ink(canvas: &Pixmap, x: u32, y: u32) -> bool {
        canvas.pixel(x, y).is_some_and(|pixel| pixel.red() < 128)
    }

    #[test]
    fn areas_are_where_they_should_be_at_twice_the_size() {
        let canvas = drawn(|scene| scene.area((10.0, 5.0), (20.0, 15.0), Ink::Text, 1.0));
        assert_eq!((canvas.width(), canvas.height()), (120, 60));
        assert!(is_ink(&canvas, 30, 20) && !is_ink(&canvas, 18, 20) && !is_ink(&canvas, 30, 32));
    }

    #[test]
    fn text_is_drawn_without_any_font_of_the_machine() {
        let canvas = drawn(|scene| scene.label(30.0, 20.0, Anchor::Middle, Ink::Text, "κ = 1"));
        let ink = canvas.pixels().iter().filter(|pixel| pixel.red() < 128).count();
        assert!((40..600).contains(&ink), "{ink}");
        let upright = drawn(|scene| scene.upwards(30.0, 15.0, Ink::Text, "llll"));
        assert_ne!(upright.data(), canvas.data());
    }
}
