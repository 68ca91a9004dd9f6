//! The contract of models, for every one on the list: same bits, files, new users, edge cases.

use std::ops::ControlFlow;

use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::{Dataset, Interactions, Parts, Preparation, SyntheticConfig, prepare, synthetic};
use rivalry::memory::MemoryLimit;
use rivalry::model::Model;
use rivalry::models::{Kind, MODELS};
use rivalry::ranker::{Filter, Ranker, Side};
use rivalry::scorer::ItemBlock;
use rivalry::train::{Fit, Fitted, NoCheckpoints, NoObserver, TrainEvent, fit, trainer};

fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|entry| entry.name)
}

fn is_closed_form(name: &str) -> bool {
    MODELS.iter().any(|entry| entry.name == name && matches!(entry.build, Kind::ClosedForm(_)))
}

fn closed_forms() -> impl Iterator<Item = &'static str> {
    names().filter(|name| is_closed_form(name))
}

/// The settings of a model; one that is trained by gradients is trained shortly.
fn config(model: &str, settings: &[&str]) -> Config {
    let mut layers = vec![source_layer("synthetic"), setting_layer(&format!("model.type={model}")).unwrap()];
    if !is_closed_form(model) {
        let short = ["train.epochs=3", "train.negatives=20", "model.dim=20", "optim.lr=0.1"];
        layers.extend(short.map(|setting| setting_layer(setting).unwrap()));
    }
    layers.extend(settings.iter().map(|setting| setting_layer(setting).unwrap()));
    Config::from_layers(&layers).unwrap()
}

fn train(dataset: &Dataset, config: &Config) -> Fit {
    match fit(dataset, config, None, &mut NoCheckpoints, &mut NoObserver).unwrap() {
        Fitted::Done(fit) => *fit,
        Fitted::Stopped(_) => panic!("nobody asked to stop"),
    }
}

fn world(users: usize, items: usize) -> Dataset {
    let config = SyntheticConfig { users: users as u32, items: items as u32, ..SyntheticConfig::default() };
    prepare("world", synthetic(&config), &Preparation::default()).unwrap()
}

/// A data set of these training pairs; the last item is also everybody's test item.
fn dataset(users: usize, items: usize, pairs: Vec<(u32, u32)>) -> Dataset {
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
    let parts = Parts {
        train: Interactions::from_pairs(users, items, pairs),
        valid: Interactions::empty(users, items),
        test: Interactions::from_pairs(users, items, [(0, items as u32 - 1)]),
    };
    Dataset::new("small", ids(users), ids(items), parts, vec![]).unwrap()
}

/// More items than a block of any model has.
#[test]
fn the_number_of_threads_changes_no_bit() {
    let dataset = world(900, 700);
    for name in names() {
        let config = config(name, &[]);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&dataset, &config))
        };
        let one = with(1);
        assert_eq!(one.outcome.training.is_none(), is_closed_form(name), "{name}");
        assert!(one.outcome.test["NDCG@20"] > 0.02, "{name}");
        for threads in 2..=8 {
            let more = with(threads);
            assert_eq!(one.tensors.differences(&more.tensors), [""; 0], "{name}, {threads} threads");
            assert_eq!(one.outcome.test, more.outcome.test, "{name}, {threads} threads");
        }
    }
}

#[test]
fn the_seed_makes_a_difference_where_a_model_says_so() {
    let dataset = world(300, 200);
    for name in names() {
        let [one, two] = ["train.seed=1", "train.seed=2"].map(|seed| train(&dataset, &config(name, &[seed])));
        assert_eq!(one.tensors != two.tensors, config(name, &[]).model.uses_seed(), "{name}");
    }
}

#[test]
fn a_file_gives_the_same_lists_for_known_and_new_users_and_similar_items() {
    let dataset = world(300, 200);
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let config = config(name, &[]);
        let model = train(&dataset, &config).into_model(&dataset, config);
        let path = folder.path().join(name);
        model.save(&path).unwrap();
        let read = [Model::read(&path).unwrap(), Model::from_bytes(&model.to_bytes().unwrap()).unwrap()];
        let lists = |model: &Model| {
            let ranker = Ranker::new(model.clone()).unwrap();
            let users: Vec<u32> = (0..300).collect();
            let known = ranker.recommend(&users, 20, &Filter::default()).unwrap();
            let new = ranker.recommend_new(&dataset.test, 20, &Filter::default()).unwrap();
            let similar = ranker.similar(Side::Items, &[0, 7, 199], 10, &Filter::default()).ok();
            let list = |lists: &rivalry::ranker::RankedLists, n: usize| {
                let scores: Vec<u32> = lists.scores(n).iter().map(|score| score.to_bits()).collect();
                (lists.items(n).to_vec(), scores)
            };
            let of =
                |lists: &rivalry::ranker::RankedLists, n: usize| (0..n).map(|row| list(lists, row)).collect();
            let all: [Vec<_>; 2] = [of(&known, 300), of(&new, 300)];
            let similar: Option<Vec<_>> = similar.map(|similar| of(&similar, 3));
            (all, similar)
        };
        let before = lists(&model);
        assert_eq!(before.1.is_some(), name != "popularity", "{name}");
        for (row, (items, _)) in before.0[0].iter().enumerate() {
            assert!(items.len() == 20 && items.iter().all(|&item| !dataset.train.contains(row as u32, item)));
        }
        for read in read {
            assert!(read.tensors == model.tensors && lists(&read) == before, "{name}");
        }
    }
}

