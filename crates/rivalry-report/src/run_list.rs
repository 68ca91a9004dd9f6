//! The table of all runs, with the settings in which they differ and their metrics.

use std::collections::BTreeSet;

use crate::page::RunList;
use crate::run::Run;
use crate::settings::differing;
use crate::table::{Table, TableCell, TableColumn};

/// All runs by data, within the same data by their validation value, the best first.
pub(crate) fn run_list(runs: &[Run]) -> RunList {
    let mut sorted: Vec<&Run> = runs.iter().collect();
    sorted.sort_by(|a, b| {
        let value = |run: &Run| run.best_valid().unwrap_or(f64::NEG_INFINITY);
        a.data().cmp(&b.data()).then(value(b).total_cmp(&value(a)))
    });
    let columns = columns(runs);
    let sorted_by = columns.iter().position(|column| column.title.starts_with(VALIDATION)).unwrap_or(0);
    let row = |run: &&Run| columns.iter().map(|column| (column.cell)(run)).collect();
    RunList {
        order: sorted.iter().map(|run| run.index).collect(),
        sorted_by,
        table: Table {
            caption: caption(runs),
            rows: sorted.iter().map(row).collect(),
            columns: columns
                .into_iter()
                .map(|Column { title, numeric, .. }| TableColumn { title, numeric })
                .collect(),
        },
    }
}

const VALIDATION: &str = "validation";

/// A column, and what a run has in it.
struct Column {
    title: String,
    numeric: bool,
    cell: Box<dyn Fn(&Run) -> TableCell>,
}

impl Column {
    fn text(title: &str, text: impl Fn(&Run) -> String + 'static) -> Self {
        Self { title: title.to_owned(), numeric: false, cell: Box::new(move |run| TableCell::new(text(run))) }
    }

    fn number(title: impl Into<String>, text: impl Fn(&Run) -> Option<String> + 'static) -> Self {
        let cell = move |run: &Run| TableCell::or_dash(text(run));
        Self { title: title.into(), numeric: true, cell: Box::new(cell) }
    }
}

fn columns(runs: &[Run]) -> Vec<Column> {
    let several = |value: &dyn Fn(&Run) -> String| runs.iter().map(value).collect::<BTreeSet<_>>().len() > 1;
    let mut columns = vec![Column::text("run", |run| run.name.clone())];
    if several(&|run| run.state.to_string()) || runs.iter().any(|run| run.record.is_none()) {
        columns.push(Column::text("state", |run| run.state.to_string()));
    }
    if several(&Run::data) {
        columns.push(Column::text("data", Run::data));
    }
    columns.push(Column::text("model", |run| run.backbone().to_owned()));
    columns.push(Column::text("loss", |run| run.config.loss_name().unwrap_or("–").to_owned()));
    for key in differing(runs.iter().map(|run| &run.settings)) {
        let numeric = runs.iter().all(|run| !run.settings.has(&key) || run.settings.number(&key).is_some());
        let title = key.clone();
        let cell = move |run: &Run| TableCell::or_dash(run.settings.text(&key));
        columns.push(Column { title, numeric, cell: Box::new(cell) });
    }
    columns.push(Column::number("seed", |run| Some(run.config.seed.to_string())));
    columns.push(Column::number("epochs", |run| run.epochs().map(|epochs| epochs.to_string())));
    columns.push(Column::number("selected", |run| run.best_epoch().map(|epoch| epoch.to_string())));
    let metric = Run::metric;
    let shown = |value: Option<f64>| value.map(|value| format!("{value:.4}"));
    // Where runs were selected by different metrics, each value says by which.
    let mixed = several(&|run| metric(run).to_string());
    let title = |part: &str| if mixed { part.to_owned() } else { format!("{part} {}", metric(&runs[0])) };
    let value = move |run: &Run, value: Option<f64>| match mixed {
        true => shown(value).map(|value| format!("{value} {}", metric(run))),
        false => shown(value),
    };
    columns.push(Column::number(title(VALIDATION), move |run| value(run, run.best_valid())));
    columns.push(Column::number(title("test"), move |run| value(run, run.test(metric(run)))));
    columns.push(Column::number("seconds", |run| run.seconds().map(|seconds| format!("{seconds:.1}"))));
    columns
}

fn caption(runs: &[Run]) -> String {
    let mut text = "All runs with the settings in which they differ, the best on validation first. The name of a run leads to its command and config.".to_owned();
    if runs.iter().any(|run| run.record.is_none()) {
        text += " Runs that are not finished have their best validation value so far.";
    }
    if runs.iter().map(Run::data).collect::<BTreeSet<_>>().len() > 1 {
        text += " Values of different data are not comparable.";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Runs;

    #[test]
    fn runs_are_listed_by_validation_with_what_distinguishes_them() {
        let runs = Runs::new();
        runs.finished("a", &["loss.type=sl", "loss.tau=0.1"], Some(0.10), 0.30);
        runs.finished("b", &["loss.type=sl", "loss.tau=0.2", "train.seed=1"], Some(0.12), 0.20);
        runs.pruned("c", &["loss.type=dsl", "loss.tau=0.1"]);
        let list = run_list(&runs.read());
        assert_eq!(list.order, [1, 0, 2]);
        let titles: Vec<&str> = list.table.columns.iter().map(|column| &*column.title).collect();
        let expected = ["run", "state", "model", "loss", "loss.tau", "seed", "epochs", "selected"];
        assert_eq!(titles[..8], expected);
        assert_eq!(titles[list.sorted_by], "validation NDCG@20");
        let texts = |row: usize| list.table.rows[row].iter().map(|cell| &*cell.text).collect::<Vec<_>>();
        assert_eq!(texts(0)[..8], ["b", "finished", "mf", "sl", "0.2", "1", "10", "10"]);
        assert_eq!(texts(0)[8..10], ["0.1200", "0.2000"]);
        assert_eq!(texts(2)[..2], ["c", "pruned"]);
        assert_eq!(texts(2)[7..10], ["–", "0.1000", "–"]);
    }
}
