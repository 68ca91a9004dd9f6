//! From raw records to a [`Dataset`]: merge, filter, split.

use serde::{Deserialize, Serialize};

use super::{
    Dataset, IdMap, Interactions, Part, Parts, RawData, RawParts, filter,
    log::{Collected, Log, Needs},
    noise,
    ratings::note_ignored_ratings,
    split::{AppliedSplit, Rule, Split, Validation, floor_share},
    stats::{Unseen, count},
};
use crate::declared;
use crate::error::{InputError, Result};
use crate::rng::Purpose;

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
    if preparation.split == (Split::Given {}) && !given {
        let error = InputError::new("the source is a single log without training and test sets");
        let help = "use another split, such as `data.prepare.split.type = \"random\"`";
        return Err(error.field("data.prepare.split.type").help(help).into());
    }
    noise::check(preparation.noise)?;
    let test_rule = preparation.split.rule(given);
    let rules = Rules { test: test_rule, valid: preparation.validation.rule(test_rule) };
    let needs_test = match test_rule {
        Some(Rule::Nothing) => false,
        Some(_) => true,
        None => !no_test,
    };
    let collected = Collected::of(&mut raw, preparation.min_rating)?;
    rules.test.map_or(Ok(()), |rule| rule.check("split", "test", collected.timed))?;
    rules.valid.map_or(Ok(()), |rule| rule.check("validation", "ratio", collected.timed))?;
    let ignores_times = preparation.split == (Split::Auto {})
        && collected.timed
        && matches!(test_rule, Some(Rule::Random { .. }));
    let RawData { mut users, mut items, mut notes, reading, .. } = raw;
    if let Some(reading) = reading.as_ref().filter(|reading| reading.comments > 0) {
        notes.push(format!("ignored {} (starting with #)", count(reading.comments, "comment line")));
    }
    collected.ignored_ratings().iter().for_each(|ratings| note_ignored_ratings(ratings, &mut notes));
    if ignores_times {
        notes.push(
            "the log has times, which a random split ignores: --split time or leave-last tests on the future"
                .to_owned(),
        );
    }
    let log = filter(collected, (preparation, rules.needs()), &mut users, &mut items, &mut notes)?;
    if preparation.validation != (Validation::Auto {}) && log.any_in(Part::Valid) {
        notes.push(
            "the validation set given by the source is kept; to use another, split the source again, for example at \
             random, or remove its file"
                .to_owned(),
        );
    }

    let split = AppliedSplit::new(preparation, given, log.any_in(Part::Valid));
    let parts = rules.split(log, preparation.seed);
    check_and_note(parts.as_ref(), rules, needs_test, &mut notes)?;
    let warnings = [(Part::Valid, &parts.valid), (Part::Test, &parts.test)];
    let warnings =
        warnings.into_iter().filter_map(|(part, held_out)| mostly_unseen(&parts.train, part, held_out));
    let warnings = warnings.collect();
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
    let Preparation { min_rating, user_core, item_core, .. } = *preparation;
    let read = collected.read();
    if read == 0 {
        return Err(InputError::new("there are no records").help("give a file with interactions").into());
    }
    let mut steps = vec![format!("{} read", count(read, "record"))];
    if let Some(min) = min_rating {
        steps.push(format!("{} rated {min} or more", count(collected.rated(), "record")));
    }
    let mut log = collected.merge(needs, notes);
    if user_core > 1 || item_core > 1 {
        filter::k_core(&mut log, user_core, item_core);
        let pairs = count(log.table.len(), "pair");
        steps.push(format!("{pairs} in the core (users with {user_core}, items with {item_core} or more)"));
    }
    let filters = steps.join("; ");
    if log.table.is_empty() {
        let error = InputError::new(format!("the filters leave nothing: {filters}"));
        let help = "lower `data.prepare.min_rating`, `data.prepare.user_core` or `data.prepare.item_core`";
        return Err(error.help(help).into());
    }
    if steps.len() > 1 {
        filter::compact(&mut log, users, items);
        let (users, items) = (count(users.len(), "user"), count(items.len(), "item"));
        notes.push(format!("filtered: {filters}; {users} and {items} remain"));
    }
    Ok(log)
}

