use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use rivalry::data::LoadOptions;

use super::*;

const SMALL: &str = "base = { data.source = 'synthetic', train = { epochs = 6, eval_every = 2, negatives = 10 }, \
                     model.dim = 8 }\n";

const OPTIONS: SweepOptions =
    SweepOptions { jobs: 2, threads: 2, halving: None, keep_models: false, shard: None };

/// Counts how often each trial was started, and asks to stop after so many events.
#[derive(Default)]
struct Counter {
    started: Mutex<HashMap<String, usize>>,
    events: Mutex<usize>,
    stop_after: Option<usize>,
}

impl SweepObserver for Counter {
    fn observe(&self, trial: &Trial, event: &TrialEvent<'_>) -> ControlFlow<Stop> {
        if let TrialEvent::Started(_) = event {
            *self.started.lock().unwrap().entry(trial.name.clone()).or_default() += 1;
        }
        let mut events = self.events.lock().unwrap();
        *events += 1;
        if self.stop_after.is_some_and(|after| *events > after) {
            ControlFlow::Break(Stop::Sweep)
        } else {
            ControlFlow::Continue(())
        }
    }
}

fn search(grid: &str) -> SearchSpace {
    SearchSpace::parse(&format!("{SMALL}{grid}")).unwrap()
}

fn figures(result: &SweepResult) -> Vec<(String, Option<f64>, f64)> {
    let test = |status: &TrialStatus| status.outcome.as_ref().map_or(0.0, |outcome| outcome.test["NDCG@20"]);
    result.trials.iter().map(|status| (status.name.clone(), status.valid, test(status))).collect()
}

#[test]
fn a_search_chooses_on_validation_and_a_second_one_has_nothing_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let search = search("grid = { loss.type = ['sl', 'bsl'], optim.lr = [0.1, 0.00001] }\nseeds = 2");
    let run = |observer: &Counter| {
        let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
        sweep.sweep(&search, &OPTIONS, observer).unwrap().unwrap()
    };
    let first = run(&Counter::default());
    assert_eq!(first.selected.len(), 2);
    for selected in &first.selected {
        assert_eq!(selected.settings["optim.lr"].as_float(), Some(0.1));
        assert_eq!(selected.seeds.len(), 2);
        let test = selected.test(rivalry::eval::MetricAt::ndcg(20)).unwrap();
        assert!(test.mean > 0.0 && test.deviation > Some(0.0));
    }
    // Four settings, and a second seed for the best of either loss.
    assert_eq!(first.trials.len(), 6);
    let counter = Counter::default();
    assert_eq!(figures(&run(&counter)), figures(&first));
    assert!(counter.started.lock().unwrap().is_empty());
    let models =
        first.trials.iter().filter(|t| folder.path().join(&t.name).join("model.safetensors").exists());
    assert_eq!(models.count(), 4, "the models of the best, from both seeds, are kept");
}

#[test]
fn two_at_the_same_folder_share_the_work_and_do_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let search = search("grid = { loss.type = 'sl', loss.tau = [0.1, 0.15, 0.2, 0.25, 0.3, 0.35] }");
    let counter = Counter::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
                sweep
                    .sweep(&search, &SweepOptions { jobs: 1, threads: 1, ..OPTIONS }, &counter)
                    .unwrap()
                    .unwrap();
            });
        }
    });
    let started = counter.started.lock().unwrap();
    assert_eq!(started.len(), 6);
    assert!(started.values().all(|&times| times == 1), "{started:?}");
}

#[test]
fn stopped_anywhere_and_gone_on_with_it_finds_the_same() {
    let search = search("grid = { loss.type = 'dsl', loss.alpha = [1, 2, 3] }");
    let whole = tempfile::tempdir().unwrap();
    let expected = SweepFolder::open(whole.path(), LoadOptions::default()).unwrap();
    let expected = expected.sweep(&search, &OPTIONS, &Counter::default()).unwrap().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut stops = 0;
    let found = loop {
        let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
        // Later every time, so that it comes to an end.
        let observer = Counter { stop_after: Some(5 + stops * 7), ..Counter::default() };
        match sweep.sweep(&search, &OPTIONS, &observer).unwrap() {
            Some(result) => break result,
            None => stops += 1,
        }
    };
    assert!(stops > 5, "{stops}");
    assert_eq!(figures(&found), figures(&expected));
}

