//! Settings and data at the edge of what numbers can do. Each ends in a result or in an error that says why; a number that
//! is not finite is never saved.

use rivalry::backbone::Embeddings;
use rivalry::config::{Config, setting_layer};
use rivalry::data::{Dataset, IdMap, Interactions, Parts};
use rivalry::loss::{self, LOSSES, LossConfig, Negatives};
use rivalry::models::{Kind, MODELS};
use rivalry::optim::OptimizerState;
use rivalry::tensors::Tensors;
use rivalry::train::{Checkpointer, Ending, Fitted, NoObserver, Progress, Snapshot, TrainingState, fit};
use rivalry::{Error, Matrix, Result};

/// Refuses numbers that are not finite, as someone who finds them in a saved model would wish.
#[derive(Default)]
struct Strict {
    saved: usize,
}

impl Strict {
    fn take(&mut self, tables: &Embeddings) {
        self.saved += 1;
        for table in tables.tables() {
            assert!(table.to_dense().iter().all(|x| x.is_finite()), "a number that is not finite was saved");
        }
    }
}

impl Checkpointer for Strict {
    fn save_model(&mut self, tensors: &Tensors, _: Option<usize>) -> Result<()> {
        self.take(&tensors.get_embeddings("learned").unwrap());
        Ok(())
    }

    fn save_progress(&mut self, progress: &Progress, snapshot: Snapshot<'_>) -> Result<()> {
        self.take(snapshot.learned);
        assert!(progress.history.iter().all(|record| record.loss.is_finite()));
        Ok(())
    }
}

/// A data set from training and test pairs, without a validation set.
fn world(n_users: usize, n_items: usize, train: &[(u32, u32)], test: &[(u32, u32)]) -> Dataset {
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect::<IdMap>();
    let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(n_users, n_items, pairs.iter().copied());
    let parts = Parts { train: part(train), valid: part(&[]), test: part(test) };
    Dataset::new("edge", ids(n_users), ids(n_items), parts, vec![]).unwrap()
}

/// Twelve users and nine items, enough for every loss to do all it does.
fn ordinary() -> Dataset {
    let all: Vec<(u32, u32)> = (0..12).flat_map(|u| (0..5).map(move |n| (u, (u * 2 + n * n) % 9))).collect();
    let (train, test): (Vec<_>, Vec<_>) = all.iter().partition(|(u, i)| (u + i) % 4 != 0);
    world(12, 9, &train, &test)
}

/// The config, or why there is none.
fn config(loss: &str, backbone: &str, settings: &[String]) -> Result<Config> {
    let own = |setting: &&String| match setting.strip_prefix("loss.") {
        // A parameter that this loss does not have is not part of its test.
        Some(rest) => LOSSES.iter().any(|entry| {
            entry.name == loss && entry.params.iter().any(|p| rest.split('=').next() == Some(p.name))
        }),
        None => true,
    };
    let small = ["train.epochs=6", "train.eval_every=2", "train.batch_size=16", "model.dim=4", "eval.k=[3]"];
    let mut layers = vec![
        setting_layer("data.source=edge")?,
        setting_layer(&format!("loss.type={loss}"))?,
        setting_layer(&format!("model.type={backbone}"))?,
    ];
    for setting in
        small.iter().map(|setting| (*setting).to_owned()).chain(settings.iter().filter(own).cloned())
    {
        layers.push(setting_layer(&setting)?);
    }
    Config::from_layers(&layers)
}

/// Trains, and holds the outcome to the promise; returns whether there was a result.
fn ends_well(what: &str, dataset: &Dataset, config: Result<Config>, from: Option<TrainingState>) -> bool {
    let mut store = Strict::default();
    let fitted = config.and_then(|config| fit(dataset, &config, from, &mut store, &mut NoObserver));
    match fitted {
        Ok(Fitted::Done(fit)) => {
            store.take(&fit.tensors.get_embeddings("learned").unwrap());
            assert!(matches!(fit.outcome.ending, Ending::Finished), "{what}");
            assert!(
                fit.outcome.test.values().all(|value| (0.0..=1.0).contains(value)),
                "{what}: {:?}",
                fit.outcome.test
            );
            true
        }
        Ok(Fitted::Stopped(_)) => panic!("{what}: stopped by nobody"),
        Err(Error::Input(error)) => {
            assert!(!error.to_string().is_empty(), "{what}");
            false
        }
        Err(Error::NonFinite { .. } | Error::NanScore { .. }) => false,
        Err(error) => panic!("{what}: {error}"),
    }
}

