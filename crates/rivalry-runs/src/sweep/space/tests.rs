use super::*;

fn trials(text: &str) -> Result<Vec<Trial>> {
    SearchSpace::parse(&format!("base = {{ data.source = 'synthetic' }}\n{text}"))?.trials()
}

fn tau(trial: &Trial) -> f64 {
    trial.config.gradient.as_ref().unwrap().loss.params().number("tau")
}

#[test]
fn a_grid_is_every_combination_once_and_says_what_varies() {
    let found =
        trials("grid = { loss.type = 'dsl', loss.tau = [0.1, 0.2, 0.1], optim.lr = [0.1, 0.01] }").unwrap();
    assert_eq!(found.len(), 4);
    let keys: Vec<&str> = found[0].settings.iter().map(|(key, _)| &key[..]).collect();
    assert_eq!(keys, ["loss.tau", "optim.lr"]);
    assert!(found.iter().all(|trial| trial.name.starts_with("dsl-")));
    let two =
        trials("[[grid]]\nloss = { type = 'sl', tau = [0.1, 0.2] }\n[[grid]]\nloss.type = 'bpr'").unwrap();
    assert_eq!(
        two.iter().map(|trial| trial.config.loss_name().unwrap()).collect::<Vec<_>>(),
        ["sl", "sl", "bpr"]
    );
}

#[test]
fn draws_are_different_repeatable_and_within_their_range() {
    let text = "trials = 7\ngrid = { loss.type = 'sl', loss.tau = { from = 0.01, to = 1.0, log = true } }";
    let (first, again) = (trials(text).unwrap(), trials(text).unwrap());
    assert_eq!((first.len(), &first), (7, &again));
    assert!(first.iter().all(|t| (0.01..=1.0).contains(&tau(t))));
    assert_ne!(trials(&format!("seed = 1\n{text}")).unwrap(), first);
    let whole =
        "trials = 5\ngrid = { loss.type = 'sl', train.negatives = { from = 10, to = 90, whole = true } }";
    let negatives: Vec<_> =
        trials(whole).unwrap().iter().map(|t| t.config.gradient.as_ref().unwrap().train.negatives).collect();
    assert!(negatives.len() == 5 && negatives.iter().all(|n| (10..=90).contains(n)), "{negatives:?}");
    // There are only two points, however many are wanted.
    assert_eq!(trials("trials = 9\ngrid = { loss.type = ['sl', 'bpr'] }").unwrap().len(), 2);
}

#[test]
fn what_is_fixed_is_not_searched_over() {
    let space = SearchSpace::new().with_loss("dsl-ca").unwrap().with_loss("sl").unwrap();
    let fix = |setting: &str| setting_layer(setting).unwrap();
    let space = space.with(fix("data.source=synthetic")).with(fix("loss.tau=0.33"));
    let found = space.trials().unwrap();
    assert_eq!(found.len(), 6, "five α of dsl-ca, and sl with nothing left to try");
    assert!(found.iter().all(|trial| tau(trial) == 0.33));
    assert!(found.iter().all(|trial| trial.settings.iter().all(|(key, _)| key != "loss.tau")));
    // As many are drawn as there would be without the key.
    assert_eq!(space.with_draws(4).trials().unwrap().len(), 4);
}

#[test]
fn data_can_be_searched_over_and_are_replaced_wherever_they_are_named() {
    let space = SearchSpace::parse("grid = { loss.type = 'sl', data.source = ['a.csv', 'b.csv'] }").unwrap();
    let space = space.with_sources(&|source| Ok(format!("/there/{source}"))).unwrap();
    let found = space.trials().unwrap();
    let sources: Vec<&str> = found.iter().map(|trial| &trial.config.data.source[..]).collect();
    assert_eq!(sources, ["/there/a.csv", "/there/b.csv"]);
    let error = SearchSpace::parse("grid = { loss.type = 'sl' }").unwrap().trials().unwrap_err();
    assert!(error.to_string().starts_with("data.source: no data to train on"), "{error}");
}

#[test]
fn every_loss_has_a_grid_of_its_own() {
    let of = |loss: &str| {
        let source = setting_layer("data.source=synthetic").unwrap();
        SearchSpace::new().with(source).with_loss(loss).unwrap().trials().unwrap().len()
    };
    assert_eq!([of("sl"), of("dsl"), of("dsl-ca"), of("bpr")], [6, 150, 30, 1]);
    assert!(LOSSES.iter().all(|entry| of(entry.name) >= 1));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| trials(text).unwrap_err().to_string();
    assert!(error("grids = 3").contains("did you mean 'grid'?"));
    assert!(error("[[grid]]\nloss.type = 'sl'\nseeds = 5").contains("move it to the top of the file"));
    assert!(error("grid = { train.epochs = 'ten' }").starts_with("train.epochs: expected a whole number"));
    assert!(error("grid = { loss.tau = [] }").starts_with("loss.tau: the list is empty"));
    assert!(error("grid = { loss.taus = [1] }").contains("did you mean 'tau'?"));
    assert!(error("grid = { optim.lr = { from = 0.1, to = 1 } }").contains("no finite list"));
    assert!(error("trials = 3\ngrid = { optim.lr = { from = 1, to = 0.1 } }").contains("is not a range"));
    assert!(
        error("trials = 300000\ngrid = { optim.lr = { from = 0.1, to = 1 } }").contains("more than 100000")
    );
    assert!(error("trials = 0").contains("expected a whole number ≥ 1"));
}

#[test]
fn closed_form_models_ignore_the_settings_of_the_gradient_trainer() {
    let space = SearchSpace::parse(
        "base = { data.source = 'synthetic', model.dim = 8, train = { epochs = 2, seed = 3 }, loss.type = 'sl' }",
    )
    .unwrap();
    let space = space.with_loss("bpr").unwrap().with_model("popularity").unwrap();
    let fix = |setting: &str| setting_layer(setting).unwrap();
    let found = space.with(fix("model.type=lightgcn")).with(fix("optim.lr=0.01")).trials().unwrap();
    let groups: Vec<String> = found.iter().map(|trial| trial.group().to_string()).collect();
    assert_eq!(groups, ["lightgcn bpr", "popularity"]);
    assert!(found[1].config.gradient.is_none() && found[1].name.starts_with("popularity-"));
    assert_eq!(found[1].config.seed, 3);
    let error = |name: &str| SearchSpace::new().with_model(name).unwrap_err().to_string();
    assert!(error("popularty").contains("did you mean 'popularity'?"));
    assert!(error("mf").contains("mf is trained with a loss"));
}

#[test]
fn a_grid_over_models_may_mix_closed_forms_and_losses() {
    let found = trials("grid = { model.type = ['mf', 'popularity'], loss.type = ['sl', 'bpr'] }").unwrap();
    let groups: Vec<String> = found.iter().map(|trial| trial.group().to_string()).collect();
    assert_eq!(groups, ["mf sl", "popularity", "mf bpr"]);
    assert!(found[1].settings.iter().all(|(key, _)| key == "model.type"));
}
