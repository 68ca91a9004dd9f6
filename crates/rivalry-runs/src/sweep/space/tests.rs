use super::*;
use crate::settings::Settings;

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
    assert_eq!((first.len(), &first), (8, &again), "seven besides the default");
    assert!(first.iter().all(|t| (0.01..=1.0).contains(&tau(t))));
    assert_ne!(trials(&format!("seed = 1\n{text}")).unwrap(), first);
    let whole =
        "trials = 5\ngrid = { loss.type = 'sl', train.negatives = { from = 10, to = 90, whole = true } }";
    let negatives: Vec<_> =
        trials(whole).unwrap().iter().map(|t| t.config.gradient.as_ref().unwrap().train.negatives).collect();
    let [default, drawn @ ..] = &negatives[..] else { panic!("{negatives:?}") };
    assert!(*default == 1000 && drawn.len() == 5 && drawn.iter().all(|n| (10..=90).contains(n)), "{drawn:?}");
    // There are only two points, however many are wanted.
    assert_eq!(trials("trials = 9\ngrid = { loss.type = ['sl', 'bpr'] }").unwrap().len(), 2);
}

#[test]
fn every_loss_is_drawn_as_often() {
    let space = ["sl", "dsl-ca", "bpr"]
        .iter()
        .fold(SearchSpace::new(), |space, loss| space.with_loss(loss, LossGrid::BuiltIn).unwrap())
        .with(setting_layer("data.source=synthetic").unwrap())
        .with_draws(2);
    let found = space.trials().unwrap();
    for loss in ["sl", "dsl-ca", "bpr"] {
        let of_loss = found.iter().filter(|trial| trial.config.loss_name() == Some(loss));
        assert_eq!(of_loss.filter(|trial| !trial.is_baseline()).count(), 2, "{loss}");
    }
}

#[test]
fn what_is_fixed_is_not_searched_over() {
    let space = SearchSpace::new().with_loss("dsl-ca", LossGrid::BuiltIn).unwrap();
    let space = space.with_loss("sl", LossGrid::BuiltIn).unwrap();
    let fix = |setting: &str| setting_layer(setting).unwrap();
    let space = space.with(fix("data.source=synthetic")).with(fix("loss.tau=0.33")).with(fix("optim.lr=0.1"));
    let space = space.with(fix("model.popularity_weight=0"));
    let found = space.trials().unwrap();
    assert_eq!(found.len(), 6, "five α of dsl-ca, and sl with nothing left to try");
    assert!(found.iter().all(|trial| tau(trial) == 0.33));
    assert!(found.iter().all(|trial| trial.settings.iter().all(|(key, _)| key != "loss.tau")));
    // Of dsl-ca three, besides its default; of sl the only one.
    assert_eq!(space.with_draws(3).trials().unwrap().len(), 5);
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
    let of = |loss: &str, grid: LossGrid| {
        let source = setting_layer("data.source=synthetic").unwrap();
        SearchSpace::new().with(source).with_loss(loss, grid).unwrap().trials().unwrap().len()
    };
    let built_in = |loss: &str| of(loss, LossGrid::BuiltIn);
    assert_eq!(
        ["sl", "dsl", "dsl-ca", "bpr"].map(built_in),
        [6 * 4 * 4, 6 * 5 * 3 * 4 * 4, 6 * 5 * 4 * 4, 3 * 5]
    );
    assert!(LOSSES.iter().all(|entry| built_in(entry.name) > 1), "every loss is searched");
    // The published grids; where the defaults are not on them, they are one more.
    let paper = |loss: &str| of(loss, LossGrid::Paper);
    assert_eq!(["sl", "dsl", "bpr"].map(paper), [6 * 3 * 4, 6 * 25 * 3 * 4, 3 * 4 + 1]);
    assert_eq!(of("dsl", LossGrid::Empty), 1);
}

fn origins(trials: &[Trial]) -> Vec<&Origin> {
    trials.iter().map(|trial| &trial.origin).collect()
}

