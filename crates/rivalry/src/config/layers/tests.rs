use super::*;

fn with(settings: &[&str]) -> Result<Config> {
    let layers: Result<Vec<_>> = settings.iter().map(|s| setting_layer(s)).collect();
    Config::from_layers(&layers?)
}

#[test]
fn later_layers_win_and_another_type_starts_anew() {
    let config = with(&["loss.alpha=3", "loss.tau=0.5", "train.epochs=7"]).unwrap();
    let gradient = config.gradient.unwrap();
    assert_eq!((gradient.loss.params().number("alpha"), gradient.train.epochs), (3.0, 7));
    let config = with(&["loss.alpha=3", "loss.type=sl", "loss.tau=0.1"]).unwrap();
    let loss = config.gradient.unwrap().loss;
    assert_eq!((loss.name(), loss.params().number("tau")), ("sl", 0.1));
}

/// Score, learning rate, weight decay, negatives.
fn training(settings: &[&str]) -> (Score, f64, f64, usize) {
    let config = with(settings).unwrap();
    let score = config.model.score().unwrap();
    let gradient = config.gradient.unwrap();
    (score, gradient.optim.lr(), gradient.optim.weight_decay(), gradient.train.negatives)
}

#[test]
fn a_loss_brings_its_own_settings_and_explicit_ones_win() {
    assert_eq!(training(&[]), (Score::Cosine, 0.1, 0.0, 1000));
    assert_eq!(training(&["loss.type=bpr"]), (Score::Dot, 0.003, 3e-5, 1));
    let explicit = ["model.score=cosine", "optim.lr=0.1", "optim.weight_decay=0", "train.negatives=5"];
    for at in [0, 4] {
        let mut settings = explicit.to_vec();
        settings.insert(at, "loss.type=bpr");
        assert_eq!(training(&settings), (Score::Cosine, 0.1, 0.0, 5), "{settings:?}");
    }
    assert_eq!(training(&["loss.type=bpr", "loss.type=sl"]), (Score::Cosine, 0.1, 0.0, 1000));
    assert_eq!(training(&["loss.type=bpr", "optim.type=lazy-adam"]).1, 0.003);
    assert!(with(&["model.type=popularity"]).unwrap().gradient.is_none());
}

/// Where no loss is chosen, its settings follow the size of the training set; what is given wins, and a chosen loss has its own.
#[test]
fn the_default_loss_has_a_prior_and_follows_the_data() {
    let of = |settings: &[&str], pairs: usize| {
        let layers: Vec<_> = settings.iter().map(|s| setting_layer(s).unwrap()).collect();
        let config = Config::from_layers_for(&layers, pairs).unwrap();
        let weight = config.model.params().number("popularity_weight");
        let loss = config.gradient.unwrap().loss;
        (loss.name(), loss.params().number("tau"), loss.params().number("alpha"), weight)
    };
    assert_eq!(of(&[], 1000), ("dsl-ca", 0.2, 3.0, 0.2));
    assert_eq!(of(&["model.type=lightgcn"], 1_000_000), ("dsl-ca", 0.125, 2.0, 0.05));
    assert_eq!(of(&["loss.tau=0.3"], 1_000_000), ("dsl-ca", 0.3, 2.0, 0.05));
    assert_eq!(of(&["model.popularity_weight=0"], 1000), ("dsl-ca", 0.2, 3.0, 0.0));
    let chosen = of(&["loss.type=dsl-ca"], 1_000_000);
    assert_eq!((chosen.1, chosen.3), (0.2, 0.0));
    assert_eq!(of(&["loss.type=cap"], 1_000_000), ("cap", 0.2, 3.0, 0.0));
    assert!(with(&["model.type=ease"]).is_ok(), "a closed form has neither");
}

