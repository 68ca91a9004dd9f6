use super::*;
use crate::published::published;
use crate::testing::Runs;
use rivalry::eval::MetricAt;

#[test]
fn the_setting_is_selected_on_validation_and_never_on_test() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl", "loss.tau=0.1"], Some(0.10), 0.30);
    runs.finished("b", &["loss.type=sl", "loss.tau=0.2"], Some(0.12), 0.20);
    runs.finished("c", &["loss.type=sl", "loss.tau=0.3"], Some(0.11), 0.40);
    let runs = runs.read();
    let groups = group(&runs);
    let sl = &groups[0].losses[0];
    assert_eq!((groups.len(), groups[0].losses.len(), sl.settings.len()), (1, 1, 3));
    assert_eq!(sl.varied, ["loss.tau"]);
    let selected = groups[0].selected("sl").unwrap();
    assert_eq!(selected.runs[0].name, "b");
    assert_eq!(selected.test(MetricAt::ndcg(20)).unwrap().mean, 0.20);
}

#[test]
fn settings_are_compared_on_shared_seeds_and_pruned_ones_count_as_tried() {
    let runs = Runs::new();
    let with = |seed: u64, tau: f64| {
        ["loss.type=sl".to_owned(), format!("loss.tau={tau}"), format!("train.seed={seed}")]
    };
    // On the shared seed 0.1 is better; its mean over all its seeds is below the single value of 0.2.
    for (name, seed, tau, valid) in
        [("a", 0, 0.1, 0.13), ("b", 1, 0.1, 0.10), ("c", 2, 0.1, 0.10), ("d", 0, 0.2, 0.12)]
    {
        let settings = with(seed, tau);
        runs.finished(name, &settings.each_ref().map(String::as_str), Some(valid), 0.3);
    }
    runs.pruned("e", &["loss.type=sl", "loss.tau=0.3"]);
    let runs = runs.read();
    let groups = group(&runs);
    let selected = groups[0].selected("sl").unwrap();
    assert_eq!((selected.runs.len(), selected.valid), (3, Some(0.13)));
    let sl = &groups[0].losses[0];
    assert_eq!((sl.settings.len(), sl.tried), (2, 3));
}

#[test]
fn without_validation_no_setting_is_selected_and_all_are_shown() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl", "loss.tau=0.1"], None, 0.30);
    runs.finished("b", &["loss.type=sl", "loss.tau=0.2"], None, 0.20);
    let runs = runs.read();
    let groups = group(&runs);
    assert!(groups[0].selected("sl").is_none());
    assert_eq!(groups[0].rows().count(), 2);
}

#[test]
fn the_seeds_of_a_setting_are_grouped_and_a_repeated_seed_counts_once() {
    let runs = Runs::new();
    for (name, seed, test) in [("a", 0, 0.1), ("b", 1, 0.2), ("c", 2, 0.3), ("again", 1, 0.2)] {
        runs.finished(name, &["loss.type=sl", &format!("train.seed={seed}")], Some(0.1), test);
    }
    let runs = runs.read();
    let groups = group(&runs);
    let setting = groups[0].selected("sl").unwrap();
    assert_eq!(setting.runs.len(), 3);
    let summary = setting.test(MetricAt::ndcg(20)).unwrap();
    assert!((summary.mean - 0.2).abs() < 1e-12 && (summary.deviation.unwrap() - 0.1).abs() < 1e-12);
}

#[test]
fn different_protocols_splits_and_backbones_never_share_a_group() {
    let runs = Runs::new();
    let one = ["loss.type=sl"];
    runs.finished("a", &one, Some(0.1), 0.1);
    runs.finished("b", &[one[0], "eval.mask=train"], Some(0.1), 0.1);
    runs.finished("c", &[one[0], "eval.average=all"], Some(0.1), 0.1);
    runs.finished("d", &[one[0], "train.select=last"], None, 0.1);
    runs.finished("e", &[one[0], "backbone.type=lightgcn"], Some(0.1), 0.1);
    runs.finished("f", &[one[0], "data.prepare.seed=7"], Some(0.1), 0.1);
    runs.finished("g", &["loss.type=bpr"], Some(0.1), 0.1);
    let runs = runs.read();
    let groups = group(&runs);
    let sizes: Vec<usize> = groups.iter().map(|group| group.runs.len()).collect();
    assert_eq!((groups.len(), sizes.iter().max()), (6, Some(&2)));
    let mut labels: Vec<&str> = groups.iter().map(|group| &*group.label).collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), 6, "{labels:?}");
    assert!(labels.iter().any(|label| label.contains("mask train, average evaluable")), "{labels:?}");
}

#[test]
fn unfinished_runs_are_kept_but_have_no_row() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl"], Some(0.1), 0.1);
    runs.unfinished("b", &["loss.type=sl"]);
    runs.unfinished("c", &["loss.type=bpr", "backbone.type=lightgcn"]);
    let runs = runs.read();
    let groups = group(&runs);
    let shape: Vec<(usize, usize)> = groups.iter().map(|g| (g.runs.len(), g.rows().count())).collect();
    assert_eq!(shape, [(1, 0), (2, 1)]);
}

#[test]
fn published_values_are_found_for_the_published_data_only() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl"], Some(0.1), 0.1);
    runs.finished("b", &["loss.type=dsl-ca"], Some(0.1), 0.1);
    runs.finished("c", &["loss.type=sl", "data.prepare.item_core=20"], Some(0.1), 0.1);
    runs.finished("d", &["loss.type=sl", "data.source=log.csv"], Some(0.1), 0.1);
    let runs = runs.read();
    let found: Vec<Option<f64>> = runs.iter().map(|run| Some(published(run)?.published["NDCG@20"])).collect();
    assert_eq!(found, [Some(0.1261), None, None, None]);
}

#[test]
fn a_closed_form_stands_beside_the_losses_of_every_model_with_the_same_protocol() {
    let runs = Runs::new();
    runs.finished("mf", &["loss.type=sl"], Some(0.1), 0.1);
    runs.finished("gcn", &["loss.type=bpr", "model.type=lightgcn"], Some(0.1), 0.1);
    runs.finished("last", &["loss.type=dsl", "train.select=last"], None, 0.1);
    runs.finished("mask", &["loss.type=sl", "eval.mask=train"], Some(0.1), 0.1);
    runs.finished("popular", &["model.type=popularity"], Some(0.1), 0.4);
    let runs = runs.read();
    let groups = group(&runs);
    let mut found: Vec<Vec<&str>> =
        groups.iter().map(|group| group.rows().map(|row| &*row.loss.name).collect()).collect();
    found.sort();
    assert_eq!(
        found,
        [vec!["bpr", "popularity"], vec!["dsl", "popularity"], vec!["sl"], vec!["sl", "popularity"]]
    );
}

#[test]
fn closed_forms_alone_are_a_group() {
    let runs = Runs::new();
    runs.finished("popular", &["model.type=popularity"], Some(0.1), 0.4);
    let runs = runs.read();
    let groups = group(&runs);
    assert_eq!((groups.len(), groups[0].rows().count(), &groups[0].backbone[..]), (1, 1, "popularity"));
    assert!(groups[0].protocol().contains("no epochs to select from"));
}
