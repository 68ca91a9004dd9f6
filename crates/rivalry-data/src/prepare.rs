//! From raw records to a [`Dataset`]: merge, filter, split.

mod filters;
pub(crate) mod notes;

use serde::{Deserialize, Serialize};

use super::{
    Dataset, IdMap, Part, Parts, RawData, RawParts, filter,
    log::{Collected, Log, Needs},
    noise,
    ratings::Ratings,
    split::{AppliedSplit, Rules, Split, Validation},
    tally::Tally,
};
use crate::declared;
use crate::error::Result;

pub(crate) use self::filters::Filters;

declared! {
/// How raw records become a data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// Keep only records rated at least this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f32>,
    /// Keep only users with at least this many items, repeatedly until this and `item_core` both hold; 0 and 1
    /// keep all.
    pub user_core: u32,
    /// Keep only items with at least this many users; 0 and 1 keep all.
    pub item_core: u32,
    /// The seed of random splits.
    pub seed: u64,
    /// How the test set is chosen.
    pub split: Split,
    /// How the validation set is split off the training set.
    pub validation: Validation,
    /// False pairs to add to the training set, as a fraction of its pairs, to measure robustness against noise.
    #[serde(skip_serializing_if = "is_zero")]
    pub noise: f64,
}
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Merges duplicate pairs, filters by rating and k-core, and splits.
///
/// A pair in two given sets stays in the first of training, validation and test. If a source with given sets is split
/// differently, its sets are joined first. Held-out users and items that don't occur in training are kept, although no
/// model can learn them. Without a filter, dense ids are kept; a filter removes the ids without pairs and
/// keeps the order of the others.
///
/// # Errors
/// If settings are invalid or don't fit the source, or if the training set would be empty, or a test set that
/// is asked for.
pub fn prepare(name: &str, mut raw: RawData, preparation: &Preparation) -> Result<Dataset> {
    let given = matches!(raw.parts, RawParts::Given { .. });
    let no_test = matches!(&raw.parts, RawParts::Given { test, .. } if test.user.is_empty());
    let rules = Rules::of(preparation, given)?;
    let collected = Collected::of(&mut raw, preparation.min_rating)?;
    rules.check(collected.timed)?;
    let RawData { mut users, mut items, mut notes, reading, .. } = raw;
    let ratings = collected.ignored_ratings().map(|ratings| {
        let mut all = Ratings::default();
        all.add(ratings);
        all
    });
    notes::of_source(reading.as_ref(), ratings.as_ref(), rules.ignore_times(collected.timed), &mut notes);
    let log = filter(collected, (preparation, rules.needs()), &mut users, &mut items, &mut notes)?;
    if preparation.validation != (Validation::Auto {}) && log.any_in(Part::Valid) {
        notes.push(
            "the validation set given by the source is kept; to use another, split the source again, for example at \
             random, or remove its file"
                .to_owned(),
        );
    }

    let split = AppliedSplit::new(preparation, given, log.any_in(Part::Valid));
    let parts = rules.split(log);
    let tally = Tally::of(parts.as_ref());
    notes::of_sets(&tally, rules, rules.needs_test(!no_test), &mut notes)?;
    let warnings = notes::warnings(&tally);
    let train = match preparation.noise {
        0.0 => parts.train,
        share => {
            let noisy = noise::add(parts.as_ref(), share, preparation.seed)?;
            let added = noisy.len() - parts.train.len();
            notes.push(format!("{added} false pairs were added to the training set"));
            noisy
        }
    };
    let mut dataset = Dataset::new(name, users, items, Parts { train, ..parts }, notes)?;
    (dataset.split, dataset.warnings) = (Some(split), warnings);
    dataset.skipped = reading.map(|reading| reading.skipped).unwrap_or_default();
    Ok(dataset)
}

/// Merges and filters; the ids are reduced to those that remain.
fn filter(
    collected: Collected,
    (preparation, needs): (&Preparation, Needs),
    users: &mut IdMap,
    items: &mut IdMap,
    notes: &mut Vec<String>,
) -> Result<Log> {
    let mut filters = Filters::new(preparation, collected.read(), collected.rated())?;
    let mut log = collected.merge(needs, notes);
    if filters.has_core() {
        filter::k_core(&mut log, preparation.user_core, preparation.item_core);
        filters.core(log.table.len());
    }
    filters.check(log.table.len())?;
    if filters.any() {
        filter::compact(&mut log, users, items);
        notes.push(filters.note(users.len(), items.len()));
    }
    Ok(log)
}

#[cfg(test)]
mod tests;