#[test]
fn the_defaults_are_a_trial_wherever_there_is_something_to_search() {
    let found = trials("grid = { loss.type = ['sl', 'bpr'], optim.lr = [0.5, 0.7] }").unwrap();
    let default = |loss: &str| {
        let mut own = found.iter().filter(|trial| trial.config.loss_name() == Some(loss));
        own.find(|trial| trial.origin == Origin::Default).unwrap().config.gradient.clone().unwrap().optim.lr()
    };
    assert_eq!((found.len(), default("sl"), default("bpr")), (6, 0.1, 0.003));
    let shown =
        |trial: &Trial| trial.settings.iter().find(|(key, _)| key == "optim.lr").unwrap().1.as_float();
    assert_eq!(shown(&found[0]), Some(0.1));
    // What has one value is fixed, and nothing is added where nothing is searched.
    let found = trials("grid = { loss.type = 'dsl', loss.tau = 0.3, loss.alpha = [2, 3] }").unwrap();
    assert!(found.len() == 3 && found.iter().all(|trial| tau(trial) == 0.3));
    let single = trials("grid = { loss.type = ['sl', 'bpr'], optim.lr = 0.5 }").unwrap();
    assert_eq!(origins(&single), [&Origin::Searched, &Origin::Searched]);
    // Random trials are drawn besides them, and a trial that is on the grid already is not trained twice.
    let drawn =
        trials("trials = 4\ngrid = { loss.type = 'sl', loss.tau = { from = 0.01, to = 1.0 } }").unwrap();
    assert_eq!((drawn.len(), origins(&drawn)[0]), (5, &Origin::Default));
    let found = trials("grid = { loss.type = 'sl', loss.tau = [0.1, 0.2] }").unwrap();
    assert_eq!((found.len(), tau(&found[0]), origins(&found)[0]), (2, 0.2, &Origin::Default));
    // All have the same budget.
    let found = trials("grid = { loss.type = 'sl', loss.tau = [0.1, 0.3], train.epochs = [5, 9] }").unwrap();
    assert_eq!(found[0].config.gradient.as_ref().unwrap().train.epochs, 9);
}

#[test]
fn a_preset_for_the_data_is_a_trial_under_the_sweeps_own_protocol() {
    let text = "base = { data.source = 'amazon2014-health', train.epochs = 50 }
                grid = { loss.type = 'cap', optim.lr = [0.01, 0.03] }";
    let found = SearchSpace::parse(text).unwrap().trials().unwrap();
    let name = "tuned/amazon2014-health/mf/cap".to_owned();
    assert_eq!(origins(&found)[..2], [&Origin::Default, &Origin::Preset(name)]);
    let gradient = found[1].config.gradient.as_ref().unwrap();
    let loss = gradient.loss.params();
    assert_eq!((loss.count("slate"), loss.number("alpha"), gradient.optim.lr()), (100, 3.0, 0.1));
    assert_eq!((gradient.train.epochs, found[1].config.eval.mask), (50, rivalry::eval::Mask::default()));
    assert!(found[1].settings.iter().any(|(key, _)| key == "loss.slate"));
    // What is fixed stays fixed.
    let fixed = SearchSpace::parse(text).unwrap().with(setting_layer("loss.slate=7").unwrap());
    let fixed = fixed.trials().unwrap();
    let slate = |trial: &Trial| trial.config.gradient.as_ref().unwrap().loss.params().count("slate");
    assert!(
        fixed.len() == 3 && fixed.iter().all(|trial| slate(trial) == 7),
        "preset and default are the same now"
    );
}

#[test]
fn values_given_for_a_key_replace_those_of_the_grid_where_the_loss_takes_it() {
    let space = SearchSpace::new().with(setting_layer("data.source=synthetic").unwrap());
    let space = space.with_loss("sl", LossGrid::Empty).unwrap().with_loss("bpr", LossGrid::Empty).unwrap();
    let values = |list: &[f64]| list.iter().map(|&x| x.into()).collect::<Vec<toml::Value>>();
    let taus = space.clone().with_values("loss.tau", values(&[0.1, 0.2, 0.3]));
    let groups: Vec<String> = taus.trials().unwrap().iter().map(|trial| trial.group().to_string()).collect();
    assert_eq!(groups, ["mf sl", "mf sl", "mf sl", "mf bpr"]);
    let error = space.with_values("loss.taus", values(&[0.1])).trials().unwrap_err().to_string();
    assert!(error.contains("did you mean 'tau'?"), "{error}");
}