/// Every loss with every backbone under these settings; how many of them had a result.
fn everywhere(dataset: &Dataset, settings: &[&str]) -> usize {
    let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
    let pairs = LOSSES.iter().flat_map(|loss| backbones().map(move |backbone| (loss.name, backbone)));
    pairs
        .filter(|(loss, backbone)| {
            let what = format!("{loss} with {backbone}, {settings:?}");
            ends_well(&what, dataset, config(loss, backbone, &settings), None)
        })
        .count()
}

/// The models that are trained by gradients.
fn backbones() -> impl Iterator<Item = &'static str> {
    MODELS.iter().filter(|entry| matches!(entry.build, Kind::Gradient(_))).map(|entry| entry.name)
}

/// Every loss with every backbone.
fn all_pairs() -> usize {
    LOSSES.len() * backbones().count()
}

/// The training losses and the learned tables of a whole training on the ordinary data, where rows of negatives are gathered.
#[derive(Default)]
struct Training {
    losses: Vec<f64>,
    tables: Vec<f32>,
}

impl Training {
    fn of(loss: &str, settings: &[&str]) -> Self {
        let settings: Vec<String> = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let (mut training, config) = (Self::default(), config(loss, "mf", &settings).unwrap());
        let fitted = fit(&ordinary(), &config, None, &mut training, &mut NoObserver);
        assert!(matches!(fitted, Ok(Fitted::Done(_))));
        training
    }
}

impl Checkpointer for Training {
    fn save_model(&mut self, tensors: &Tensors, _: Option<usize>) -> Result<()> {
        let learned = tensors.get_embeddings("learned").unwrap();
        self.tables = learned.tables().iter().flat_map(|table| table.to_dense()).collect();
        Ok(())
    }

    fn save_progress(&mut self, progress: &Progress, _: Snapshot<'_>) -> Result<()> {
        self.losses = progress.history.iter().map(|record| record.loss).collect();
        Ok(())
    }
}

/// `sl` and `sl@k` sum exponentials while they score; with a temperature for each pair that is nearly the same for all, the
/// same losses are computed from the scores.
#[test]
fn summing_exponentials_while_scoring_trains_the_same_model() {
    let settings =
        ["train.negatives=3", "train.select=last", "loss.tau=0.2", "loss.beta=1e-7", "loss.alpha=1e-7"];
    for (summed, plain) in [("sl", "dsl-ca"), ("sl@k", "dsl@k")] {
        let [summed, plain] = [summed, plain].map(|loss| Training::of(loss, &settings));
        assert!(!summed.losses.is_empty() && !summed.tables.is_empty());
        assert_eq!(summed.losses.len(), plain.losses.len());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-3 * (1.0 + b.abs());
        assert!(
            summed.losses.iter().zip(&plain.losses).all(|(a, b)| close(*a, *b)),
            "{:?} {:?}",
            summed.losses,
            plain.losses
        );
        assert!(summed.tables.iter().zip(&plain.tables).all(|(a, b)| close(f64::from(*a), f64::from(*b))));
    }
}