#[test]
fn training_stops_early_by_default_and_configs_of_earlier_runs_did_not() {
    let patience = |config: &Config| config.gradient.as_ref().unwrap().train.patience;
    let config = with(&["loss.type=sl"]).unwrap();
    assert_eq!(patience(&config), Some(TrainConfig::DEFAULT_PATIENCE));
    assert_eq!(patience(&with(&["train.patience=none"]).unwrap()), None);
    let mut earlier = config.to_table();
    earlier["train"].as_table_mut().unwrap().remove("patience");
    let earlier = Config::from_layers(&[earlier]).unwrap();
    assert_eq!(patience(&earlier), None);
    assert_eq!(Config::from_layers(&[earlier.to_table()]).unwrap(), earlier);
}

#[test]
fn a_config_survives_its_file() {
    let config =
        with(&["loss.type=dsl-ca", "train.patience=3", "train.select=last", "eval.k=[5, 20]"]).unwrap();
    assert_eq!(Config::from_layers(&[config.to_toml().parse().unwrap()]).unwrap(), config);
}

#[test]
fn what_is_wrong_is_named() {
    let error = |setting: &str| with(&[setting]).unwrap_err().to_string();
    assert!(error("train.epoch=3").contains("did you mean 'epochs'?"));
    assert!(error("trian.epochs=3").contains("did you mean 'train'?"));
    assert!(error("loss.type=dls").contains("did you mean 'dsl'?"));
    assert!(error("loss.tau=0").starts_with("loss.tau: expected a number > 0"));
    assert!(error("optim.lr=nan").starts_with("optim.lr: expected a number > 0, found nan"));
    assert!(error("train.batch_size=0").starts_with("train.batch_size: expected a whole number ≥ 1"));
    assert_eq!(
        error("train.epochs=many"),
        "train.epochs: expected a whole number ≥ 1, found the text \"many\""
    );
    assert_eq!(
        error("train.epochs=\"50\""),
        "train.epochs: expected a whole number ≥ 1, found the text \"50\": write it without quotes"
    );
    assert_eq!(error("train.epochs=2.5"), "train.epochs: expected a whole number ≥ 1, found 2.5");
    assert_eq!(error("train.epochs=-3"), "train.epochs: expected a whole number ≥ 1, found -3");
    assert_eq!(error("train.epochs=true"), "train.epochs: expected a whole number ≥ 1, found true");
    assert_eq!(error("train.epochs=[3]"), "train.epochs: expected a whole number ≥ 1, found a list");
    assert_eq!(error("train.epochs.n=3"), "train.epochs: expected a whole number ≥ 1, found a section");
    assert_eq!(error("eval.k=20"), "eval.k: expected a list, found 20");
    assert_eq!(error("eval.buckets=1"), "eval.buckets: expected true or false, found 1");
    assert_eq!(
        error("data.prepare.user_core=1.5"),
        "data.prepare.user_core: expected a whole number ≥ 0, found 1.5"
    );
    assert!(error("train.select=lst").contains("unknown choice 'lst'\n  help: did you mean 'last'?"));
    assert!(error("model.score=dot").starts_with("model.score: dsl-ca adds scores and cosines"));
    assert!(with(&["model.score=dot", "loss.type=sl"]).is_ok());
    assert!(error("loss.tau").contains("expected key=value"));
    let patience = "train.patience: expected a whole number ≥ 1, or \"none\" to run all epochs, found the text \"never\"";
    assert_eq!(error("train.patience=never"), patience);
}

#[test]
fn settings_of_the_gradient_trainer_are_named_one_by_one_where_they_have_no_meaning() {
    let error = |settings: &[&str]| with(settings).unwrap_err().to_string();
    let popular = "model.type=popularity";
    assert!(
        error(&[popular, "loss.tau=0.1"]).starts_with("loss.tau: popularity is not trained by gradients")
    );
    let several = error(&[popular, "loss.type=sl", "optim.lr=0.1", "train.epochs=3", "train.seed=1"]);
    assert!(several.starts_with("loss.type, optim.lr, train.epochs: popularity is not"), "{several}");
    assert!(error(&[popular, "loss=sl"]).starts_with("loss: popularity is not trained by gradients"));
    assert!(with(&[popular, "train.seed=1"]).is_ok());
}
