//! Pictures as a list of shapes, and two ways to write them down: SVG and PNG.

mod ink;
mod png;
mod scale;
mod scene;
mod style;
mod svg;
mod text;

pub(crate) use ink::{Ink, style_sheet};
pub(crate) use png::png;
pub(crate) use scale::{Scale, number};
pub(crate) use scene::{Anchor, Paint, Scene, Shape, Stroke};
pub(crate) use style::{Marker, Style};
pub(crate) use svg::{Colours, escape, svg};
pub(crate) use text::width;
