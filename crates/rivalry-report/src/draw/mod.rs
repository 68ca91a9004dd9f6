//! Drawings as lists of shapes, and the SVG writer.

mod color;
mod number;
mod scale;
mod scene;
mod style;
mod svg;
mod text;

pub(crate) use color::{ColorRole, Rgb, style_sheet};
pub(crate) use number::number;
pub(crate) use scale::{Interval, Scale};
pub(crate) use scene::{Anchor, Fill, Point, Scene, Shape, Stroke};
pub(crate) use style::{Marker, SeriesStyle};
pub(crate) use svg::{Palette, svg};
pub(crate) use text::text_width;
