//! From what a reader handed over to a [`Dataset`]: merge, filter, split.

use serde::{Deserialize, Serialize};

use super::{
    Dataset, IdMap, Interactions, Parts, RawData,
    events::{Event, Events, Part, count},
    filter, noise,
    split::{Purpose, Rule, Split, Validation, floor_share},
    stats::Unseen,
};
use crate::error::{InputError, Result};

/// How raw records become a data set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// Keep only records rated at least this; default: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f32>,
    /// Keep only users with at least this many items, repeatedly until it holds together with `item_core`;
    /// 0 and 1 (default 0) keep all.
    pub user_core: u32,
    /// Keep only items with at least this many users; 0 and 1 (default 0) keep all.
    pub item_core: u32,
    /// The seed of random splits.
    pub seed: u64,
    /// How the test part comes about.
    pub split: Split,
    /// How the validation part is carved out of the training part.
    pub validation: Validation,
    /// False pairs to add to the training part, as a share of its own pairs; to see how well a loss bears them.
    #[serde(skip_serializing_if = "is_zero")]
    pub noise: f64,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// Merges repeated pairs, filters by rating and k-core, and splits.
///
/// A pair in two given parts stays in the first of training, validation and test. Given parts that are to be split
/// anew are joined first. Held-out users and items that training never saw are kept: they are ranked by untrained embeddings. Without a
/// filter, dense ids stay as they were; a filter drops the ids that lost all their pairs and keeps the others in order.
pub fn prepare(name: &str, raw: RawData, preparation: &Preparation) -> Result<Dataset> {
    let given = matches!(raw.parts, Parts::Given { .. });
    if preparation.split == (Split::Given {}) && !given {
        let error =
            InputError::new("the source is one log of interactions: it names no training and test parts");
        return Err(error.field("split").help("use another split, such as split.type = \"random\"").into());
    }
    noise::check(preparation.noise)?;
    let test_rule = preparation.split.rule(given);
    let rules = [test_rule, preparation.validation.rule(test_rule)];
    let mut events = Events::gather(&raw, preparation.min_rating)?;
    for (rule, field, share_key) in [(rules[0], "split", "test"), (rules[1], "validation", "ratio")] {
        rule.map_or(Ok(()), |rule| rule.check(field, share_key, events.timed))?;
    }
    let RawData { mut users, mut items, mut notes, .. } = raw;
    if rules[0].is_some() {
        events.list.iter_mut().for_each(|event| event.part = Part::Train);
    }
    let filtered = filter(events, preparation, &mut users, &mut items, &mut notes)?;
    if preparation.validation != (Validation::Auto {})
        && filtered.iter().any(|event| event.part == Part::Valid)
    {
        let way_out =
            "to carve another, split the source anew (split.type = \"random\") or take its file away";
        notes.push(format!("the source names its own validation part, which is kept as it is; {way_out}"));
    }

    let [train, valid, test] = cut(filtered, rules, preparation.seed)
        .map(|part| Interactions::from_pairs(users.len(), items.len(), part.iter().map(Event::pair)));
    for (what, part) in [("training", &train), ("test", &test)] {
        if part.is_empty() {
            let error = InputError::new(format!("the split leaves the {what} part empty"));
            return Err(error.field("split").help("use another split or share, or more data").into());
        }
    }
    let pairs = train.len() + valid.len() + test.len();
    if let Some(Rule::Popularity { share }) = rules[0]
        && test.len() < floor_share(share, pairs)
    {
        let message = "no more can be spared if every user and item is to stay in training";
        notes.push(format!("the test part has only {} of {pairs} pairs: {message}", test.len()));
    }
    if valid.is_empty() && rules[1].is_some() {
        notes.push("there is no validation part: no user has training items to spare for it".to_owned());
    }
    note_unseen(&train, "validation", &valid, &mut notes);
    note_unseen(&train, "test", &test, &mut notes);
    let train = match preparation.noise {
        0.0 => train,
        share => {
            let noisy = noise::add([&train, &valid, &test], share, preparation.seed)?;
            notes.push(format!("{} false pairs were added to the training part", noisy.len() - train.len()));
            noisy
        }
    };
    Dataset::new(name, users, items, [train, valid, test], notes)
}

/// Merged and filtered events, sorted by user and item; the ids shrink to what remains.
fn filter(
    mut events: Events,
    preparation: &Preparation,
    users: &mut IdMap,
    items: &mut IdMap,
    notes: &mut Vec<String>,
) -> Result<Vec<Event>> {
    let Preparation { min_rating, user_core, item_core, .. } = *preparation;
    if events.read == 0 {
        return Err(InputError::new("there are no records").help("give a file with interactions").into());
    }
    let mut steps = vec![format!("{} read", count(events.read, "record"))];
    if let Some(least) = min_rating {
        steps.push(format!("{} rated {least} or more", count(events.list.len(), "record")));
    }
    events.merge(notes);
    if user_core > 1 || item_core > 1 {
        filter::k_core(&mut events.list, users.len(), items.len(), user_core, item_core);
        let pairs = count(events.list.len(), "pair");
        steps.push(format!("{pairs} in the core (users with {user_core}, items with {item_core} or more)"));
    }
    let taken = steps.join("; ");
    if events.list.is_empty() {
        let error = InputError::new(format!("the filters leave nothing: {taken}"));
        return Err(error.help("lower min_rating, user_core or item_core").into());
    }
    if steps.len() > 1 {
        filter::compact(&mut events.list, users, items);
        let (users, items) = (count(users.len(), "user"), count(items.len(), "item"));
        notes.push(format!("filtered: {taken}; {users} and {items} remain"));
    }
    Ok(events.list)
}

/// The training, validation and test events. Without a rule, the parts are the events' own.
fn cut(events: Vec<Event>, [test_rule, valid_rule]: [Option<Rule>; 2], seed: u64) -> [Vec<Event>; 3] {
    let own = |events: &[Event], part| events.iter().map(|event| event.part == part).collect::<Vec<_>>();
    let held_out = match test_rule {
        Some(rule) => rule.hold_out(&events, seed, Purpose::Test),
        None => own(&events, Part::Test),
    };
    let (rest, test) = divide(events, &held_out);
    let held_out = match valid_rule {
        Some(rule) if rest.iter().all(|event| event.part == Part::Train) => {
            rule.hold_out(&rest, seed, Purpose::Valid)
        }
        _ => own(&rest, Part::Valid),
    };
    let (train, valid) = divide(rest, &held_out);
    [train, valid, test]
}

/// The events that stay and those that are held out.
fn divide(mut events: Vec<Event>, held_out: &[bool]) -> (Vec<Event>, Vec<Event>) {
    let out = events.iter().zip(held_out).filter(|(_, out)| **out).map(|(event, _)| *event).collect();
    let mut held_out = held_out.iter();
    events.retain(|_| held_out.next() == Some(&false));
    (events, out)
}

/// Says how many of a held-out part's users and items training never saw.
fn note_unseen(train: &Interactions, name: &str, part: &Interactions, notes: &mut Vec<String>) {
    let unseen = Unseen::of(train, part);
    for (number, pairs, what) in
        [(unseen.users, unseen.user_pairs, "user"), (unseen.items, unseen.item_pairs, "item")]
    {
        if number > 0 {
            let (number, pairs) = (count(number, what), count(pairs, "pair"));
            notes.push(format!(
                "{number} of the {name} part not seen in training ({pairs}, ranked by untrained embeddings)"
            ));
        }
    }
}

#[cfg(test)]
mod tests;
