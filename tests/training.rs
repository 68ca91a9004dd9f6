//! Whole trainings through the library: learning, repeating, stopping and going on.

use std::ops::ControlFlow;

use rivalry::backbone::{BACKBONES, Embeddings};
use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::{Dataset, Interactions, Preparation, SyntheticConfig, load, prepare, synthetic};
use rivalry::loss::LOSSES;
use rivalry::train::{Event, Fit, Fitted, Nowhere, Silent, Stopped, fit};

fn config(source: &str, settings: &[&str]) -> Config {
    let mut layers = vec![source_layer(source)];
    layers.extend(settings.iter().map(|setting| setting_layer(setting).unwrap()));
    Config::from_layers(&layers).unwrap()
}

fn data(config: &Config) -> Dataset {
    load(&config.data, &Default::default(), &mut |_| {}).unwrap()
}

fn train(dataset: &Dataset, config: &Config) -> Fit {
    match fit(dataset, config, None, &mut Nowhere, &mut Silent).unwrap() {
        Fitted::Done(fit) => *fit,
        Fitted::Stopped(_) => panic!("nobody asked to stop"),
    }
}

/// Every loss with every backbone.
fn for_each_pair(test: impl Fn(&str, &str)) {
    for loss in LOSSES {
        for backbone in BACKBONES {
            test(loss.name, backbone.name);
        }
    }
}

/// The synthetic set in small.
fn small_world() -> Dataset {
    let config = SyntheticConfig { users: 300, items: 200, ..SyntheticConfig::default() };
    prepare("small world", synthetic(&config), &Preparation::default()).unwrap()
}

fn small(loss: &str, backbone: &str, more: &[&str]) -> Config {
    let (loss, backbone) = (format!("loss.type={loss}"), format!("backbone.type={backbone}"));
    let mut settings = vec![&loss[..], &backbone, "model.dim=20", "train.epochs=6"];
    settings.extend(["train.eval_every=2", "train.batch_size=700"]);
    if !["guidedrec", "bpr"].contains(&&loss["loss.type=".len()..]) {
        settings.push("train.negatives=50");
    }
    settings.extend(more);
    config("synthetic", &settings)
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let dataset = small_world();
    for_each_pair(|loss, backbone| {
        let config = small(loss, backbone, &[]);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| train(&dataset, &config))
        };
        let one = with(1);
        for threads in 2..=8 {
            let more = with(threads);
            assert_eq!(one.learned, more.learned, "{loss} with {backbone}, {threads} threads");
            assert_eq!(one.outcome.test, more.outcome.test);
        }
    });
}

/// The small world is scored by picking rows. These are the other two ways: all items at once, and shared negatives.
#[test]
fn the_number_of_threads_changes_no_bit_however_negatives_are_scored() {
    let dataset = small_world();
    for way in ["train.negatives=100", "sampler.type=shared"] {
        for loss in ["sl", "dsl", "advinfonce"] {
            let config = small(loss, "mf", &[way, "train.batch_size=300"]);
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| train(&dataset, &config))
            };
            let one = with(1);
            for threads in [2, 3] {
                assert_eq!(one.learned, with(threads).learned, "{way}, {loss}, {threads} threads");
            }
        }
    }
}

#[test]
fn a_stopped_training_ends_where_the_uninterrupted_one_does() {
    let dataset = small_world();
    for_each_pair(|loss, backbone| {
        let config = small(loss, backbone, &[]);
        let whole = train(&dataset, &config);
        let mut from: Option<Stopped> = None;
        let mut sittings = 0;
        let resumed = loop {
            sittings += 1;
            let mut steps = 0;
            let mut stop_after_seven = |event: &Event<'_>| {
                steps += usize::from(matches!(event, Event::Step { .. }));
                if steps >= 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match fit(&dataset, &config, from.take(), &mut Nowhere, &mut stop_after_seven).unwrap() {
                Fitted::Stopped(stopped) => from = Some(*stopped),
                Fitted::Done(fit) => break fit,
            }
        };
        assert!(sittings > 5, "{sittings}");
        assert_eq!(whole.learned, resumed.learned, "{loss} with {backbone}");
        assert_eq!(whole.outcome.test, resumed.outcome.test);
        assert_eq!(whole.outcome.valid, resumed.outcome.valid);
    });
}

