//! What must be the same for two runs to be comparable, and what is said if it isn't.

use super::name::{Settings, flatten};
use crate::run::FinishedRun;
use crate::{InputError, Result};

/// Refuses a run that was not trained and judged on the same terms as the first.
pub(super) fn check(first: &FinishedRun, other: &FinishedRun) -> Result<()> {
    let Some((what, help)) = other_data(first, other).or_else(|| other_protocol(first, other)) else {
        return Ok(());
    };
    let first = first.folder.path().display();
    let error = InputError::new(format!("can't be compared with {first}: {what}"));
    Err(error.file(other.folder.path()).help(help).into())
}

type Found = Option<(String, &'static str)>;

/// The same checksum means the same data cut in the same way, whatever they are called.
fn other_data(first: &FinishedRun, other: &FinishedRun) -> Found {
    let (one, two) = (&first.record, &other.record);
    if one.data_checksum == two.data_checksum {
        return None;
    }
    if one.data != two.data {
        let what = format!("other data, '{}' and not '{}'", two.data, one.data);
        return Some((what, "compare runs on the same data"));
    }
    let settings = |run: &FinishedRun| {
        let mut settings = flatten("data", &run.config.data);
        settings.remove("data.source");
        settings
    };
    match first_change(&settings(first), &settings(other)) {
        Some(change) => Some((format!("another split, {change}"), "compare runs on the same split")),
        None => Some((
            format!("the data '{}' have changed between them (the checksums differ)", two.data),
            "train both on the data as they are now",
        )),
    }
}

fn other_protocol(first: &FinishedRun, other: &FinishedRun) -> Found {
    let settings = |run: &FinishedRun| {
        let eval = &run.config.eval;
        let mut settings = flatten("eval.mask", &eval.mask);
        settings.extend(flatten("eval.average", &eval.average));
        if let Some(training) = &run.record.outcome.training {
            settings.extend(flatten("train.select", &training.select));
        }
        // The lists may be measured at other lengths, as long as the epoch was chosen at the same.
        settings.insert("the metric the epoch is chosen by".to_owned(), eval.selection_metric());
        settings
    };
    let change = first_change(&settings(first), &settings(other))?;
    let help = "compare runs of the same protocol: train with the same eval and train.select settings";
    Some((format!("another protocol, {change}"), help))
}

/// The first setting that is not the same, in words.
fn first_change(first: &Settings, other: &Settings) -> Option<String> {
    let keys = first.keys().chain(other.keys().filter(|key| !first.contains_key(*key)));
    let value = |settings: &Settings, key: &str| settings.get(key).map_or("unset", String::as_str).to_owned();
    let mut changes = keys.map(|key| (key, value(first, key), value(other, key)));
    let (key, one, two) = changes.find(|(_, one, two)| one != two)?;
    Some(format!("{key} is {two} and not {one}"))
}
