//! Configs of earlier releases, brought to the present form: a `[backbone]` section, `optim.lazy`, `eval.per_user`, the
//! adversary's parameters under their old names, and runs without early stopping and deferred updates, which did not say so.

use crate::{InputError, Result};

/// Rewrites what an old config, file or flag calls by another name.
pub(super) fn upgrade(mut layer: toml::Table) -> Result<toml::Table> {
    if let Some(backbone) = layer.remove("backbone") {
        let toml::Value::Table(backbone) = backbone else {
            return Err(InputError::new("expected a section").field("backbone").into());
        };
        let model = section(&mut layer, "model");
        for (key, value) in backbone {
            if model.get(&key).is_some_and(|other| *other != value) {
                let what = format!("model.{key} and backbone.{key} disagree");
                return Err(InputError::new(what)
                    .field("backbone")
                    .help("[model] has replaced [backbone]")
                    .into());
            }
            model.insert(key, value);
        }
    }
    if let Some(toml::Value::Table(optim)) = layer.get_mut("optim")
        && let Some(lazy) = optim.remove("lazy")
    {
        let name = if lazy.as_bool() == Some(true) { "lazy-adam" } else { "adam" };
        optim.entry("type").or_insert(name.into());
    }
    if let Some(toml::Value::Table(eval)) = layer.get_mut("eval")
        && eval.get("per_user").and_then(toml::Value::as_bool) == Some(false)
    {
        eval.remove("per_user");
    }
    if let Some(toml::Value::Table(loss)) = layer.get_mut("loss") {
        for (old, new) in [("rival_lr", "adversary_lr"), ("rival_every", "adversary_every")] {
            if let Some(value) = loss.remove(old) {
                loss.insert(new.to_owned(), value);
            }
        }
    }
    if is_recorded(&layer) {
        section(&mut layer, "train").entry("patience").or_insert("none".into());
        let optim = section(&mut layer, "optim");
        if optim.get("type").is_none_or(|name| name.as_str() == Some("adam")) {
            optim.entry("deferred").or_insert(false.into());
        }
    }
    Ok(layer)
}

/// Whether this is the config of a run, which has every setting; earlier releases left `train.patience` out to run all
/// epochs. A file that people write is never complete.
fn is_recorded(layer: &toml::Table) -> bool {
    const SETTINGS: [(&str, &[&str]); 4] = [
        ("model", &["dim", "score"]),
        ("optim", &["lr", "weight_decay"]),
        ("train", &["batch_size", "epochs", "eval_every", "negatives", "seed"]),
        ("eval", &["average", "k", "mask"]),
    ];
    SETTINGS.iter().all(|(section, keys)| {
        let table = layer.get(*section).and_then(toml::Value::as_table);
        table.is_some_and(|table| keys.iter().all(|key| table.contains_key(*key)))
    })
}

fn section<'a>(layer: &'a mut toml::Table, name: &str) -> &'a mut toml::Table {
    let place = layer.entry(name).or_insert_with(|| toml::Table::new().into());
    if !place.is_table() {
        *place = toml::Table::new().into();
    }
    place.as_table_mut().expect("it was made a table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_names_become_new_ones_and_the_rest_stays() {
        let old = "
            [model]
            dim = 32
            score = 'cosine'
            [backbone]
            type = 'lightgcn'
            layers = 3
            [optim]
            lr = 0.1
            lazy = true
            [loss]
            type = 'advinfonce'
            rival_lr = 0.5
            [eval]
            k = [20]
            per_user = false
            [train]
            epochs = 3";
        let new = "
            [model]
            type = 'lightgcn'
            dim = 32
            score = 'cosine'
            layers = 3
            [optim]
            type = 'lazy-adam'
            lr = 0.1
            [loss]
            type = 'advinfonce'
            adversary_lr = 0.5
            [eval]
            k = [20]
            [train]
            epochs = 3";
        let upgraded = upgrade(old.parse().unwrap()).unwrap();
        assert_eq!(upgraded, new.parse().unwrap());
        assert_eq!(upgrade(upgraded.clone()).unwrap(), upgraded);
    }

    #[test]
    fn a_backbone_beside_another_model_is_refused() {
        let error = upgrade("model.type = 'mf'\nbackbone.type = 'lightgcn'".parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("model.type and backbone.type disagree"), "{error}");
    }
}
