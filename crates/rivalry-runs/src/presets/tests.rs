use std::collections::BTreeSet;

use rivalry::config::Config;
use rivalry::data::{Split, Validation, catalogue};
use rivalry::eval::{Average, Mask};
use rivalry::loss::LOSSES;
use rivalry::models::MODELS;

use super::paper::FILES;
use super::*;

/// What the tables have a row for, and the names of the numbers that the appendix puts in braces.
const ROWS: &[(&str, &[&str])] = &[
    ("bpr", &[]),
    ("guidedrec", &[]),
    ("llpauc", &["alpha", "beta"]),
    ("sl", &["tau"]),
    ("advinfonce", &["tau"]),
    ("bsl", &["tau1", "tau2"]),
    ("psl", &["tau"]),
    ("sl@k", &["k", "refresh_every", "tau", "tau_w"]),
    ("dsl", &[]),
];

fn cell(name: &str) -> &'static PaperCell {
    paper_cells()
        .iter()
        .find(|cell| cell.name() == format!("paper/{name}"))
        .unwrap_or_else(|| panic!("{name}"))
}

fn error(name: &str) -> String {
    preset_layer(name).unwrap_err().to_string()
}

#[test]
fn every_file_holds_the_rows_of_the_tables() {
    assert_eq!(FILES.len(), 6);
    let all: BTreeSet<&str> = paper_cells().iter().map(|cell| &cell.key.data[..]).collect();
    assert_eq!(all.len(), FILES.len());
    for data in all {
        assert!(catalogue().iter().any(|entry| entry.name == data), "{data}");
        let here = || paper_cells().iter().filter(|cell| cell.key.data == data);
        let models: BTreeSet<&str> = here().map(|cell| &cell.key.model[..]).collect();
        let shifted = data.ends_with("-popularity");
        assert_eq!(models, if shifted { ["mf"].into() } else { ["lightgcn", "mf"].into() });
        for model in models {
            let losses = here().filter(|cell| cell.key.model == model).map(|cell| &cell.key.loss[..]);
            assert_eq!(
                losses.collect::<BTreeSet<_>>(),
                ROWS.iter().map(|(loss, _)| *loss).collect(),
                "{data}"
            );
        }
    }
    assert_eq!(paper_cells().len(), 4 * 2 * 9 + 2 * 9);
    assert_eq!(paper_cells().iter().map(PaperCell::name).collect::<BTreeSet<_>>().len(), paper_cells().len());
}

#[test]
fn settings_stand_where_they_were_published_and_on_the_grids_that_were_searched() {
    for cell in paper_cells() {
        let name = cell.name();
        let known = cell.key.loss != "dsl" && !cell.key.data.ends_with("-popularity");
        assert_eq!((cell.lr.is_some(), cell.weight_decay.is_some()), (known, known), "{name}");
        assert!(cell.lr.is_none_or(|lr| [0.1, 0.01, 0.001].contains(&lr)), "{name}");
        assert!(cell.weight_decay.is_none_or(|decay| [0.0, 1e-4, 1e-5, 1e-6].contains(&decay)), "{name}");
        let (_, params) = ROWS.iter().find(|(loss, _)| *loss == cell.key.loss).unwrap();
        let given: Vec<&str> = cell.params.keys().map(String::as_str).collect();
        assert_eq!(given, if known { params } else { &[][..] }, "{name}");
        let metrics: Vec<String> = cell.published.keys().map(ToString::to_string).collect();
        assert_eq!(metrics, ["Recall@20", "NDCG@20"], "{name}");
        let (recall, ndcg) = (cell.published["Recall@20"], cell.published["NDCG@20"]);
        assert!(0.005 < ndcg && ndcg < recall && recall < 0.25, "{name}");
    }
}

