//! One training by several processes: the same bits for any number of them, and of threads.

mod threads;

use std::ops::ControlFlow;

use rivalry::Result;
use rivalry::collective::{Alone, Collective};
use rivalry::config::{Config, setting_layer};
use rivalry::data::{DataConfig, Dataset, LoadOptions, load, write_benchmark};
use rivalry::memory::MemoryLimit;
use rivalry::tensors::Tensors;
use rivalry::train::{
    Fitted, NoCheckpoints, NoObserver, Observer, Outcome, TrainEvent, TrainingState, load_shared,
    shared_trainer,
};

use self::threads::together;

/// Settings that take a path of their own through a step.
const CASES: [&[&str]; 15] = [
    &["loss.type=sl"],
    &["loss.type=bpr", "sampler.type=popularity"],
    &["loss.type=dsl@k", "loss.refresh_every=1", "train.negatives=30"],
    &["loss.type=talos", "loss.alpha=2", "train.negatives=30"],
    &["loss.type=drrl", "train.negatives=30"],
    &["loss.type=llpauc", "train.negatives=20"],
    &["loss.type=guidedrec"],
    &["loss.type=advinfonce", "loss.adversary_every=2", "train.negatives=20"],
    &["loss.type=sl", "sampler.type=shared", "sampler.pairs=24", "train.negatives=20"],
    &["loss.type=sl", "train.negatives=1", "optim.type=lazy-adam", "train.batch_size=64"],
    &["loss.type=sl", "train.negatives=1", "optim.deferred=true", "train.batch_size=64"],
    &["loss.type=sl", "sampler.type=hard", "sampler.candidates=40", "train.negatives=10"],
    &["loss.type=sl", "model.type=fism", "model.user_weight=0.3", "model.popularity_weight=0.2"],
    &["loss.type=sl", "train.init=als", "optim.weight_decay=0.001"],
    &["loss.type=dsl-ca", "model.popularity_weight=0.2", "train.negatives=50"],
];

fn dataset() -> Dataset {
    load(&DataConfig::new("synthetic"), &LoadOptions::default(), &mut |_| {}).unwrap()
}

fn config(settings: &[&str], shards: usize) -> Config {
    let shards = format!("train.shards={shards}");
    let common = ["train.epochs=2", "train.eval_every=1", "model.dim=20", "train.batch_size=2000", &shards];
    let layers: Vec<_> =
        common.iter().chain(settings).map(|setting| setting_layer(setting).unwrap()).collect();
    Config::from_layers(&layers).unwrap()
}

fn fit(
    config: &Config,
    dataset: &Dataset,
    from: Option<TrainingState>,
    observer: &mut dyn Observer,
    collective: &dyn Collective,
) -> Result<Fitted> {
    let trainer = shared_trainer(config, MemoryLimit::default(), collective);
    trainer.fit(dataset, from, &mut NoCheckpoints, observer)
}

/// What rank 0 has of a training that ran to its end: the model, and the figures without times.
fn trained(config: &Config, dataset: &Dataset, collective: &dyn Collective) -> (Tensors, Outcome) {
    let fitted = fit(config, dataset, None, &mut NoObserver, collective).unwrap();
    let Fitted::Done(fit) = fitted else { panic!("the training was not asked to stop") };
    (fit.tensors, Outcome { training: None, seconds: Default::default(), ..fit.outcome })
}

#[test]
fn any_number_of_processes_and_threads_gives_the_same_bits() {
    let dataset = dataset();
    for (case, settings) in CASES.into_iter().enumerate() {
        let config = config(settings, 8);
        let with_threads = |n: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| trained(&config, &dataset, &Alone))
        };
        let alone = with_threads(1);
        assert!(alone.1.test["NDCG@20"] > 0.0, "{settings:?}");
        assert_eq!(with_threads(2), alone, "{settings:?} with two threads");
        // Every number of processes for the first, and one of them for each of the others.
        let ranks: &[usize] = if case == 0 { &[1, 2, 3, 4, 8] } else { &[2 + case % 4] };
        for &ranks in ranks {
            let results = together(ranks, |collective| trained(&config, &dataset, collective));
            assert_eq!(results[0], alone, "{settings:?} on {ranks} processes");
            // All know the figures; only rank 0 looks whether anything was learned.
            assert!(results.iter().all(|(_, outcome)| outcome.test == alone.1.test));
        }
    }
}

