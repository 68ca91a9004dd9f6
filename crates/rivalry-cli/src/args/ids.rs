//! How ids are written to tables.

use clap::{Args, ValueEnum};
use rivalry::data::IdMap;
use rivalry::data::export::{Column, ColumnType};

/// The type of the columns of ids.
#[derive(Debug, Args)]
pub struct IdsArgs {
    /// Type of ids in JSON and Parquet: 'auto' writes numbers if all ids of the data are whole numbers without leading
    /// zeros, otherwise text; 'text' makes the type independent of the data
    #[arg(long, value_enum, value_name = "TYPE", default_value_t = IdType::Auto, hide_possible_values = true)]
    ids: IdType,
}

/// The type of a column of ids.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum IdType {
    Auto,
    Text,
}

impl IdsArgs {
    /// A column of these ids.
    pub fn column(&self, name: &str, ids: &IdMap) -> Column {
        match self.ids {
            IdType::Auto => Column::of_ids(name, ids),
            IdType::Text => Column::new(name, ColumnType::Text),
        }
    }
}