/// Typed from the paper by hand, apart from the files.
#[test]
fn figures_are_the_papers() {
    let expected = [
        ("amazon2014-health/mf/sl", 0.1749, 0.1261),
        ("amazon2014-health/mf/dsl", 0.1871, 0.1350),
        ("amazon2014-health/lightgcn/psl", 0.1619, 0.1184),
        ("amazon2014-electronic/mf/sl@k", 0.0893, 0.0585),
        ("amazon2014-electronic/lightgcn/llpauc", 0.0823, 0.0501),
        ("amazon2014-movie/mf/advinfonce", 0.0994, 0.0721),
        ("amazon2014-movie/lightgcn/guidedrec", 0.0594, 0.0392),
        ("gowalla/mf/bsl", 0.2068, 0.1623),
        ("gowalla/lightgcn/bpr", 0.0433, 0.0283),
        ("amazon2014-electronic-popularity/mf/llpauc", 0.0227, 0.0138),
        ("gowalla-popularity/mf/sl@k", 0.0980, 0.0734),
        ("gowalla-popularity/mf/dsl", 0.1015, 0.0747),
    ];
    for (name, recall, ndcg) in expected {
        let published = &cell(name).published;
        assert_eq!((published["Recall@20"], published["NDCG@20"]), (recall, ndcg), "{name}");
    }
}

/// Typed from the paper by hand, apart from the files.
#[test]
fn settings_are_the_papers() {
    let expected = [
        ("amazon2014-health/mf/bpr", 0.001, 0.0001, ""),
        ("amazon2014-health/mf/sl@k", 0.1, 0.0, "tau = 0.25\ntau_w = 2.5\nrefresh_every = 5\nk = 20"),
        ("amazon2014-health/lightgcn/llpauc", 0.1, 0.0, "alpha = 0.7\nbeta = 0.1"),
        ("amazon2014-electronic/mf/bsl", 0.1, 0.0, "tau1 = 0.5\ntau2 = 0.2"),
        ("amazon2014-electronic/mf/sl", 0.01, 0.0, "tau = 0.2"),
        ("amazon2014-electronic/lightgcn/bpr", 0.01, 0.000001, ""),
        ("gowalla/mf/psl", 0.1, 0.0, "tau = 0.05"),
        ("gowalla/lightgcn/sl@k", 0.01, 0.0, "tau = 0.1\ntau_w = 0.75\nrefresh_every = 5\nk = 20"),
        ("gowalla/mf/guidedrec", 0.001, 0.0, ""),
        ("amazon2014-movie/mf/bsl", 0.01, 0.0, "tau1 = 0.25\ntau2 = 0.05"),
        ("amazon2014-movie/lightgcn/advinfonce", 0.1, 0.0, "tau = 0.05"),
        ("amazon2014-movie/mf/bpr", 0.001, 0.000001, ""),
    ];
    for (name, lr, weight_decay, params) in expected {
        let cell = cell(name);
        assert_eq!((cell.lr, cell.weight_decay), (Some(lr), Some(weight_decay)), "{name}");
        assert_eq!(cell.params, params.parse().unwrap(), "{name}");
    }
}

#[test]
fn every_published_setting_that_can_be_run_is_a_config() {
    let can_run = |cell: &&PaperCell| {
        cell.lr.is_some()
            && LOSSES.iter().any(|loss| loss.name == cell.key.loss)
            && MODELS.iter().any(|model| model.name == cell.key.model)
    };
    let mut tried = 0;
    for cell in paper_cells().iter().filter(can_run) {
        let config = Config::from_layers(&[preset_layer(&cell.name()).unwrap()]).unwrap();
        assert_eq!((config.data.source, config.data.prepare.split), (cell.key.data.clone(), Split::Given {}));
        assert_eq!(config.data.prepare.validation, Validation::Random { ratio: 0.1 });
        let gradient = config.gradient.unwrap();
        assert_eq!((config.model.name(), gradient.loss.name()), (&*cell.key.model, &*cell.key.loss));
        let loss = gradient.loss.to_table();
        assert!(cell.params.iter().all(|(key, value)| loss[key] == *value));
        let optim = (Some(gradient.optim.lr()), Some(gradient.optim.weight_decay()));
        assert_eq!(optim, (cell.lr, cell.weight_decay));
        assert_eq!((gradient.train.epochs, gradient.train.select), (200, None));
        assert_eq!((config.eval.mask, config.eval.average), (Mask::Train, Average::All));
        tried += 1;
    }
    assert!(tried >= 4);
}

