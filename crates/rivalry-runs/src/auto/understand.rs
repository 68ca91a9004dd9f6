//! What a log is: its columns, ratings and times, and how to filter and split it.

use rivalry::config::{Config, DataConfig, source_layer};
use rivalry::data::{
    Dataset, LoadOptions, Preparation, RawData, RawParts, Records, Split, Unseen, load_raw, prepare,
};
use serde::{Deserialize, Serialize};

use super::ratings::Ratings;
use crate::run::DataSize;
use crate::{InputError, Result};

/// What was understood of a log, in sentences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Understood {
    /// The name of the data.
    pub data: String,
    /// Format and columns; empty if the data are not a file.
    pub columns: String,
    /// What the ratings are, and what they are used for.
    pub ratings: String,
    /// Whether there are times.
    pub times: String,
    /// How the log is split, and why so.
    pub split: String,
    /// Remarks on reading, filtering and splitting.
    pub notes: Vec<String>,
    /// The size of the data and of their parts.
    pub size: DataSize,
}

/// A log that was read, filtered and split.
pub(super) struct Prepared {
    pub understood: Understood,
    pub config: DataConfig,
    pub dataset: Dataset,
}

/// The largest share of held-out pairs whose users may be new: beyond it a split by one point in time measures how new
/// users are served, not how well the model knows the others.
const MOST_NEW: f64 = 0.5;

/// Reads a log, and decides what the settings leave open.
pub(super) fn understand(settings: &toml::Table, load: &LoadOptions) -> Result<Prepared> {
    let source = settings.get("data").and_then(|data| data.get("source")?.as_str()).unwrap_or_default();
    let mut config = Config::from_layers(&[source_layer(source), settings.clone()])?.data;
    let (name, raw) = load_raw(&config, load, &mut |_| {})?;
    check_items(&raw)?;
    let (ratings, min_rating) = match (records_of(&raw), config.prepare.min_rating) {
        (_, Some(min)) => (format!("rows rated {min} or more are kept, as asked for"), Some(min)),
        (Some(records), None) => Ratings::of(records).decide(),
        (None, None) => ("not used: the source comes with its own split".to_owned(), None),
    };
    config.prepare.min_rating = min_rating;
    let times = times(records_of(&raw));
    let columns = raw.reading.as_ref().map(|reading| {
        let (format, columns) = (reading.format_summary(), reading.column_summary());
        if columns.is_empty() { format } else { format!("{format}; {columns}") }
    });
    let asked = settings.get("data").and_then(|data| data.get("prepare")?.get("split")).is_some();
    let (split, preparation, dataset) = split(&name, raw, &config.prepare, asked)?;
    config.prepare = preparation;
    let understood = Understood {
        data: name,
        columns: columns.unwrap_or_default(),
        ratings,
        times: times.describe().to_owned(),
        split,
        notes: dataset.notes.clone(),
        size: DataSize::of(&dataset),
    };
    Ok(Prepared { understood, config, dataset })
}

/// The records of a log; `None` if the source comes in parts.
fn records_of(raw: &RawData) -> Option<&Records> {
    match &raw.parts {
        RawParts::Whole(records) => Some(records),
        RawParts::Given { .. } => None,
    }
}

fn check_items(raw: &RawData) -> Result<()> {
    match raw.items.len() {
        1 => Err(InputError::new("the log has a single item: there is nothing to rank")
            .field("data.read.item")
            .help("give a log with several items, or name the right column")
            .into()),
        _ => Ok(()),
    }
}

/// What the times of a log are good for.
#[derive(Clone, Copy, PartialEq)]
enum Times {
    Parts,
    Absent,
    Constant,
    Usable,
}

impl Times {
    fn describe(self) -> &'static str {
        match self {
            Self::Parts => "not used: the source comes with its own split",
            Self::Absent => "none",
            Self::Constant => "the same in all rows, so not used",
            Self::Usable => "in all rows",
        }
    }
}

fn times(records: Option<&Records>) -> Times {
    let Some(records) = records else { return Times::Parts };
    match records.time.as_deref() {
        None => Times::Absent,
        Some(times) if times.iter().all(|time| Some(time) == times.first()) => Times::Constant,
        Some(_) => Times::Usable,
    }
}

/// Splits by time where there is time, otherwise at random, unless the settings or the source say how. Returns the
/// reason, the settings and the data.
fn split(
    name: &str,
    raw: RawData,
    given: &Preparation,
    asked: bool,
) -> Result<(String, Preparation, Dataset)> {
    let times = times(records_of(&raw));
    if given.split != (Split::Auto {}) || times == Times::Parts {
        let why = match times {
            _ if asked => format!("{}, as asked for", split_name(&given.split)),
            Times::Parts => "as the source has it".to_owned(),
            _ => format!("{}, as the data set is usually split", split_name(&given.split)),
        };
        let dataset = prepare(name, raw, given)?;
        check_parts(&dataset)?;
        return Ok((why, given.clone(), dataset));
    }
    let mut reason = match times {
        Times::Usable => None,
        other => Some(format!(
            "at random, because the times are {}",
            match other {
                Times::Constant => "all the same",
                _ => "missing",
            }
        )),
    };
    if times == Times::Usable {
        for (split, why) in [
            (
                "time",
                "by time: the latest fifth of all pairs is the test part, and the latest tenth of the others the \
                      validation part",
            ),
            (
                "leave-last",
                "by time: the last item of each user is the test part, and the one before it the validation \
                            part; most users of the latest pairs appear only there",
            ),
        ] {
            let preparation = Preparation { split: Split::named(split)?, ..given.clone() };
            match prepare(name, raw.clone(), &preparation) {
                Ok(dataset) if is_usable(&dataset) => return Ok((why.to_owned(), preparation, dataset)),
                _ => {}
            }
        }
        reason = Some("at random, because no split by time leaves users to validate and test on".to_owned());
    }
    let preparation = Preparation { split: Split::named("random")?, ..given.clone() };
    let dataset = prepare(name, raw, &preparation).map_err(|_| too_small("nobody has items to hold out"))?;
    check_parts(&dataset)?;
    Ok((reason.unwrap_or_default(), preparation, dataset))
}

fn split_name(split: &Split) -> String {
    let table = toml::Table::try_from(split).unwrap_or_default();
    table.get("type").and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}

/// Whether both held-out parts have users that the training part knows.
fn is_usable(dataset: &Dataset) -> bool {
    [&dataset.valid, &dataset.test].iter().all(|part| {
        let new = Unseen::of(&dataset.train, part).user_pairs;
        !part.is_empty() && new as f64 <= MOST_NEW * part.len() as f64
    })
}

/// Refuses data on which no model can be selected or tested.
fn check_parts(dataset: &Dataset) -> Result<()> {
    match dataset.valid.is_empty() || dataset.test.is_empty() {
        false => Ok(()),
        true => Err(too_small("the validation part or the test part is empty")),
    }
}

fn too_small(why: &str) -> crate::Error {
    InputError::new(format!("the log is too small to choose a model by: {why}"))
        .help(
            "some users need at least 3 items: one to train, one to validate and one to test on; \
             'rivalry train --split none' fits a model without measuring it",
        )
        .into()
}
