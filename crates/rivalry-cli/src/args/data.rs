//! `rivalry data`, and the options for reading and preparing data.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

/// `rivalry data`
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Show how a data set is read, its first rows, size, density and popularity distribution
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Filter and split a log of interactions, and write the result as a benchmark folder
    Prepare {
        /// Output folder
        #[arg(index = 2)]
        out: PathBuf,
        /// Overwrite an existing data set
        #[arg(long)]
        force: bool,
        /// Memory limit, such as 4G; larger CSV and Parquet logs are prepared in parts on disk [default: free memory]
        #[arg(long, value_name = "SIZE", value_parser = super::memory_size)]
        max_memory: Option<u64>,
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
}

/// A data set, and how to read and prepare it.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// File, folder, '-' for standard input, or name of a data set (see 'rivalry list datasets')
    #[arg(value_name = "PATH|NAME", index = 1)]
    pub source: String,
    /// Folder to search first for named data sets
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub prepare: PrepareArgs,
    /// Seed of random splits [default: 0]
    #[arg(long, visible_alias = "split-seed", value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    pub seed: Option<u64>,
}

/// How files are read. What is not given is detected.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// File format (see 'rivalry list formats') [default: detected]
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Field delimiter: a character, 'tab' or 'space' [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// The first row is a header [default: detected]
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// There is no header row
    #[arg(long)]
    no_header: bool,
    /// User id column, by name or by number (from 1)
    #[arg(long, value_name = "COL")]
    user_col: Option<String>,
    /// Item id column
    #[arg(long, value_name = "COL")]
    item_col: Option<String>,
    /// Rating column; '' for none
    #[arg(long, value_name = "COL")]
    rating_col: Option<String>,
    /// Timestamp column; '' for none
    #[arg(long, value_name = "COL")]
    time_col: Option<String>,
    /// Leave out rows that can't be read instead of refusing the file; they are counted and listed
    #[arg(long)]
    skip_bad_rows: bool,
}

/// How interactions are filtered and split into training, validation and test sets.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preparing")]
pub struct PrepareArgs {
    /// Minimum rating of an interaction
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    min_rating: Option<f32>,
    /// Minimum interactions per user (iterative k-core filter)
    #[arg(long, value_name = "N")]
    user_core: Option<u32>,
    /// Minimum interactions per item (iterative k-core filter)
    #[arg(long, value_name = "N")]
    item_core: Option<u32>,
    /// Set both --user-core and --item-core
    #[arg(long, value_name = "N", conflicts_with_all = ["user_core", "item_core"])]
    k_core: Option<u32>,
    /// Test split: random, leave-last, time, popularity, given, or none to train on everything (see 'rivalry list splits')
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// Test fraction; implies --split random unless another split is given
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    test: Option<f64>,
    /// Test items per user, with --split leave-last
    #[arg(long, value_name = "N", requires = "split")]
    n: Option<u32>,
    /// Validation split: auto (as the test split), random, leave-last, time or none
    #[arg(long, value_name = "NAME")]
    validation: Option<String>,
    /// Validation fraction; implies --validation random, or time after --split time
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    valid_ratio: Option<f64>,
    /// Validation items per user, with --validation leave-last
    #[arg(long, value_name = "N", requires = "validation")]
    valid_n: Option<u32>,
}

/// A seed. Config files are TOML, whose integers are signed.
pub fn seed() -> impl clap::builder::TypedValueParser<Value = u64> {
    value_parser!(u64).range(..=i64::MAX as u64)
}

fn delimiter(text: &str) -> Result<char, String> {
    let mut chars = text.chars();
    match (text, chars.next(), chars.next()) {
        ("tab" | r"\t", ..) => Ok('\t'),
        ("space", ..) => Ok(' '),
        (_, Some(only), None) => Ok(only),
        _ => Err("expected one character, 'tab' or 'space'".to_owned()),
    }
}

/// A config layer made of the flags that were given.
#[derive(Debug, Default)]
pub struct Layer(pub toml::Table);

impl Layer {
    /// Sets a key such as `data.read.format`, if there is a value.
    pub fn put(&mut self, key: &str, value: Option<impl Into<toml::Value>>) {
        let Some(value) = value else { return };
        let (sections, name) = key.rsplit_once('.').unwrap_or(("", key));
        let mut table = &mut self.0;
        for section in sections.split('.').filter(|section| !section.is_empty()) {
            let next = table.entry(section).or_insert_with(|| toml::Table::new().into());
            let toml::Value::Table(next) = next else { return };
            table = next;
        }
        table.insert(name.to_owned(), value.into());
    }
}

impl ReadArgs {
    /// Adds these options to a config layer.
    pub fn put_into(&self, layer: &mut Layer) {
        let header = (self.header || self.no_header).then_some(self.header);
        layer.put("data.read.format", self.format.clone());
        layer.put("data.read.delimiter", self.delimiter.map(String::from));
        layer.put("data.read.header", header);
        layer.put("data.read.user", self.user_col.clone());
        layer.put("data.read.item", self.item_col.clone());
        layer.put("data.read.rating", self.rating_col.clone());
        layer.put("data.read.time", self.time_col.clone());
        layer.put("data.read.skip_bad_rows", self.skip_bad_rows.then_some(true));
    }
}

impl PrepareArgs {
    /// Adds these options and the seed of random splits to a config layer.
    pub fn put_into(&self, layer: &mut Layer, seed: Option<u64>) {
        layer.put("data.prepare.min_rating", self.min_rating.map(f64::from));
        layer.put("data.prepare.user_core", self.user_core.or(self.k_core));
        layer.put("data.prepare.item_core", self.item_core.or(self.k_core));
        layer.put("data.prepare.seed", seed.map(|seed| seed as i64));
        layer.put("data.prepare.split.type", self.split.clone());
        layer.put("data.prepare.split.test", self.test);
        layer.put("data.prepare.split.n", self.n);
        layer.put("data.prepare.validation.type", self.validation.clone());
        layer.put("data.prepare.validation.ratio", self.valid_ratio);
        layer.put("data.prepare.validation.n", self.valid_n);
    }
}

impl SourceArgs {
    /// The options as a config layer.
    pub fn layer(&self) -> toml::Table {
        let mut layer = Layer::default();
        layer.put("data.source", Some(self.source.clone()));
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.seed);
        layer.0
    }
}
