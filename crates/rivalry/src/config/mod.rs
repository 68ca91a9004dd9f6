//! The settings of a run as data: typed sections, checked, from layers that lie over each other.

mod default_loss;
mod implied_split;
mod layers;
mod legacy;
mod parse;
mod patience;
mod reference;
mod settings;

pub use layers::{CONFIG_FORMAT, no_source, parse_layer, read_layer, setting_layer, source_layer};
pub use reference::{SettingEntry, settings};
pub use settings::{Config, GradientConfig, InitialTables, Select, TrainConfig};

pub use crate::data::DataConfig;
