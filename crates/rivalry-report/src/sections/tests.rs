use rivalry::data::LoadOptions;

use super::*;
use crate::comparison::comparisons;
use crate::group::group;
use crate::page::{Block, RunTable};
use crate::table::Table;
use crate::testing::Runs;

fn sections(runs: &Runs) -> Vec<Section> {
    let runs = runs.read();
    let groups = group(&runs);
    all(&runs, &groups, &comparisons(&groups, &LoadOptions::default(), &mut |_, _| {}))
}

fn tables<'a>(sections: &'a [Section], id: &str) -> Vec<&'a RunTable> {
    let blocks = sections.iter().filter(|section| section.id == id).flat_map(|section| &section.blocks);
    blocks.filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None }).collect()
}

fn titles(sections: &[Section], id: &str) -> Vec<String> {
    let blocks = sections.iter().filter(|section| section.id == id).flat_map(|section| &section.blocks);
    blocks
        .filter_map(|block| if let Block::Figure(figure) = block { Some(figure.title.clone()) } else { None })
        .collect()
}

fn captions(sections: &[Section], id: &str) -> Vec<String> {
    let blocks = sections.iter().filter(|section| section.id == id).flat_map(|section| &section.blocks);
    blocks
        .filter_map(
            |block| if let Block::Figure(figure) = block { Some(figure.caption.clone()) } else { None },
        )
        .collect()
}

fn texts(table: &Table, row: usize) -> Vec<&str> {
    table.rows[row].iter().map(|cell| &*cell.text).collect()
}

#[test]
fn a_table_has_means_published_values_differences_and_the_best_in_bold() {
    let runs = Runs::new();
    let protocol = ["eval.mask=train", "eval.average=all"];
    for (name, loss, seed, test) in [("a", "sl", 0, 0.12), ("b", "sl", 1, 0.13), ("c", "dsl-ca", 0, 0.14)] {
        let more = [format!("loss.type={loss}"), format!("train.seed={seed}")];
        runs.finished(name, &[&more[0], &more[1], protocol[0], protocol[1]], Some(0.1), test);
    }
    let sections = sections(&runs);
    let RunTable { table, runs } = tables(&sections, "tables")[0];
    let columns: Vec<&str> = table.columns.iter().map(|column| &*column.title).collect();
    assert_eq!(columns[..4], ["loss", "Recall@20", "published", "difference"]);
    assert_eq!(texts(table, 0)[4..8], ["0.1250 ± 0.0071", "0.1261", "−0.9 %", "2"]);
    assert_eq!(texts(table, 1)[4..8], ["0.1400", "–", "–", "1"]);
    assert!(!table.rows[0][4].bold && table.rows[1][4].bold);
    assert!(!table.caption.contains("not directly comparable"), "{}", table.caption);
    assert_eq!(*runs, [0, 1, 2]);
}

#[test]
fn a_table_says_how_many_settings_were_tried_and_which_was_selected() {
    let runs = Runs::new();
    for (alpha, beta) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let settings =
            ["loss.type=dsl".to_owned(), format!("loss.alpha={alpha}"), format!("loss.beta={beta}")];
        let valid = 0.1 * f64::from(alpha) + 0.01 * f64::from(beta);
        runs.finished(
            &format!("{alpha}{beta}"),
            &settings.each_ref().map(|setting| &setting[..]),
            Some(valid),
            0.1,
        );
    }
    for tau in [1, 2, 4] {
        let tau_setting = format!("loss.tau=0.{tau}");
        runs.finished(&format!("tau{tau}"), &["loss.type=sl", &tau_setting], Some(0.1), 0.1);
    }
    let sections = sections(&runs);
    let table = &tables(&sections, "tables")[0].table;
    assert_eq!(texts(table, 1).last().unwrap(), &"loss.alpha 2, loss.beta 2, loss.tau 0.2");
    assert!(texts(table, 1).contains(&"4"));
    assert!(table.caption.contains("best validation NDCG@20"), "{}", table.caption);
    assert!(table.caption.contains("not directly comparable"), "{}", table.caption);
    let figures = titles(&sections, "sensitivity");
    assert_eq!(figures.len(), 2, "{figures:?}");
    assert!(
        figures[0].starts_with("dsl by loss.alpha and loss.beta") && figures[1].contains("loss.tau"),
        "{figures:?}"
    );
}

