//! How data are read and prepared, and the commands about data.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

/// `rivalry data`
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Size, density and long tail of a data set
    Stats {
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
    /// Filter and split a file of interactions into a benchmark folder
    Prepare {
        /// The folder to make
        #[arg(index = 2)]
        out: PathBuf,
        /// Replace the folder if it exists
        #[arg(long)]
        force: bool,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        source: SourceArgs,
    },
}

/// A data set and how to take it.
#[derive(Debug, Args)]
pub struct SourceArgs {
    /// A file or folder, or the name of a known data set
    #[arg(value_name = "PATH|NAME", index = 1)]
    pub source: String,
    /// Where named data sets are looked for first
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub prepare: PrepareArgs,
    /// The seed of random splits
    #[arg(long, value_name = "N", value_parser = seed(), help_heading = "Preparing")]
    pub seed: Option<u64>,
}

/// How files are read; what isn't said is found out from the file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub struct ReadArgs {
    /// The format of the file (see 'rivalry list formats')
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// What stands between two fields: a character, 'tab' or 'space'
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<char>,
    /// The first row names the columns
    #[arg(long, conflicts_with = "no_header")]
    header: bool,
    /// There is no row of names
    #[arg(long)]
    no_header: bool,
    /// The column of user ids, by name or number (from 1)
    #[arg(long, value_name = "COL")]
    user_col: Option<String>,
    /// The column of item ids
    #[arg(long, value_name = "COL")]
    item_col: Option<String>,
    /// The column of ratings; '' for none
    #[arg(long, value_name = "COL")]
    rating_col: Option<String>,
    /// The column of times; '' for none
    #[arg(long, value_name = "COL")]
    time_col: Option<String>,
}

/// How records become training, validation and test parts.
#[derive(Debug, Args)]
#[command(next_help_heading = "Preparing")]
pub struct PrepareArgs {
    /// Keep records rated at least this
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    min_rating: Option<f32>,
    /// Keep users with at least this many items
    #[arg(long, value_name = "N")]
    user_core: Option<u32>,
    /// Keep items with at least this many users
    #[arg(long, value_name = "N")]
    item_core: Option<u32>,
    /// Both of these
    #[arg(long, value_name = "N", conflicts_with_all = ["user_core", "item_core"])]
    k_core: Option<u32>,
    /// How the test part comes about: random, leave-last, time, popularity or given
    #[arg(long, value_name = "NAME")]
    split: Option<String>,
    /// The share that goes to the test part
    #[arg(long, value_name = "SHARE", requires = "split", allow_negative_numbers = true)]
    test: Option<f64>,
    /// How many last items of each user, with --split leave-last
    #[arg(long, value_name = "N", requires = "split")]
    n: Option<u32>,
    /// How the validation part comes about: auto (as the test part), random, leave-last, time or none
    #[arg(long, value_name = "NAME")]
    validation: Option<String>,
    /// The share that goes to the validation part
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    valid_ratio: Option<f64>,
    /// How many last items of each user, with --validation leave-last
    #[arg(long, value_name = "N", requires = "validation")]
    valid_n: Option<u32>,
}

/// Seeds end where TOML's integers do.
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

/// Settings as a config has them, from whatever flags were given.
#[derive(Debug, Default)]
pub struct Layer(pub toml::Table);

impl Layer {
    /// Puts a value at a key such as `data.read.format`, if there is a value.
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
    /// As settings.
    pub fn put_into(&self, layer: &mut Layer) {
        let header = (self.header || self.no_header).then_some(self.header);
        layer.put("data.read.format", self.format.clone());
        layer.put("data.read.delimiter", self.delimiter.map(String::from));
        layer.put("data.read.header", header);
        layer.put("data.read.user", self.user_col.clone());
        layer.put("data.read.item", self.item_col.clone());
        layer.put("data.read.rating", self.rating_col.clone());
        layer.put("data.read.time", self.time_col.clone());
    }
}

impl PrepareArgs {
    /// As settings, with the seed of random splits.
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
    /// The options as settings.
    pub fn layer(&self) -> toml::Table {
        let mut layer = Layer::default();
        layer.put("data.source", Some(self.source.clone()));
        self.read.put_into(&mut layer);
        self.prepare.put_into(&mut layer, self.seed);
        layer.0
    }
}
