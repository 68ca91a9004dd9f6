//! Whole trainings through the library: learning, repeating, stopping and resuming, for every loss, model, sampler and
//! optimiser on the lists.

use std::ops::ControlFlow;

use rivalry::config::{Config, setting_layer, source_layer};
use rivalry::data::{Dataset, Interactions, Parts, Preparation, SyntheticConfig, load, prepare, synthetic};
use rivalry::loss::{LOSSES, LossConfig, NegativeFeatures, Negatives};
use rivalry::model::Model;
use rivalry::models::{Kind, MODELS};
use rivalry::optim::OPTIMIZERS;
use rivalry::ranker::{Filter, Ranker, Side};
use rivalry::sampler::SAMPLERS;
use rivalry::train::{Fit, Fitted, NoCheckpoints, NoObserver, TrainEvent, TrainingState, fit};

fn config(source: &str, settings: &[&str]) -> Config {
    let mut layers = vec![source_layer(source)];
    layers.extend(settings.iter().map(|setting| setting_layer(setting).unwrap()));
    Config::from_layers(&layers).unwrap()
}

fn data(config: &Config) -> Dataset {
    load(&config.data, &Default::default(), &mut |_| {}).unwrap()
}

fn train(dataset: &Dataset, config: &Config) -> Fit {
    match fit(dataset, config, None, &mut NoCheckpoints, &mut NoObserver).unwrap() {
        Fitted::Done(fit) => *fit,
        Fitted::Stopped(_) => panic!("nobody asked to stop"),
    }
}

/// The models that are trained by gradients.
fn backbones() -> impl Iterator<Item = &'static str> {
    MODELS.iter().filter(|entry| matches!(entry.build, Kind::Gradient(_))).map(|entry| entry.name)
}

/// Every loss with one backbone, and every backbone with one loss of each kind: a backbone sees of a loss only the features
/// of negatives that it asks for. (The digests in `same_bits` are of every loss with every backbone.)
fn for_each_pair(test: impl Fn(&str, &str)) {
    let mut kinds: Vec<NegativeFeatures> = Vec::new();
    for loss in LOSSES {
        let kind = LossConfig::named("loss", LOSSES, loss.name).build().negative_features();
        let first = !kinds.contains(&kind);
        kinds.push(kind);
        let with = backbones().take(if first { usize::MAX } else { 1 });
        with.for_each(|backbone| test(loss.name, backbone));
    }
}

/// The synthetic set in small.
fn small_world() -> Dataset {
    let config = SyntheticConfig { users: 300, items: 200, ..SyntheticConfig::default() };
    prepare("small world", synthetic(&config), &Preparation::default()).unwrap()
}

fn small(loss: &str, backbone: &str, more: &[&str]) -> Config {
    // Losses with few negatives, or with a fixed number of them, keep theirs.
    let many = matches!(LossConfig::named("loss", LOSSES, loss).defaults().negatives, Negatives::Default(n) if n > 50);
    let (loss, backbone) = (format!("loss.type={loss}"), format!("model.type={backbone}"));
    let mut settings = vec![&loss[..], &backbone, "model.dim=20", "train.epochs=6"];
    // The same for all: on so few data the learning rates of the losses would need more epochs.
    settings.extend(["model.score=cosine", "optim.lr=0.1", "optim.weight_decay=0"]);
    settings.extend(["train.eval_every=2", "train.batch_size=700"]);
    if many {
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
        for threads in [3, 8] {
            let more = with(threads);
            assert_eq!(one.tensors, more.tensors, "{loss} with {backbone}, {threads} threads");
            assert_eq!(one.outcome.test, more.outcome.test);
        }
    });
}

/// The small world is scored by gathering rows. These are the other ways to score, draw and step.
#[test]
fn the_number_of_threads_changes_no_bit_however_negatives_are_drawn_and_scored() {
    let dataset = small_world();
    let samplers = SAMPLERS.iter().map(|entry| format!("sampler.type={}", entry.name));
    let optimizers = OPTIMIZERS.iter().map(|entry| format!("optim.type={}", entry.name));
    for way in samplers.chain(optimizers).chain(["train.negatives=100".to_owned()]) {
        for loss in ["sl", "dsl", "advinfonce"] {
            let config = small(loss, "mf", &[&way, "train.batch_size=300"]);
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| train(&dataset, &config))
            };
            let one = with(1);
            for threads in [2, 3] {
                assert_eq!(one.tensors, with(threads).tensors, "{way}, {loss}, {threads} threads");
            }
        }
    }
}

