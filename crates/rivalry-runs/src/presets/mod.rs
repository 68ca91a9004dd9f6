//! Presets: the published settings of the paper's cells, and settings tuned by our own sweeps.
//!
//! A preset is named `paper/DATA/MODEL/LOSS` or `tuned/DATA/MODEL/LOSS`.

mod by_cell;
mod paper;
#[cfg(test)]
mod tests;
mod tuned;

use rivalry::config::source_layer;
use rivalry::{InputError, Result, did_you_mean};

pub use self::by_cell::CellKey;
pub use self::paper::{PaperCell, paper_cells};
pub use self::tuned::{Tuned, tuned};

/// The settings of a preset as a config layer, by a name such as `paper/amazon2014-health/mf/sl`: the data set with its
/// own split, model, loss, optimiser, and the published protocol (cosine scores, all of 200 epochs, `eval.mask = "train"`,
/// `eval.average = "all"`).
///
/// `train.select` stays unset, so the epoch is chosen on the validation set. The `-popularity` data sets have no
/// validation set and no published settings: their cells give an error. With settings of your own the last epoch is
/// kept; the published reference picks the best epoch on the test set, as `train.select = "test"` does.
///
/// ```
/// let layer = rivalry_runs::presets::preset_layer("paper/amazon2014-health/mf/sl").unwrap();
/// let gradient = rivalry::config::Config::from_layers(&[layer]).unwrap().gradient.unwrap();
/// assert_eq!((gradient.optim.lr(), gradient.loss.params().number("tau")), (0.1, 0.25));
/// ```
///
/// # Errors
/// If there is no such preset, or its settings were not published.
pub fn preset_layer(name: &str) -> Result<toml::Table> {
    // Release 0.1 called tuned settings `found/…`.
    let name = &name.replacen("found/", "tuned/", 1);
    if let Some(tuned) = tuned().iter().find(|tuned| tuned.name() == *name) {
        return Ok(tuned.layer());
    }
    match paper_cells().iter().find(|cell| cell.name() == *name) {
        Some(cell) => cell.layer(),
        None => Err(unknown_preset(name).into()),
    }
}

/// The hyperparameters of the preset for a cell, as a config layer without data and protocol, and the preset's name.
/// Tuned settings come before published ones.
pub fn hyperparameters(key: &CellKey) -> Option<(String, toml::Table)> {
    let ours = tuned().iter().find(|tuned| tuned.key == *key).map(Tuned::name);
    let published = || paper_cells().iter().find(|cell| cell.key == *key).map(PaperCell::name);
    let name = ours.or_else(published)?;
    let mut layer = preset_layer(&name).ok()?;
    layer.retain(|section, _| ["model", "loss", "optim"].contains(&section));
    Some((name, layer))
}

/// The parameters of a training that a preset sets.
struct CellSettings<'a> {
    params: &'a toml::Table,
    lr: f64,
    weight_decay: f64,
}

/// The settings of one training in the published protocol.
fn protocol_layer(key: &CellKey, settings: &CellSettings<'_>) -> toml::Table {
    let mut loss = settings.params.clone();
    loss.insert("type".to_owned(), key.loss.clone().into());
    let mut layer = source_layer(&key.data);
    let optim = table([
        ("lr", settings.lr.into()),
        ("schedule", "constant".into()),
        ("weight_decay", settings.weight_decay.into()),
    ]);
    let train = table([
        ("epochs", 200.into()),
        ("eval_every", 5.into()),
        ("patience", "none".into()),
        ("init", "random".into()),
    ]);
    layer.extend(table([
        ("model", table([("type", key.model.clone().into()), ("score", "cosine".into())]).into()),
        ("loss", loss.into()),
        ("optim", optim.into()),
        ("train", train.into()),
        ("eval", table([("mask", "train".into()), ("average", "all".into())]).into()),
    ]));
    layer
}

/// There are too many names to list them all in an error, so it says how they are formed.
fn unknown_preset(name: &str) -> InputError {
    let names: Vec<String> =
        paper_cells().iter().map(PaperCell::name).chain(tuned().iter().map(Tuned::name)).collect();
    let form = "a preset is paper/DATA/MODEL/LOSS (published) or tuned/DATA/MODEL/LOSS (by our own sweeps), for \
                example paper/amazon2014-health/mf/sl";
    let help = match did_you_mean(name, names.iter().map(String::as_str)) {
        Some(known) => format!("did you mean '{known}'? In general {form}"),
        None => form.to_owned(),
    };
    InputError::new(format!("unknown preset '{name}'")).field("preset").help(help)
}

fn table<const N: usize>(entries: [(&str, toml::Value); N]) -> toml::Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