#[test]
fn halving_finds_the_winner_of_the_whole_search_with_less_work() {
    let grid = "grid = { loss.type = 'sl', optim.lr = [0.00001, 0.0001, 0.001, 0.01, 0.1, 0.00002] }";
    let text = format!("{SMALL}{grid}").replace("epochs = 6, eval_every = 2", "epochs = 9, eval_every = 1");
    let search = SearchSpace::parse(&text).unwrap();
    let run = |halving: Option<Halving>| {
        let folder = tempfile::tempdir().unwrap();
        let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
        sweep.sweep(&search, &SweepOptions { halving, ..OPTIONS }, &Counter::default()).unwrap().unwrap()
    };
    let (all, halved) = (run(None), run(Some(Halving::default())));
    let winner = |result: &SweepResult| {
        figures(result).into_iter().find(|(name, ..)| *name == result.selected[0].seeds[0].name)
    };
    assert_eq!(winner(&all), winner(&halved));
    assert_eq!(all.selected[0].settings["optim.lr"].as_float(), Some(0.1));
    let given_up: Vec<&TrialState> =
        halved.trials.iter().map(|t| &t.state).filter(|state| **state != TrialState::Finished).collect();
    assert_eq!(given_up.len(), 5);
    assert!(given_up.iter().all(|state| matches!(state, TrialState::Pruned(1 | 3))), "{given_up:?}");
}

#[test]
fn a_sweep_with_halving_does_not_end_below_the_defaults() {
    let text = format!(
        "{SMALL}trials = 7\ngrid = {{ loss.type = 'sl', optim.lr = {{ from = 0.000001, to = 0.000002 }} }}"
    );
    let search =
        SearchSpace::parse(&text.replace("epochs = 6, eval_every = 2", "epochs = 18, eval_every = 1"))
            .unwrap();
    let trials = search.trials().unwrap();
    let mut promoted = trials.clone();
    for rung in 0..2 {
        // The default is the worst at every rung.
        let values: Vec<f64> =
            promoted.iter().map(|trial| f64::from(u8::from(!trial.is_baseline()))).collect();
        promoted = Halving::default().promoted(promoted, &values);
        assert!(promoted.iter().any(|trial| trial.origin == Origin::Default), "rung {rung}");
    }
    assert!(promoted.len() < trials.len());
    let folder = tempfile::tempdir().unwrap();
    let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
    let options = SweepOptions { halving: Some(Halving::default()), ..OPTIONS };
    let found = sweep.sweep(&search, &options, &Counter::default()).unwrap().unwrap();
    let [selected] = &found.selected[..] else { panic!("one group") };
    assert_eq!((&selected.origin, selected.valid()), (&Origin::Default, selected.default));
    let default = found.trials.iter().find(|trial| trial.origin == Origin::Default).unwrap();
    assert_eq!(default.state, TrialState::Finished);
}