/// After successive halving: of four settings of SL and two of DSL, one each was trained to the end.
fn halved() -> Runs {
    let runs = Runs::new();
    for tau in 1..=4 {
        let settings = ["loss.type=sl".to_owned(), format!("loss.tau=0.{tau}")];
        let settings = settings.each_ref().map(String::as_str);
        match tau {
            3 => runs.finished("sl3", &settings, Some(0.1), 0.1),
            _ => runs.pruned(&format!("sl{tau}"), &settings),
        }
    }
    runs.pruned("dsl1", &["loss.type=dsl", "loss.alpha=1"]);
    runs.finished("dsl2", &["loss.type=dsl", "loss.alpha=2"], Some(0.1), 0.1);
    runs
}

#[test]
fn after_halving_all_parts_of_a_report_count_alike() {
    let runs = halved();
    let sections = sections(&runs);
    let Block::Paragraph(text) = &sections[0].blocks[0] else { panic!("the first block is text") };
    assert!(text.starts_with("6 runs: 2 finished, 4 pruned. "), "{text}");
    let table = &tables(&sections, "tables")[0].table;
    let last = |row: usize| texts(table, row)[texts(table, row).len() - 2..].to_vec();
    assert_eq!(last(0), ["4", "loss.tau 0.3"]);
    assert_eq!(last(1), ["2", "loss.alpha 2, loss.tau 0.2"]);
    let figures = captions(&sections, "comparison");
    assert!(figures[0].ends_with("Settings tried: sl 4, dsl 2."), "{figures:?}");
}

#[test]
fn all_models_of_a_data_set_are_in_one_table() {
    let runs = Runs::new();
    runs.finished("mf", &["loss.type=sl"], Some(0.1), 0.11);
    runs.finished("worse", &["loss.type=sl", "loss.tau=0.3"], Some(0.09), 0.2);
    runs.finished("lightgcn", &["model.type=lightgcn", "loss.type=sl"], Some(0.12), 0.1);
    runs.finished("ease", &["model.type=ease"], Some(0.11), 0.12);
    let sections = sections(&runs);
    let table = &tables(&sections, "tables")[0].table;
    let row = |row: usize| texts(table, row).join(" ");
    assert_eq!(row(0), "lightgcn sl 0.1200 0.1500 0.1000 1");
    assert_eq!(row(1), "ease – 0.1100 0.1800 0.1200 1");
    assert_eq!(row(2), "mf sl 0.1000 0.1650 0.1100 1");
    assert_eq!(table.rows.len(), 3);
    assert!(table.rows[1][4].bold && !table.rows[0][4].bold);
    // With one group the tables would be the same.
    let runs = Runs::new();
    runs.finished("mf", &["loss.type=sl"], Some(0.1), 0.11);
    runs.finished("ease", &["model.type=ease"], Some(0.11), 0.12);
    assert_eq!(tables(&self::sections(&runs), "tables")[0].table.columns[0].title, "loss");
}

#[test]
fn data_and_machines_are_shown_as_recorded() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl"], Some(0.1), 0.1);
    let sections = sections(&runs);
    let tables = tables(&sections, "overview");
    let data = ["amazon2014-health", "1,000", "500", "20,000", "2,500", "2,500"];
    assert_eq!(texts(&tables[2].table, 0)[..6], data);
    assert_eq!(texts(&tables[1].table, 0), ["1.2.3", "2026-01-31 12:00", "Abacus 8", "", "8", "4", "1"]);
}

#[test]
fn sections_without_content_are_left_out() {
    let runs = Runs::new();
    runs.unfinished("alone", &["loss.type=sl"]);
    let sections = sections(&runs);
    let ids: Vec<&str> = sections.iter().map(|section| section.id).collect();
    assert_eq!(ids, ["overview", "curves"]);
    let table = &tables(&sections, "overview")[1].table;
    assert_eq!(texts(table, 0)[..4], ["alone", "sl", "amazon2014-health", "10 of 200"]);
    assert!(texts(table, 0)[5].starts_with("unfinished; rivalry train --resume "));
}

