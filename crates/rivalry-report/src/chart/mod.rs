//! The kinds of chart, each from plain values to a scene. They are narrow enough to be readable on a phone.

mod bar_chart;
mod heat_map;
mod histogram;
mod legend;
mod line_chart;
mod plot_area;
mod slates;

pub(crate) use bar_chart::{Bar, BarChart, BarSeries, Marks};
pub(crate) use heat_map::HeatMap;
pub(crate) use histogram::{HistogramChart, HistogramSeries};
pub(crate) use line_chart::{DataPoint, LineChart, LineSeries};
pub(crate) use slates::two_slates;