/// Every setting of the published protocol outside the loss, as it was before losses had defaults of their own and
/// trainings stopped early.
const PROTOCOL: &str = "
    [model]
    dim = 64
    score = 'cosine'
    popularity_weight = 0.0
    [optim]
    type = 'adam'
    beta1 = 0.9
    beta2 = 0.999
    epsilon = 1e-8
    schedule = 'constant'
    warmup = 0.0
    deferred = false
    [sampler]
    type = 'uniform'
    replacement = true
    false_negatives = 0.0
    [train]
    epochs = 200
    batch_size = 1024
    eval_every = 5
    seed = 0
    patience = 'none'
    init = 'random'
    [eval]
    k = [20]
    mask = 'train'
    average = 'all'
    buckets = false
    beyond_accuracy = false
";

#[test]
fn presets_spell_out_the_published_protocol_whatever_the_defaults_are() {
    let published =
        paper_cells().iter().filter_map(|cell| Some((&cell.key, cell.name(), cell.lr?, cell.weight_decay?)));
    let ours = tuned().iter().map(|tuned| (&tuned.key, tuned.name(), tuned.lr, tuned.weight_decay));
    for (key, name, lr, weight_decay) in published.chain(ours) {
        let config = Config::from_layers(&[preset_layer(&name).unwrap()]).unwrap();
        assert_eq!(config.gradient.as_ref().unwrap().train.patience, None, "{name}");
        let mut found = config.to_table();
        found.retain(|section, _| !["data", "loss"].contains(&section));
        let mut expected: toml::Table = PROTOCOL.parse().unwrap();
        let mut set = |section: &str, name: &str, value: toml::Value| {
            expected[section].as_table_mut().unwrap().insert(name.to_owned(), value);
        };
        set("model", "type", key.model.clone().into());
        if key.model == "lightgcn" {
            set("model", "layers", 2.into());
        }
        set("optim", "lr", lr.into());
        set("optim", "weight_decay", weight_decay.into());
        let negatives = match &key.loss[..] {
            "bpr" => 1,
            "guidedrec" => 9,
            _ => 1000,
        };
        set("train", "negatives", negatives.into());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn losses_on_fewer_negatives_get_them() {
    let negatives = |loss: &str| {
        let layer = preset_layer(&format!("paper/gowalla/mf/{loss}")).unwrap();
        Config::from_layers(&[layer]).unwrap().gradient.unwrap().train.negatives
    };
    assert_eq!(["bpr", "guidedrec", "sl"].map(negatives), [1, 9, 1000]);
}

#[test]
fn an_unknown_preset_finds_the_one_it_meant() {
    let message = error("paper/amazon2014-helth/mf/sl");
    assert!(message.starts_with("preset: unknown preset 'paper/amazon2014-helth/mf/sl'"), "{message}");
    assert!(message.contains("did you mean 'paper/amazon2014-health/mf/sl'?"), "{message}");
    assert!(error("paper/gowalla/mf/sl@20").contains("did you mean 'paper/gowalla/mf/sl@k'?"));
    assert!(!error("").contains("did you mean"));
    assert!(error("zzz").contains("paper/DATA/MODEL/LOSS"));
}

#[test]
fn unpublished_settings_are_not_guessed() {
    for (data, loss) in [("amazon2014-health", "dsl"), ("gowalla-popularity", "sl")] {
        let message = error(&format!("paper/{data}/mf/{loss}"));
        assert!(message.contains("but not its settings"), "{message}");
        assert!(message.contains(&format!("--data {data} --model mf --loss {loss} --set")), "{message}");
    }
}