#[test]
fn a_stopped_training_ends_where_the_uninterrupted_one_does() {
    for_each_pair(|loss, backbone| stop_and_resume(loss, backbone, &[]));
    // Rows that are behind when the training is stopped; an adversary and quantiles, which read other rows.
    for loss in ["dsl", "advinfonce", "sl@k", "talos", "drrl"] {
        let more = ["sampler.type=shared", "optim.schedule=cosine", "optim.warmup=0.2", "train.init=als"];
        stop_and_resume(loss, "mf", &more);
    }
    stop_and_resume("sl@k", "fism", &["sampler.type=shared", "model.user_weight=0.5", "train.init=als"]);
}

fn stop_and_resume(loss: &str, backbone: &str, more: &[&str]) {
    let dataset = small_world();
    let config = small(loss, backbone, more);
    let whole = train(&dataset, &config);
    let mut from: Option<TrainingState> = None;
    let mut sittings = 0;
    let resumed = loop {
        sittings += 1;
        let mut steps = 0;
        let mut stop_after_seven = |event: &TrainEvent<'_>| {
            steps += usize::from(matches!(event, TrainEvent::Step { .. }));
            if steps >= 7 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match fit(&dataset, &config, from.take(), &mut NoCheckpoints, &mut stop_after_seven).unwrap() {
            Fitted::Stopped(state) => from = state.map(|state| *state),
            Fitted::Done(fit) => break fit,
        }
    };
    assert!(sittings > 5, "{sittings}");
    assert_eq!(whole.tensors, resumed.tensors, "{loss} with {backbone}");
    assert_eq!(whole.outcome.test, resumed.outcome.test);
    assert_eq!(whole.outcome.valid, resumed.outcome.valid);
}