#[test]
fn extreme_settings() {
    let dataset = ordinary();
    let all = |settings: &[&str]| assert_eq!(everywhere(&dataset, settings), all_pairs(), "{settings:?}");
    // These are unwise, but there is a result.
    all(&["optim.lr=10"]);
    all(&["optim.lr=1e-30"]);
    let fixed =
        LOSSES.iter().filter(|loss| matches!(loss.build.defaults.negatives, Negatives::Exactly(_))).count();
    assert_eq!(everywhere(&dataset, &["train.negatives=5000"]), (LOSSES.len() - fixed) * backbones().count());
    all(&["train.batch_size=1"]);
    all(&["model.dim=1"]);
    all(&["optim.weight_decay=100"]);
    // These may overflow; what does is an error.
    for settings in [
        &["loss.tau=1e-4"][..],
        &["loss.tau=1e-30"],
        &["loss.tau=1e30"],
        &["loss.beta=100"],
        &["loss.alpha=100"],
        &["loss.alpha=1e30", "loss.beta=1e30"],
        &["loss.tau=1e-4", "loss.beta=100", "loss.alpha=100", "optim.lr=10"],
        &["loss.tau_w=1e-6"],
        &["loss.tau1=1e-6", "loss.tau2=1e-6"],
        &["sampler.replacement=false", "train.negatives=5000"],
        &["optim.lr=1e30"],
        &["optim.epsilon=1e-45"],
        &["optim.beta1=0.999999", "optim.beta2=0"],
        &["model.score=dot", "optim.lr=1e20"],
        &["model.score=dot", "loss.tau=1e-6", "optim.lr=10"],
    ] {
        everywhere(&dataset, settings);
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    let dataset = ordinary();
    for setting in [
        "loss.tau=0",
        "loss.tau=-1",
        "loss.tau=nan",
        "loss.tau=inf",
        "optim.lr=0",
        "optim.lr=nan",
        "optim.lr=inf",
        "train.negatives=0",
        "train.batch_size=0",
        "model.dim=0",
        "model.dim=4000000000",
        "train.negatives=9999999999",
        "optim.weight_decay=-1",
        "optim.beta2=1",
        "train.epochs=0",
        "loss.alpha=nan",
        "loss.beta=inf",
        "eval.k=[10]",
        "eval.k=[0]",
        "loss.kappa_min=0",
    ] {
        let refused = config("dsl", "mf", &[setting.to_owned()]);
        assert!(!ends_well(setting, &dataset, refused, None), "{setting} was accepted");
    }
}

#[test]
fn the_smallest_worlds() {
    let settings = &["eval.k=[1]"];
    // One user, one item: there is nothing to compare with, and that is said.
    assert_eq!(everywhere(&world(1, 1, &[(0, 0)], &[]), settings), 0);
    // One user, two items: one negative, drawn again and again.
    assert_eq!(everywhere(&world(1, 2, &[(0, 0)], &[(0, 1)]), settings), all_pairs());
    // Many users, one item that all have.
    assert_eq!(everywhere(&world(3, 1, &[(0, 0), (1, 0), (2, 0)], &[]), settings), 0);
    // A user who has everything has no negatives; one with a single free item always gets that one.
    let greedy = world(2, 3, &[(0, 0), (0, 1), (0, 2), (1, 0)], &[(1, 1)]);
    assert_eq!(everywhere(&greedy, settings), 0);
    let one_left = world(2, 3, &[(0, 0), (0, 1), (1, 0)], &[(0, 2), (1, 1)]);
    assert_eq!(everywhere(&one_left, settings), all_pairs());
    // Users and items that nobody trains on are there all the same.
    assert_eq!(everywhere(&world(9, 9, &[(4, 4), (4, 5)], &[(4, 6), (8, 8)]), settings), all_pairs());
}

/// A training that begins with these tables.
fn starting(learned: &Embeddings) -> TrainingState {
    TrainingState {
        progress: Progress::default(),
        learned: learned.clone(),
        optim: OptimizerState::default(),
        adversary: None,
        loss: loss::State::default(),
        best: None,
    }
}

#[test]
fn strange_beginnings() {
    let dataset = ordinary();
    let (users, items) = (dataset.users.len(), dataset.items.len());
    let filled = |value: fn(usize, usize) -> f32| Embeddings {
        users: Matrix::from_fn(users, 4, value),
        items: Matrix::from_fn(items, 4, value),
    };
    let beginnings: [(&str, Embeddings); 5] = [
        ("all the same", filled(|_, _| 0.5)),
        ("zero", filled(|_, _| 0.0)),
        ("every other row zero", filled(|r, c| if r % 2 == 0 { 0.0 } else { (r + c) as f32 })),
        ("tiny", filled(|r, c| f32::MIN_POSITIVE * ((r + c) % 3) as f32)),
        ("huge", filled(|r, c| 1e30 * ((r * 3 + c) % 5) as f32 - 2e30)),
    ];
    let built = |name| LossConfig::named("loss", LOSSES, name).build();
    for (name, tables) in &beginnings {
        for loss in LOSSES.iter().filter(|entry| built(entry.name).adversary_lr().is_none()) {
            for score in ["cosine", "dot"] {
                let config = config(loss.name, "mf", &[format!("model.score={score}")]);
                let what = format!("{} from tables that are {name}, {score}", loss.name);
                let result = ends_well(&what, &dataset, config, Some(starting(tables)));
                assert!(result || score == "dot" || *name == "huge", "{what}: there should be a result");
            }
        }
    }
}