#[test]
fn scores_agree_with_the_reference_and_do_not_depend_on_the_block() {
    let dataset = world(300, 200);
    for name in names() {
        let config = config(name, &[]);
        let ranker = Ranker::new(train(&dataset, &config).into_model(&dataset, config)).unwrap();
        let scorer = ranker.scorer();
        let (mut scores, mut some) = Default::default();
        scorer.score(&scorer.query(&[0, 5, 299]), ItemBlock::Range(0..200), &mut scores);
        scorer.score(&scorer.query(&[5]), ItemBlock::Ids(&[3, 17, 198]), &mut some);
        assert_eq!(some.row(0), [3, 17, 198].map(|item| scores.row(1)[item]), "{name}");
        for (row, user) in [0, 5, 299].into_iter().enumerate() {
            let reference = scorer.reference_scores(user);
            for (found, exact) in scores.row(row).iter().zip(&reference.scores) {
                assert!((f64::from(*found) - exact).abs() <= reference.rounding, "{name}: {found} {exact}");
            }
        }
    }
}

#[test]
fn ids_that_do_not_exist_are_refused() {
    let dataset = world(300, 200);
    for name in names() {
        let config = config(name, &[]);
        let ranker = Ranker::new(train(&dataset, &config).into_model(&dataset, config)).unwrap();
        assert!(ranker.recommend(&[300], 5, &Filter::default()).is_err(), "{name}");
        let other = Interactions::from_pairs(1, 201, [(0, 200)]);
        assert!(ranker.recommend_new(&other, 5, &Filter::default()).is_err(), "{name}");
        if name != "popularity" {
            let error = ranker.similar(Side::Items, &[200], 5, &Filter::default()).unwrap_err();
            assert!(error.to_string().contains("item 200 doesn't exist"), "{name}");
        }
    }
}

/// A catalogue of one item; users without items; an item without users; a user with every item; the same user twice.
#[test]
fn the_smallest_and_the_oddest_data_are_fitted() {
    let all = |user: u32, items: u32| (0..items).map(move |item| (user, item));
    let cases = [
        ("one item", dataset(3, 1, vec![(1, 0)])),
        ("one user", dataset(1, 6, all(0, 5).collect())),
        ("users without items", dataset(40, 6, vec![(0, 0), (0, 1), (1, 1), (39, 2)])),
        ("everything", dataset(20, 9, (0..20).flat_map(|user| all(user, 8)).collect())),
    ];
    for (case, dataset) in &cases {
        for name in names() {
            let config = config(name, &["eval.k=[1]"]);
            if *case == "one item" && !is_closed_form(name) {
                // There is no negative to draw, and the training says so.
                let refused = fit(dataset, &config, None, &mut NoCheckpoints, &mut NoObserver);
                let refused = refused.err().unwrap_or_else(|| panic!("{name}")).to_string();
                assert!(refused.contains("has interacted with every item"), "{name}: {refused}");
                continue;
            }
            let fitted = train(dataset, &config);
            let ranker = Ranker::new(fitted.into_model(dataset, config)).unwrap();
            let users: Vec<u32> = (0..dataset.users.len() as u32).collect();
            let lists = ranker.recommend(&users, 3, &Filter::NONE).unwrap();
            for row in 0..users.len() {
                assert!(lists.scores(row).iter().all(|score| score.is_finite()), "{name}, {case}");
            }
            let nobody = Interactions::empty(1, dataset.items.len());
            assert!(ranker.recommend_new(&nobody, 3, &Filter::default()).is_ok(), "{name}, {case}");
        }
    }
}

#[test]
fn more_neighbours_than_items_are_all_of_them() {
    let dataset = world(300, 200);
    for name in ["item-knn", "rp3beta", "fs-slim", "turbo-cf"] {
        let [all, more] = ["model.k=199", "model.k=4000"].map(|k| train(&dataset, &config(name, &[k])));
        assert!(all.tensors == more.tensors, "{name}");
    }
}

#[test]
fn a_fit_that_reports_progress_can_be_stopped() {
    let dataset = world(300, 200);
    for name in closed_forms().filter(|&name| name != "popularity") {
        let mut reports = 0;
        let mut stop = |event: &TrainEvent<'_>| match event {
            TrainEvent::Fitting { done, total } => {
                reports += 1;
                assert!(*done <= *total, "{name}: {done} of {total}");
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        };
        let fitted = fit(&dataset, &config(name, &[]), None, &mut NoCheckpoints, &mut stop).unwrap();
        assert!(matches!(fitted, Fitted::Stopped(None)) && reports == 1, "{name}");
    }
}

#[test]
fn what_does_not_fit_into_memory_is_refused_with_the_size_and_an_alternative() {
    let large = dataset(2, 200_000, vec![(0, 1), (1, 199_999)]);
    let check = |model: &str, bytes| trainer(&config(model, &[]), MemoryLimit::bytes(bytes)).check(&large);
    let error = check("ease", 8 << 30).unwrap_err().to_string();
    assert!(error.starts_with("fitting ease needs about 149.6 GB of memory, but only 8.0 GB"), "{error}");
    assert!(error.contains("help: use model.type = \"fs-slim\""), "{error}");
    assert!(check("fs-slim", 8 << 30).is_ok());
    for name in names() {
        let refused = check(name, 1 << 10).unwrap_err().to_string();
        assert!(refused.contains("needs about") && refused.contains("--max-memory"), "{name}: {refused}");
    }
}