#[test]
fn pruned_and_failed_runs_have_no_resume_command() {
    let runs = Runs::new();
    runs.pruned("pruned", &["loss.type=sl"]);
    let failed = runs.unfinished("failed", &["loss.type=sl", "loss.tau=0.1"]);
    std::fs::write(failed.path().join("failed.txt"), "a non-finite loss\n").unwrap();
    let sections = sections(&runs);
    let table = &tables(&sections, "overview")[1].table;
    assert_eq!(table.rows.len(), 1);
    assert_eq!(texts(table, 0)[5], "failed: a non-finite loss");
    let Block::Paragraph(text) = &sections[0].blocks[0] else { panic!("the first block is text") };
    assert!(text.starts_with("2 runs: 1 pruned, 1 failed. "), "{text}");
}

#[test]
fn dsl_and_its_branches_are_compared_with_sl() {
    let runs = Runs::new();
    for (loss, test) in [("sl", 0.10), ("dsl-ca", 0.11), ("dsl-kappa", 0.09), ("dsl", 0.10)] {
        runs.finished(loss, &[&format!("loss.type={loss}")], Some(0.1), test);
    }
    let sections = sections(&runs);
    let figures = titles(&sections, "comparison");
    assert!(figures.len() == 2 && figures[1].starts_with("Ablation of DSL"), "{figures:?}");
}

#[test]
fn noisy_runs_are_points_of_a_curve_and_have_a_table_of_their_own() {
    for condition in crate::settings::CONDITIONS {
        let folder = Runs::new();
        for loss in ["sl", "dsl-ca"] {
            for level in ["0", "1", "2"] {
                folder.finished(&format!("{loss}{level}"), &[&format!("loss.type={loss}")], Some(0.1), 0.1);
            }
        }
        let mut runs = folder.read();
        for run in &mut runs {
            let level = f64::from(run.name.chars().last().unwrap().to_digit(10).unwrap());
            if level > 0.0 {
                run.settings.set(condition, 0.1 * level);
            }
        }
        let groups = group(&runs);
        assert_eq!(groups.iter().map(|group| group.runs.len()).collect::<Vec<_>>(), [2, 2, 2]);
        let comparisons = comparisons(&groups, &LoadOptions::default(), &mut |_, _| {});
        let sections = all(&runs, &groups, &comparisons);
        let figures = titles(&sections, "noise");
        assert!(figures.len() == 1 && figures[0].contains(condition), "{figures:?}");
        assert!(titles(&sections, "sensitivity").is_empty());
        // The published values are for data without noise.
        let compared: Vec<bool> = tables(&sections, "tables")
            .iter()
            .map(|table| table.table.columns.iter().any(|c| c.title == "published"))
            .collect();
        assert_eq!(compared, [true, false, false]);
    }
}

#[test]
fn a_loss_that_crosses_zero_has_a_curve() {
    let runs = Runs::new();
    runs.finished("a", &["loss.type=sl"], Some(0.1), 0.1);
    let log = runs.path().join("a/log.jsonl");
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(
        &log,
        text.replace("\"loss\":2.0", "\"loss\":-2.0").replace("\"loss\":1.0", "\"loss\":1.5"),
    )
    .unwrap();
    let sections = sections(&runs);
    let figures = titles(&sections, "curves");
    assert!(figures.len() == 2 && figures[1].starts_with("Training loss"), "{figures:?}");
    let blocks = sections.iter().filter(|section| section.id == "curves").flat_map(|section| &section.blocks);
    for block in blocks {
        let Block::Figure(figure) = block else { panic!("curves are figures") };
        let svg = figure.svg();
        assert!(svg.contains(">selected epoch<"), "{svg}");
        assert_eq!(svg.contains(">−2"), figure.title.starts_with("Training loss"), "{svg}");
    }
}
