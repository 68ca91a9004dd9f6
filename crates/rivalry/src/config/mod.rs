//! What a run is made of, as data: settings with their defaults, layers of them, and named choices with checked
//! parameters.

mod by_cell;
mod entry;
mod found;
mod layers;
mod param;
mod preset;
mod settings;

pub use crate::data::DataConfig;
pub use entry::{Entry, choose};
pub use found::{Found, found};
pub use layers::{no_source, read_layer, setting_layer, source_layer};
pub(crate) use param::shown;
pub use param::{Param, Params, Range, Value};
pub use preset::{Cell, cells, preset_layer};
pub use settings::{Config, ModelConfig, Select, TrainConfig};