#[test]
fn a_setting_at_the_end_of_what_was_searched_is_named() {
    let edges = |text: &str, settings: &str| {
        let base = "base = { data.source = 'synthetic' }";
        let space = SearchSpace::parse(&format!("{base}\n{text}")).unwrap();
        let layers = ["data.source = 'synthetic'", settings].map(|text| text.parse().unwrap());
        let trial = Trial::new(Config::from_layers(&layers).unwrap(), vec![]);
        let keys = space.edges(&trial).unwrap().into_iter().map(|edge| (edge.is_upper(), edge.key));
        keys.collect::<Vec<_>>()
    };
    let grid = "grid = { loss.type = 'sl', loss.tau = [0.1, 0.2, 0.3], optim.lr = [0.1, 0.2] }";
    let at = |tau: f64| format!("loss = {{ type = 'sl', tau = {tau} }}");
    assert_eq!(edges(grid, &at(0.3)), [(true, "loss.tau".to_owned())], "two learning rates have no middle");
    assert_eq!(edges(grid, &at(0.05)), [(false, "loss.tau".to_owned())]);
    assert_eq!(edges(grid, &at(0.2)), []);
    let drawn = "trials = 5\ngrid = { loss.type = 'sl', loss.tau = { from = 0.01, to = 1.0, log = true } }";
    assert_eq!(edges(drawn, &at(0.9)), [(true, "loss.tau".to_owned())]);
    assert_eq!(edges(drawn, &at(0.5)), []);
    // Nothing lies below a weight decay of zero.
    let decay = "grid = { loss.type = 'sl', optim.weight_decay = [0.0, 1e-5, 1e-4] }";
    assert_eq!(edges(decay, &at(0.2)), []);
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
    let space =
        space.with_loss("bpr", LossGrid::Empty).unwrap().with_model("popularity", LossGrid::BuiltIn).unwrap();
    let fix = |setting: &str| setting_layer(setting).unwrap();
    let found = space.with(fix("model.type=lightgcn")).with(fix("optim.lr=0.01")).trials().unwrap();
    let groups: Vec<String> = found.iter().map(|trial| trial.group().to_string()).collect();
    assert_eq!(groups, ["lightgcn bpr", "popularity"]);
    assert!(found[1].config.gradient.is_none() && found[1].name.starts_with("popularity-"));
    assert_eq!(found[1].config.seed, 3);
    let error = |name: &str| SearchSpace::new().with_model(name, LossGrid::BuiltIn).unwrap_err().to_string();
    assert!(error("popularty").contains("did you mean 'popularity'?"));
    assert!(error("mf").contains("mf is trained with a loss"));
}

#[test]
fn settings_of_the_model_apply_to_closed_forms_that_are_searched_alone() {
    let space = || SearchSpace::parse("base = { data.source = 'synthetic' }").unwrap();
    let of = |name: &str, setting: &str| {
        let space = space().with_model(name, LossGrid::BuiltIn).unwrap();
        space.with_draws(3).with(setting_layer(setting).unwrap()).trials()
    };
    for trial in of("turbo-cf", "model.k=50").unwrap() {
        assert_eq!(Settings::of(&trial.config).get("model.k").unwrap().to_string(), "50");
    }
    // A key that is fixed is not searched.
    let found = of("item-knn", "model.k=50").unwrap();
    assert!(
        found.len() > 1 && found.iter().all(|trial| trial.settings.iter().all(|(key, _)| key != "model.k"))
    );
    assert!(of("ease", "model.k=50").unwrap_err().to_string().contains("unknown parameter 'k'"));
    assert!(
        of("ease", "model.type=lightgcn").unwrap().iter().all(|trial| trial.group().to_string() == "ease")
    );
    let mixed =
        space().with_loss("sl", LossGrid::Empty).unwrap().with_model("ials", LossGrid::Empty).unwrap();
    let found = mixed.with(setting_layer("model.dim=8").unwrap()).trials().unwrap();
    let dims: Vec<String> =
        found.iter().map(|trial| Settings::of(&trial.config).get("model.dim").unwrap().to_string()).collect();
    assert_eq!(dims, ["8", "64"]);
}

#[test]
fn a_grid_over_models_may_mix_closed_forms_and_losses() {
    let found = trials("grid = { model.type = ['mf', 'popularity'], loss.type = ['sl', 'bpr'] }").unwrap();
    let groups: Vec<String> = found.iter().map(|trial| trial.group().to_string()).collect();
    assert_eq!(groups, ["mf sl", "popularity", "mf bpr"]);
    assert!(found[1].settings.iter().all(|(key, _)| key == "model.type"));
}
