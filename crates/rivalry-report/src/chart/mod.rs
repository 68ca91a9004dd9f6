//! The kinds of figure, each from plain values to a scene. They are narrow, so that a phone shows them at a readable size.

mod bars;
mod frame;
mod heat;
mod histogram;
mod legend;
mod lines;
mod slates;

pub(crate) use bars::{BarSeries, Bars};
pub(crate) use heat::Heat;
pub(crate) use histogram::{HistogramSeries, Histograms};
pub(crate) use lines::{Line, Lines};
pub(crate) use slates::two_slates;