#[test]
fn an_evaluation_that_is_broken_off_comes_first_when_the_training_goes_on() {
    let dataset = small_world();
    let config = small("dsl", "mf", &[]);
    let whole = train(&dataset, &config);
    let (mut from, mut sittings): (Option<Stopped>, usize) = (None, 0);
    let resumed = loop {
        sittings += 1;
        let (mut steps, mut records) = (0, 0);
        let mut stop_in_an_evaluation = |event: &Event<'_>| {
            steps += usize::from(matches!(event, Event::Step { .. }));
            records += usize::from(matches!(event, Event::Evaluated(_)));
            let stop = matches!(event, Event::Evaluating { .. }) && steps > 0;
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match fit(&dataset, &config, from.take(), &mut Nowhere, &mut stop_in_an_evaluation).unwrap() {
            Fitted::Stopped(stopped) => {
                assert_eq!(records, usize::from(sittings > 1), "only the one that was broken off before");
                from = Some(*stopped);
            }
            Fitted::Done(fit) => break fit,
        }
    };
    // Every evaluation is broken off once, but for the test at the end, which no step comes before.
    assert_eq!(sittings, config.train.epochs.div_ceil(config.train.eval_every) + 1);
    assert_eq!(whole.learned, resumed.learned);
    assert_eq!(whole.outcome.test, resumed.outcome.test);
}

/// Two groups of users who each like one half of the items: what is held out is in the own half.
fn two_worlds() -> Dataset {
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for user in 0..40u32 {
        for item in (0..30u32).filter(|item| item % 2 == user % 2) {
            let pair = (user, item);
            if (user * 7 + item * 3) % 5 == 0 { test.push(pair) } else { train.push(pair) }
        }
    }
    let ids = |kind: &str, n: u32| (0..n).map(|i| format!("{kind}{i}")).collect();
    Dataset {
        name: "two worlds".into(),
        users: ids("u", 40),
        items: ids("i", 30),
        train: Interactions::from_pairs(40, 30, train),
        valid: Interactions::empty(40, 30),
        test: Interactions::from_pairs(40, 30, test),
        checksum: String::new(),
        notes: vec![],
    }
}

#[test]
fn every_loss_learns_two_worlds() {
    let dataset = two_worlds();
    for_each_pair(|loss, backbone| {
        let more = ["train.epochs=60", "train.batch_size=64", "eval.k=[5]"];
        let fit = train(&dataset, &small(loss, backbone, &more));
        let recall = fit.outcome.test["Recall@5"];
        assert!(recall > 0.95, "{loss} with {backbone}: Recall@5 = {recall}");
    });
}

#[test]
fn a_model_starts_with_rows_of_its_own_whatever_the_seed() {
    let dataset = two_worlds();
    let learned = |seed: &str| -> Embeddings {
        train(&dataset, &small("sl", "mf", &[seed, "train.epochs=1", "eval.k=[5]", "train.negatives=5"]))
            .learned
    };
    let (one, other) = (learned("train.seed=1"), learned("train.seed=2"));
    assert_ne!(one, other);
    assert_ne!(one.users.row(0), one.items.row(0));
    assert_ne!(one.users.row(0), one.users.row(1));
}

/// The published data, where they are at hand: `RIVALRY_DATA` names the folder.
#[test]
fn amazon_health_reaches_the_published_quality() {
    if std::env::var_os("RIVALRY_DATA").is_none_or(|folder| folder.is_empty()) {
        eprintln!("left out: RIVALRY_DATA is not set");
        return;
    }
    let settings = ["loss.type=sl", "loss.tau=0.25", "optim.lr=0.1", "train.epochs=60"];
    let config_of = |more: &[&str]| config("amazon2014-health", &[&settings[..], more].concat());
    let dataset = data(&config_of(&[]));
    let sl = train(&dataset, &config_of(&[])).outcome.test;
    eprintln!("SL: {sl:?}");
    assert!(sl["Recall@20"] >= 0.168 && sl["NDCG@20"] >= 0.123, "{sl:?}");
    let ca =
        train(&dataset, &config_of(&["loss.type=dsl-ca", "loss.tau=0.25", "loss.alpha=3.0"])).outcome.test;
    eprintln!("DSL, competition-aware alone, α = 3: {ca:?}");
    assert!(ca["NDCG@20"] > sl["NDCG@20"], "{ca:?} {sl:?}");
}
