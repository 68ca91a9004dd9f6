//! Text tables and human-readable numbers.

use std::collections::BTreeSet;

use comfy_table::{CellAlignment, LineStyle, TableStyle};
use rivalry::eval::{MetricAt, Metrics};
use rivalry_report::{Table, TableCell};

/// A rule under the header and no other lines.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table whose first `texts` columns are text and the rest numbers.
pub fn table<const N: usize>(
    header: [&str; N],
    texts: usize,
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    aligned(header.map(str::to_owned).to_vec(), texts, rows.into_iter().map(Vec::from))
}

/// The text of a table, without its caption. Where the table is wider than the terminal, each row is a block of lines.
pub fn terminal_table(table: &Table) -> String {
    let text = wide_table(table);
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    match terminal_width() {
        Some(width) if longest > width => narrow_table(table),
        _ => text,
    }
}

/// The width that `COLUMNS` or the terminal states; none if the output goes elsewhere.
fn terminal_width() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let measured =
        || terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0));
    stated.filter(|&width| width > 0).or_else(measured)
}

/// The first cell of a row, and below it a line for each other one.
fn narrow_table(table: &Table) -> String {
    let block = |row: &Vec<TableCell>| {
        let cells = table.columns.iter().zip(row).skip(1);
        let lines = columns(cells.map(|(column, cell)| [format!("  {}", column.title), cell.text.clone()]));
        let first = row.first().map(|cell| cell.text.clone());
        first.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    };
    table.rows.iter().map(block).collect::<Vec<_>>().join("\n")
}

fn wide_table(table: &Table) -> String {
    let header = table.columns.iter().map(|column| column.title.clone()).collect();
    let texts = table.columns.iter().take_while(|column| !column.numeric).count();
    let rows = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.clone()).collect());
    aligned(header, texts, rows)
}

/// A table whose first `texts` columns are aligned left and the rest right.
fn aligned(header: Vec<String>, texts: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(STYLE).force_no_tty().set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(texts) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt()
}

/// A ranked list: rank, id, more texts, and at last a score.
pub fn ranking(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    aligned(header.iter().map(|&title| title.to_owned()).collect(), header.len() - 1, rows)
}

/// A table with one row per metric and one column per set of items or users.
pub fn metrics(columns: &[(&str, &Metrics)]) -> String {
    let all: BTreeSet<MetricAt> = columns.iter().flat_map(|(_, metrics)| metrics.keys()).copied().collect();
    let header =
        std::iter::once("").chain(columns.iter().map(|(title, _)| *title)).map(str::to_owned).collect();
    let value = |metrics: &Metrics, metric: MetricAt| {
        metrics.get(&metric).map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"))
    };
    let rows = all.into_iter().map(|metric| {
        std::iter::once(metric.to_string())
            .chain(columns.iter().map(|(_, metrics)| value(metrics, metric)))
            .collect()
    });
    aligned(header, 1, rows)
}

/// Rows of text in columns, without a header.
pub fn columns<const N: usize>(rows: impl IntoIterator<Item = [String; N]>) -> Vec<String> {
    let rows: Vec<[String; N]> = rows.into_iter().collect();
    let widths: [usize; N] =
        std::array::from_fn(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).filter(|(_, width)| *width > 0);
        let cells: Vec<String> = cells.map(|(text, width)| format!("{text:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A duration, such as `2 min 05 s`.
pub fn seconds(seconds: f64) -> String {
    if seconds < 60.0 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole % 3600 / 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// A number with a unit prefix, such as `118k`.
pub fn short(number: f64) -> String {
    match number {
        n if n >= 1e6 => format!("{:.1}M", n / 1e6),
        n if n >= 1e3 => format!("{:.0}k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use rivalry_report::TableColumn;

    use super::*;

    #[test]
    fn metrics_are_ordered_by_k_and_then_by_the_list() {
        let all =
            [MetricAt::ndcg(20), MetricAt::recall(20), MetricAt::recall(5)].map(|metric| (metric, 0.25));
        let all = Metrics::from_iter(all);
        let tail = Metrics::default();
        let text = metrics(&[("test", &all), ("tail", &tail)]);
        let firsts: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(firsts[2..], ["Recall@5", "Recall@20", "NDCG@20"], "{text}");
        assert!(text.lines().last().unwrap().ends_with('–'), "{text}");
    }

    #[test]
    fn a_narrow_table_has_a_block_for_each_row() {
        let columns =
            vec![TableColumn::text("loss"), TableColumn::number("NDCG@20"), TableColumn::number("p")];
        let row = |texts: [&str; 3]| texts.map(TableCell::new).to_vec();
        let rows = vec![row(["sl", "0.1200 ± 0.0010", "–"]), row(["dsl", "0.1300 ± 0.0020", "0.01"])];
        let text = narrow_table(&Table { caption: String::new(), columns, rows });
        let block = ["sl", "  NDCG@20  0.1200 ± 0.0010", "  p        –"];
        assert_eq!(text.lines().take(3).collect::<Vec<_>>(), block);
        assert_eq!(text.lines().nth(3), Some("dsl"));
    }

    #[test]
    fn times_and_rates_are_short() {
        assert_eq!(
            [3.12, 59.96, 125.0, 7384.0].map(seconds),
            ["3.1 s", "60.0 s", "2 min 05 s", "2 h 03 min"]
        );
        assert_eq!([950.0, 118_400.0, 2_340_000.0].map(short), ["950", "118k", "2.3M"]);
    }
}