#[test]
fn rungs_are_announced_and_the_best_comes_first() {
    #[derive(Default)]
    struct Rungs(Mutex<Vec<Rung>>);
    impl SweepObserver for Rungs {
        fn observe(&self, _: &Trial, _: &TrialEvent<'_>) -> ControlFlow<Stop> {
            ControlFlow::Continue(())
        }
        fn begin(&self, rung: Rung) {
            self.0.lock().unwrap().push(rung);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
    let search = search(
        "[[grid]]\nloss.type = 'sl'\noptim.lr = 0.00001\n[[grid]]\nloss = { type = 'bsl', tau2 = [0.1, 0.2, 0.3] }",
    );
    let (observer, halving) = (Rungs::default(), Some(Halving { eta: 3, rungs: 1 }));
    let found = sweep.sweep(&search, &SweepOptions { halving, ..OPTIONS }, &observer).unwrap().unwrap();
    let losses: Vec<_> = found.selected.iter().map(|selected| selected.group.loss.clone().unwrap()).collect();
    assert_eq!(losses, ["bsl", "sl"]);
    let rungs = observer.0.into_inner().unwrap();
    let last = Rung { number: 1, of: 1, trials: 2 };
    assert_eq!((rungs[0], rungs.len(), rungs[2]), (Rung { number: 1, of: 2, trials: 4 }, 3, last));
    assert!((2..4).contains(&rungs[1].trials) && rungs[1].number == 2, "{rungs:?}");
}

#[test]
fn settings_that_cannot_be_trained_are_a_result_too() {
    let folder = tempfile::tempdir().unwrap();
    let search = search("grid = { loss.type = 'sl', optim.lr = [0.1, 1e38] }");
    let run = || {
        SweepFolder::open(folder.path(), LoadOptions::default())
            .unwrap()
            .sweep(&search, &OPTIONS, &Counter::default())
            .unwrap()
            .unwrap()
    };
    let found = run();
    assert_eq!(found.trials[0].state, TrialState::Finished);
    let TrialState::Failed(reason) = &found.trials[1].state else { panic!("{:?}", found.trials[1]) };
    assert!(reason.contains("non-finite") || reason.contains("not a number"), "{reason}");
    assert_eq!(figures(&run()), figures(&found));
}

#[test]
fn what_was_trained_on_other_data_or_otherwise_is_not_taken_for_this() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    let write = |users: u32| {
        let pairs = (0..users).flat_map(|user| (0..8).map(move |item| (user, (user * 3 + item * item) % 40)));
        let text: String = pairs.map(|(user, item)| format!("{user},{item}\n")).collect();
        std::fs::write(&log, format!("user,item\n{text}")).unwrap();
    };
    let text = SMALL.replace("synthetic", log.to_str().unwrap());
    let search =
        SearchSpace::parse(&format!("{text}grid = {{ loss.type = 'sl', loss.tau = [0.1, 0.2] }}")).unwrap();
    let sweep = || SweepFolder::open(&folder.path().join("sweep"), LoadOptions::default()).unwrap();
    write(60);
    sweep().sweep(&search, &OPTIONS, &Counter::default()).unwrap().unwrap();
    write(59);
    let error = sweep().sweep(&search, &OPTIONS, &Counter::default()).unwrap_err().to_string();
    assert!(error.contains("have changed since the run was trained"), "{error}");
    write(60);
    let mut trials = search.trials().unwrap();
    trials[0].config.gradient.as_mut().unwrap().train.epochs += 2;
    let error = sweep().run(&trials, &OPTIONS, &Counter::default()).unwrap_err().to_string();
    assert!(error.contains("holds a run with other settings"), "{error}");
}

#[test]
fn without_a_validation_part_there_is_no_choice() {
    let folder = tempfile::tempdir().unwrap();
    let none = SMALL.replace(
        "data.source = 'synthetic'",
        "data = { source = 'synthetic', prepare.validation.type = 'none' }",
    );
    let found = |grid: &str| {
        let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
        sweep.sweep(&SearchSpace::parse(&format!("{none}{grid}")).unwrap(), &OPTIONS, &Counter::default())
    };
    let error = found("grid = { loss.type = 'sl', loss.tau = [0.1, 0.2] }").unwrap_err().to_string();
    assert!(error.contains("has no validation set"), "{error}");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing was trained");
    let one = found("grid = { loss.type = ['sl', 'bsl'] }\nseeds = 2").unwrap().unwrap();
    assert_eq!(one.selected.len(), 2);
}

#[test]
fn a_choice_among_fewer_has_its_model_again() {
    let folder = tempfile::tempdir().unwrap();
    let found = |grid: &str| {
        let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
        let result = sweep.sweep(&search(grid), &OPTIONS, &Counter::default()).unwrap().unwrap();
        assert!(result.selected.iter().all(|selected| {
            let run = folder.path().join(&selected.seeds[0].name);
            crate::run::RunFolder::open(&run).unwrap().has_model()
        }));
        figures(&result)
    };
    let all = found("grid = { loss.type = 'sl', optim.lr = [0.1, 0.00001] }");
    assert_eq!(found("grid = { loss.type = 'sl', optim.lr = [0.00001] }")[0], all[1]);
}

#[test]
fn stopped_among_the_seeds_the_index_still_lists_all_trials() {
    let folder = tempfile::tempdir().unwrap();
    let search = search("grid = { loss.type = 'sl', loss.tau = [0.1, 0.2, 0.3] }\nseeds = 3");
    let order = SweepOptions { jobs: 1, threads: 1, ..OPTIONS };
    let sweep = || SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
    let first = search.clone().with_seeds(1);
    sweep().sweep(&first, &order, &Counter::default()).unwrap().unwrap();
    let mut stop_after = 4;
    let listed = loop {
        let observer = Counter { stop_after: Some(stop_after), ..Counter::default() };
        if sweep().sweep(&search, &order, &observer).unwrap().is_some() {
            panic!("it should have been stopped among the seeds");
        }
        let text = std::fs::read_to_string(folder.path().join("index.json")).unwrap();
        let listed: Vec<TrialStatus> = serde_json::from_str(&text).unwrap();
        if listed.len() > 3 {
            break listed;
        }
        stop_after += 1;
    };
    let names: Vec<&str> = listed.iter().map(|status| &status.name[..]).collect();
    assert_eq!(names.len(), 5);
    assert!(search.trials().unwrap().iter().all(|trial| names.contains(&&trial.name[..])));
}

#[test]
fn more_seeds_than_there_are_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{SMALL}grid = {{ loss.type = 'sl', train.seed = {} }}\nseeds = 2", i64::MAX);
    let sweep = SweepFolder::open(folder.path(), LoadOptions::default()).unwrap();
    let error = sweep.sweep(&SearchSpace::parse(&text).unwrap(), &OPTIONS, &Counter::default()).unwrap_err();
    assert!(error.to_string().starts_with("train.seed: "), "{error}");
}