/// How the sets are chosen; `None` keeps the given ones.
#[derive(Clone, Copy)]
struct Rules {
    test: Option<Rule>,
    valid: Option<Rule>,
}

impl Rules {
    /// What the rules have to know of the interactions.
    fn needs(self) -> Needs {
        let times = [self.test, self.valid].into_iter().flatten().any(Rule::needs_times);
        Needs { parts: self.test.is_none(), times }
    }

    fn split(self, mut log: Log, seed: u64) -> Parts<Interactions> {
        let held_out = match self.test {
            Some(rule) => rule.hold_out(&log, seed, Purpose::TestSplit),
            None => log.in_part(Part::Test),
        };
        let test = log.split_off(&held_out);
        let held_out = match self.valid {
            Some(rule) if !log.any_in(Part::Valid) => rule.hold_out(&log, seed, Purpose::ValidationSplit),
            _ => log.in_part(Part::Valid),
        };
        let valid = log.split_off(&held_out);
        Parts { train: log.table, valid, test }
    }
}

/// Refuses an empty training set, and an empty test set where one is needed, and notes what is unusual about the sets.
fn check_and_note(
    parts: Parts<&Interactions>,
    rules: Rules,
    needs_test: bool,
    notes: &mut Vec<String>,
) -> Result<()> {
    for (name, part) in [(Part::Train.name(), parts.train), (Part::Test.name(), parts.test)] {
        if part.is_empty() && (name == Part::Train.name() || needs_test) {
            let error = InputError::new(format!("the split leaves the {name} set empty"));
            let help = "use another split or fraction, more data, or `data.prepare.split.type = \"none\"` to train on \
                        everything";
            return Err(error.field("data.prepare.split.type").help(help).into());
        }
    }
    let (held_out, pairs) = (parts.test.len(), parts.into_iter().map(Interactions::len).sum());
    if let Some(Rule::Popularity { share }) = rules.test
        && held_out < floor_share(share, pairs)
    {
        let reason = "every user and every item keeps at least one pair in training";
        notes.push(format!("the test set has only {held_out} of {pairs} pairs: {reason}"));
    }
    if parts.valid.is_empty() && rules.valid.is_some() {
        notes.push("there is no validation set: no user has enough training items".to_owned());
    }
    note_unseen(parts.train, Part::Valid, parts.valid, notes);
    note_unseen(parts.train, Part::Test, parts.test, notes);
    Ok(())
}

/// Notes how many users and items of a held-out set don't occur in training.
fn note_unseen(train: &Interactions, part: Part, held_out: &Interactions, notes: &mut Vec<String>) {
    let unseen = Unseen::of(train, held_out);
    for (number, pairs, what) in
        [(unseen.users, unseen.user_pairs, "user"), (unseen.items, unseen.item_pairs, "item")]
    {
        if number > 0 {
            let (number, pairs, part) = (count(number, what), count(pairs, "pair"), part.name());
            notes.push(format!("{number} of the {part} set not seen in training ({pairs})"));
        }
    }
}

/// A warning if most pairs of a held-out set are of users that no model can learn.
fn mostly_unseen(train: &Interactions, part: Part, held_out: &Interactions) -> Option<String> {
    let unseen = Unseen::of(train, held_out).user_pairs;
    if 2 * unseen <= held_out.len() {
        return None;
    }
    let (share, part) = (100.0 * unseen as f64 / held_out.len() as f64, part.name());
    Some(format!(
        "{share:.0} % of the {part} pairs are of users not seen in training, so the figures say little about the model: \
         leave these users out, or split by leave-last"
    ))
}

#[cfg(test)]
mod tests;