#[test]
fn processes_that_have_the_rows_of_their_own_users_give_the_same_bits() {
    let (whole, folder) = (dataset(), tempfile::tempdir().unwrap());
    let source = folder.path().join("prepared");
    write_benchmark(&whole, &source, false).unwrap();
    let details = ["eval.buckets=true", "eval.beyond_accuracy=true"];
    for (case, settings) in CASES.into_iter().enumerate() {
        let mut config = config(&[settings, &details].concat(), 8);
        config.data = DataConfig::new(source.to_str().unwrap());
        let alone = trained(&config, &whole, &Alone);
        let all_rows = settings.contains(&"train.init=als");
        let results = together(2 + case % 4, |collective| {
            let dataset = load_shared(&config, &LoadOptions::default(), collective, &mut |_| {}).unwrap();
            assert_eq!(dataset.checksum, whole.checksum);
            assert_eq!(dataset.train.held_len() == whole.train.len(), all_rows, "{settings:?}");
            trained(&config, &dataset, collective)
        });
        assert_eq!(results[0], alone, "{settings:?}");
    }
}

#[test]
fn shards_change_the_bits_and_hardly_the_result() {
    let dataset = dataset();
    let result = |shards| trained(&config(&["loss.type=sl", "train.epochs=5"], shards), &dataset, &Alone);
    let (one, eight) = (result(1), result(8));
    assert_ne!(one.0, eight.0);
    let [one, eight] = [one, eight].map(|(_, outcome)| outcome.test["NDCG@20"]);
    assert!((one - eight).abs() < 0.1 * one, "{one} {eight}");
}

#[test]
fn a_training_that_was_stopped_is_resumed_by_another_number_of_processes() {
    let dataset = dataset();
    for settings in [CASES[2], CASES[5], CASES[8], CASES[10]] {
        let config = config(settings, 6);
        let whole = trained(&config, &dataset, &Alone);
        // One rank asks to stop within the second epoch; all do.
        let stopped = |collective: &dyn Collective| {
            let mut observer = |event: &TrainEvent<'_>| match event {
                TrainEvent::Step { epoch: 2, batch: 3, .. } if collective.rank() + 1 == collective.size() => {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            };
            match fit(&config, &dataset, None, &mut observer, collective).unwrap() {
                Fitted::Stopped(state) => state.map(|state| *state),
                Fitted::Done(_) => panic!("the training was asked to stop"),
            }
        };
        for (before, after) in [(3, 2), (2, 4), (1, 3), (3, 1)] {
            let state = together(before, stopped).swap_remove(0).unwrap();
            let state = std::sync::Mutex::new(Some(state));
            let results = together(after, |collective| {
                // Rank 0 alone has the state.
                let state = (collective.rank() == 0).then(|| state.lock().unwrap().take()).flatten();
                match fit(&config, &dataset, state, &mut NoObserver, collective).unwrap() {
                    Fitted::Done(fit) => fit.tensors,
                    Fitted::Stopped(_) => panic!("the training was not asked to stop"),
                }
            });
            assert_eq!(results[0], whole.0, "{settings:?}: {before} processes, then {after}");
        }
    }
}

#[test]
fn what_several_processes_cannot_do_is_refused_by_all() {
    let dataset = dataset();
    for (settings, shards, expected) in [
        (&["model.type=lightgcn"][..], 8, "lightgcn can't be trained by several"),
        (&[], 2, "too few for 3 processes"),
    ] {
        let config = config(settings, shards);
        let errors = together(3, |collective| {
            let fitted = fit(&config, &dataset, None, &mut NoObserver, collective);
            fitted.err().map(|error| error.to_string()).unwrap_or_default()
        });
        assert!(errors.iter().all(|error| error.contains(expected)), "{errors:?}");
    }
    // A loss that overflows does so on all ranks.
    let config = config(&["loss.type=sl", "model.score=dot", "optim.lr=1e30"], 4);
    let errors = together(2, |collective| {
        fit(&config, &dataset, None, &mut NoObserver, collective).err().map(|error| error.to_string())
    });
    assert!(
        errors.iter().all(|error| error.as_ref().is_some_and(|error| error.contains("non-finite"))),
        "{errors:?}"
    );
}
