//! Names of methods: the model, the loss, and the settings in which a method differs from the others.

use crate::settings::{Settings, TYPES, distinctive};

/// The name of each method, given its settings. Methods with different settings have different names.
pub(super) fn names(methods: &[Settings]) -> Vec<String> {
    let distinctive = distinctive(methods);
    let name = |settings: &Settings| {
        let types = TYPES.iter().filter_map(|key| settings.text(key));
        let others = distinctive.iter().filter_map(|key| Some(format!("{key}={}", settings.text(key)?)));
        types.chain(others).collect::<Vec<_>>().join(" ")
    };
    methods.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(configs: &[&str]) -> Vec<String> {
        let settings = configs.iter().map(|text| Settings::from_table(&text.parse().unwrap()));
        names(&settings.collect::<Vec<_>>())
    }

    #[test]
    fn a_name_has_what_differs_and_nothing_else() {
        let sl = "model.type = 'mf'\nloss = { type = 'sl', tau = 0.2 }\ntrain.epochs = 5";
        let dsl = "model.type = 'mf'\nloss = { type = 'dsl', tau = 0.2, alpha = 1.0 }\ntrain.epochs = 5";
        assert_eq!(named(&[sl, dsl]), ["mf sl", "mf dsl"]);
        let other = dsl.replace("0.2", "0.1").replace("5", "6");
        assert_eq!(
            named(&[sl, &other]),
            ["mf sl loss.tau=0.2 train.epochs=5", "mf dsl loss.tau=0.1 train.epochs=6"]
        );
        let stronger = dsl.replace("1.0", "3.0");
        assert_eq!(named(&[sl, dsl, &stronger]), ["mf sl", "mf dsl loss.alpha=1", "mf dsl loss.alpha=3"]);
    }

    #[test]
    fn a_setting_that_only_one_has_is_in_its_name() {
        let plain = "model.type = 'mf'\nloss.type = 'sl'\ntrain.epochs = 5";
        let patient = format!("{plain}\ntrain.patience = 3");
        assert_eq!(named(&[plain, &patient]), ["mf sl", "mf sl train.patience=3"]);
    }

    #[test]
    fn a_model_without_epochs_adds_nothing_to_the_names_of_the_others() {
        let trained = "model = { type = 'mf', dim = 8 }\nloss.type = 'sl'\ntrain.epochs = 5";
        assert_eq!(named(&[trained, "model.type = 'popularity'"]), ["mf sl", "popularity"]);
    }
}
