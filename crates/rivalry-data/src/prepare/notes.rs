//! Notes and warnings about a prepared data set.

use crate::error::{InputError, Result};
use crate::ratings::Ratings;
use crate::read::Reading;
use crate::split::{Rule, Rules, floor_share};
use crate::tally::Tally;
use crate::{Part, count};

/// Notes what of the source is ignored: comments, ratings that nothing is chosen by, times.
pub(crate) fn of_source(
    reading: Option<&Reading>,
    ratings: Option<&Ratings>,
    ignores_times: bool,
    notes: &mut Vec<String>,
) {
    if let Some(reading) = reading.filter(|reading| reading.comments > 0) {
        notes.push(format!("ignored {} (starting with #)", count(reading.comments, "comment line")));
    }
    notes.extend(ratings.and_then(Ratings::note_ignored));
    if ignores_times {
        notes.push(
            "the log has times, which a random split ignores: --split time or leave-last tests on the future"
                .to_owned(),
        );
    }
}

/// Refuses an empty training set, and an empty test set where one is needed, and notes what is unusual about the sets.
pub(crate) fn of_sets(tally: &Tally, rules: Rules, needs_test: bool, notes: &mut Vec<String>) -> Result<()> {
    let sizes = tally.pairs;
    for (name, pairs) in [(Part::Train.name(), sizes.train), (Part::Test.name(), sizes.test)] {
        if pairs == 0 && (name == Part::Train.name() || needs_test) {
            let error = InputError::new(format!("the split leaves the {name} set empty"));
            let help = "use another split or fraction, more data, or `data.prepare.split.type = \"none\"` to train on \
                        everything";
            return Err(error.field("data.prepare.split.type").help(help).into());
        }
    }
    let (held_out, pairs) = (sizes.test, sizes.into_iter().sum());
    if let Some(Rule::Popularity { share }) = rules.test
        && held_out < floor_share(share, pairs)
    {
        let reason = "every user and every item keeps at least one pair in training";
        notes.push(format!("the test set has only {held_out} of {pairs} pairs: {reason}"));
    }
    if sizes.valid == 0 && rules.valid.is_some() {
        notes.push("there is no validation set: no user has enough training items".to_owned());
    }
    note_unseen(tally, Part::Valid, notes);
    note_unseen(tally, Part::Test, notes);
    Ok(())
}

/// Notes how many users and items of a held-out set don't occur in training.
fn note_unseen(tally: &Tally, part: Part, notes: &mut Vec<String>) {
    let unseen = tally.unseen(part);
    for (number, pairs, what) in
        [(unseen.users, unseen.user_pairs, "user"), (unseen.items, unseen.item_pairs, "item")]
    {
        if number > 0 {
            let (number, pairs, part) = (count(number, what), count(pairs, "pair"), part.name());
            notes.push(format!("{number} of the {part} set not seen in training ({pairs})"));
        }
    }
}

/// Warnings of held-out sets most of whose pairs are of users that no model can learn.
pub(crate) fn warnings(tally: &Tally) -> Vec<String> {
    let sets = [(Part::Valid, tally.pairs.valid), (Part::Test, tally.pairs.test)];
    sets.into_iter().filter_map(|(part, pairs)| mostly_unseen(tally, part, pairs)).collect()
}

fn mostly_unseen(tally: &Tally, part: Part, pairs: usize) -> Option<String> {
    let unseen = tally.unseen(part).user_pairs;
    if 2 * unseen <= pairs {
        return None;
    }
    let (share, part) = (100.0 * unseen as f64 / pairs as f64, part.name());
    Some(format!(
        "{share:.0} % of the {part} pairs are of users not seen in training, so the figures say little about the model: \
         leave these users out, or split by leave-last"
    ))
}