#[test]
fn an_evaluation_that_is_broken_off_comes_first_when_the_training_goes_on() {
    let dataset = small_world();
    let config = small("dsl", "mf", &[]);
    let whole = train(&dataset, &config);
    let (mut from, mut sittings): (Option<TrainingState>, usize) = (None, 0);
    let resumed = loop {
        sittings += 1;
        let (mut steps, mut records) = (0, 0);
        let mut stop_in_an_evaluation = |event: &TrainEvent<'_>| {
            steps += usize::from(matches!(event, TrainEvent::Step { .. }));
            records += usize::from(matches!(event, TrainEvent::Evaluated(_)));
            let stop = matches!(event, TrainEvent::Evaluating { .. }) && steps > 0;
            if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match fit(&dataset, &config, from.take(), &mut NoCheckpoints, &mut stop_in_an_evaluation).unwrap() {
            Fitted::Stopped(state) => {
                assert_eq!(records, usize::from(sittings > 1), "only the one that was broken off before");
                from = state.map(|state| *state);
            }
            Fitted::Done(fit) => break fit,
        }
    };
    // Every evaluation is broken off once, but for the test at the end, which no step comes before.
    let settings = config.gradient.unwrap().train;
    assert_eq!(sittings, settings.epochs.div_ceil(settings.eval_every) + 1);
    assert_eq!(whole.tensors, resumed.tensors);
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
    let parts = Parts {
        train: Interactions::from_pairs(40, 30, train),
        valid: Interactions::empty(40, 30),
        test: Interactions::from_pairs(40, 30, test),
    };
    Dataset::new("two worlds", ids("u", 40), ids("i", 30), parts, vec![]).unwrap()
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
fn every_sampler_and_optimizer_learns_two_worlds() {
    let dataset = two_worlds();
    let samplers = SAMPLERS.iter().map(|entry| format!("sampler.type={}", entry.name));
    let optimizers = OPTIMIZERS.iter().map(|entry| format!("optim.type={}", entry.name));
    for way in samplers.chain(optimizers) {
        let shared = ["train.epochs=60", "train.batch_size=64", "eval.k=[5]", "train.negatives=12"];
        let more: Vec<&str> = shared.into_iter().chain([&way[..]]).collect();
        let recall = train(&dataset, &small("sl", "mf", &more)).outcome.test["Recall@5"];
        // A random ranking has about 0.2. Hard negatives are mostly held-out items of the user's own half here.
        assert!(recall > 0.4, "{way}: Recall@5 = {recall}");
    }
}

/// With the log-q correction, negatives by popularity estimate the same softmax as uniform ones do; without it, the
/// estimate is biased. Popular items are pushed down by the bias.
#[test]
fn the_log_q_correction_removes_the_bias_of_a_popularity_sampler() {
    let dataset = small_world();
    let popularity = |settings: &[&str]| {
        let all: Vec<&str> = ["eval.beyond_accuracy=true", "train.epochs=20", "eval.k=[20]"]
            .iter()
            .chain(settings)
            .copied()
            .collect();
        train(&dataset, &small("sl", "mf", &all)).outcome.beyond.unwrap()["AveragePopularity@20"]
    };
    let uniform = popularity(&[]);
    let biased = popularity(&["sampler.type=popularity", "sampler.power=1"]);
    let corrected = popularity(&["sampler.type=popularity", "sampler.power=1", "loss.log_q=true"]);
    assert!((corrected - uniform).abs() < (biased - uniform).abs() / 4.0, "{uniform} {biased} {corrected}");
}

#[test]
fn a_model_starts_with_rows_of_its_own_whatever_the_seed() {
    let dataset = two_worlds();
    let learned = |seed: &str| {
        let more = [seed, "train.epochs=1", "eval.k=[5]", "train.negatives=5"];
        train(&dataset, &small("sl", "mf", &more)).tensors.get_embeddings("learned").unwrap()
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

/// A few users with a few items in two groups; the lists can be as long as the catalogue.
fn tiny_world(users: usize, items: usize) -> Dataset {
    let pairs = (0..users as u32).flat_map(|user| {
        (0..items as u32)
            .filter(move |item| item % 2 == user % 2 && *item / 2 != user % 3)
            .map(move |i| (user, i))
    });
    let train = Interactions::from_pairs(users, items, pairs);
    let held_out = |n: u32| {
        let own = (0..users as u32).map(|user| (user, user % 3 * 2 + user % 2));
        let own = own.filter(|(user, _)| user % 2 == n);
        Interactions::from_pairs(users, items, own)
    };
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
    let parts = Parts { train, valid: held_out(0), test: held_out(1) };
    Dataset::new("tiny", ids(users), ids(items), parts, vec![]).unwrap()
}

#[test]
fn a_training_that_learned_nothing_says_so_and_others_do_not() {
    let world = small_world();
    let mut without = world.clone();
    without.valid = Interactions::empty(world.users.len(), world.items.len());
    let reason = |dataset: &Dataset, config: &Config| train(dataset, config).outcome.nothing_learned;
    // Propagation alone puts neighbours in the graph near each other, so that of a graph model no learning is needed to
    // score training items higher.
    for (model, lr, sign) in [
        ("mf", "optim.lr=1e30", "overflowed"),
        ("lightgcn", "optim.lr=1e30", "overflowed"),
        ("mf", "optim.lr=1e-9", "by chance"),
    ] {
        for dataset in [&world, &without] {
            let said = reason(dataset, &small("sl", model, &[lr])).unwrap_or_default();
            assert!(said.contains(sign) && said.contains("--lr"), "{model} {lr}: '{said}'");
        }
    }
    for loss in LOSSES.iter().map(|loss| loss.name) {
        assert_eq!(reason(&world, &small(loss, "mf", &[])), None, "{loss}");
    }
    assert_eq!(reason(&without, &small("sl", "mf", &[])), None);
    for (users, items) in [(6, 7), (3, 6), (40, 8)] {
        let tiny = tiny_world(users, items);
        let k = format!("eval.k=[{items}]");
        let settings = ["train.epochs=20", "train.negatives=2", &k];
        assert_eq!(reason(&tiny, &small("sl", "mf", &settings)), None, "{users} users, {items} items");
        assert!(reason(&tiny, &small("sl", "mf", &[&settings[..], &["optim.lr=1e30"]].concat())).is_some());
    }
}

#[test]
fn users_of_fism_are_their_items_known_or_new() {
    let world = small_world();
    let config = small("sl", "fism", &["train.epochs=2"]);
    let model = train(&world, &config).into_model(&world, config);
    assert_eq!(model.tensors.get_embeddings("learned").unwrap().users.rows(), 0);
    let ranker = Ranker::new(Model::from_bytes(&model.to_bytes().unwrap()).unwrap()).unwrap();
    let filter = Filter { exclude: Some(&world.train), ..Filter::NONE };
    let known = ranker.recommend(&(0..300).collect::<Vec<u32>>(), 20, &filter).unwrap();
    let new = ranker.recommend_new(&world.train, 20, &filter).unwrap();
    (0..300).for_each(|user| assert!(known.list(user).eq(new.list(user)), "user {user}"));
}

#[test]
fn items_that_do_not_exist_are_refused_as_neighbours() {
    let world = small_world();
    let config = small("sl", "mf", &["train.epochs=2"]);
    let ranker = Ranker::new(train(&world, &config).into_model(&world, config)).unwrap();
    let among = |allow: &[u32]| {
        let filter = Filter { allow: Some(allow), ..Filter::default() };
        ranker.similar(Side::Items, &[0], 3, &filter).map(|lists| lists.items(0).to_vec())
    };
    assert_eq!(among(&[0, 199]).unwrap(), [199]);
    assert!(among(&[0, 200]).unwrap_err().to_string().contains("item 200 doesn't exist"));
}
