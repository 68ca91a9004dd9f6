//! The page of an automatic search, for those who decide what goes into a product: what was tried, how it compares, what
//! the lists look like, what it costs, and the commands.

use std::path::Path;

use rivalry::Result;
use rivalry::data::thousands;
use rivalry::eval::MetricAt;
use rivalry::memory;
use rivalry_runs::auto::{AutoRecord, ModelResult};
use rivalry_runs::compare::{Difference, MethodSummary};
use rivalry_runs::run::{RunFolder, quoted};
use rivalry_runs::settings::in_few_words;

use crate::chart::{Bar, BarChart, BarSeries};
use crate::draw::ColorRole;
use crate::html::html;
use crate::page::{Block, Figure, Page, RunEntry, RunTable, Section};
use crate::run::Run;
use crate::run_list::run_list;
use crate::summary::{percent, relative_change};
use crate::table::{Table, TableCell, TableColumn};

/// The page of the search in this folder, as one self-contained HTML file.
///
/// # Errors
/// If a run of the search can't be read.
pub fn auto_page(record: &AutoRecord, folder: &Path) -> Result<String> {
    let mut runs = Vec::new();
    for (index, model) in record.models.iter().enumerate() {
        runs.push(Run::read(&RunFolder::open(&folder.join(&model.run))?, folder, index)?);
    }
    let of = Auto { record, folder };
    let entry =
        |run: &Run| RunEntry { name: run.name.clone(), command: run.command(), config: run.config.to_toml() };
    let page = Page {
        title: format!("What to use for {}", record.understood.data),
        sections: vec![of.short(), of.models(), of.lists(), of.new_users(), of.cost(), of.commands()],
        list: run_list(&runs),
        runs: runs.iter().map(entry).collect(),
    };
    Ok(html(&page))
}

struct Auto<'a> {
    record: &'a AutoRecord,
    folder: &'a Path,
}

impl Auto<'_> {
    fn metric(&self) -> MetricAt {
        self.record.metric
    }

    fn compared(&self, model: &ModelResult) -> Option<&MethodSummary> {
        self.record.comparison.methods.iter().find(|method| method.name == model.name)
    }

    fn test(&self, model: &ModelResult) -> Option<f64> {
        Some(self.compared(model)?.metrics.get(&self.metric())?.mean)
    }

    fn difference(&self, model: &ModelResult) -> Option<&Difference> {
        self.compared(model)?.differences.get(&self.metric())
    }

    fn short(&self) -> Section {
        let record = self.record;
        let (metric, test) = (self.metric(), &record.test);
        let [low, high] = test.interval;
        let winner = record.models.first().map_or("", |model| &model.name);
        let mut text = vec![format!(
            "Use {winner}. On held-out interactions of {} users, its lists reach {metric} {:.4} ({:.0} % confidence interval {low:.4} to \
             {high:.4}; 1 would be perfect lists). It was selected on other interactions, so this figure decided nothing.",
            thousands(test.users),
            test.mean,
            100.0 * test.confidence,
        )];
        let popularity = record.models.iter().find(|model| model.name == "popularity");
        if let Some(popular) = popularity.and_then(|model| self.test(model)) {
            text.push(match relative_change(test.mean, popular) {
                Some(change) if winner != "popularity" => format!(
                    "Recommending the most popular items to everybody reaches {popular:.4}: the winner is {} above that.",
                    percent(change).trim_start_matches('+')
                ),
                _ => "Nothing that was tried is better than recommending the most popular items to everybody.".to_owned(),
            });
        }
        let ties: Vec<&str> = record
            .models
            .iter()
            .skip(1)
            .filter(|model| self.is_tie(model))
            .map(|model| &*model.name)
            .collect();
        if !ties.is_empty() {
            text.push(format!(
                "These can't be told from the winner on this many users: {}. If one of them is easier to run, it is as good a choice.",
                ties.join(", ")
            ));
        }
        let understood = &record.understood;
        text.push(format!(
            "The log: {} users, {} items. Ratings: {}. Times: {}. Split: {}.",
            thousands(understood.size.users),
            thousands(understood.size.items),
            understood.ratings,
            understood.times,
            understood.split
        ));
        text.extend(understood.notes.iter().cloned());
        Section { id: "short", title: "In short", blocks: text.into_iter().map(Block::Paragraph).collect() }
    }

    /// Whether the interval of the difference from the winner contains zero.
    fn is_tie(&self, model: &ModelResult) -> bool {
        self.difference(model).is_some_and(|found| found.interval[0] <= 0.0 && found.interval[1] >= 0.0)
    }

    fn models(&self) -> Section {
        let (record, metric) = (self.record, self.metric());
        let row = |(place, model): (usize, &ModelResult)| {
            let difference = self.difference(model).map(|found| {
                format!("{:+.4} ({:+.4} to {:+.4})", found.mean, found.interval[0], found.interval[1])
            });
            let verdict = match place {
                0 => "the winner",
                _ if self.is_tie(model) => "no clear difference",
                _ if self.difference(model).is_some_and(|found| found.mean > 0.0) => {
                    "better on test, worse on validation"
                }
                _ => "worse",
            };
            vec![
                TableCell { bold: place == 0, ..TableCell::new(&model.name) },
                TableCell::new(in_few_words(&model.settings)),
                TableCell::new(model.tried.to_string()),
                TableCell::new(format!("{:.4}", model.valid)),
                TableCell::or_dash(self.test(model).map(|value| format!("{value:.4}"))),
                TableCell::or_dash(difference),
                TableCell::new(verdict),
            ]
        };
        let table = Table {
            caption: format!(
                "The best trial of each model, by {metric} on the validation set. Differences on the test set, user by user, with \
                 {:.0} % bootstrap intervals; several are shown at once, so one in twenty would look clear by chance.",
                100.0 * record.test.confidence
            ),
            columns: vec![
                TableColumn::text("model"),
                TableColumn::text("settings"),
                TableColumn::number("trials"),
                TableColumn::number("validation"),
                TableColumn::number("test"),
                TableColumn::number("difference from the winner"),
                TableColumn::text("verdict"),
            ],
            rows: record.models.iter().enumerate().map(row).collect(),
        };
        let mut blocks = vec![Block::Table(RunTable { table, runs: (0..record.models.len()).collect() })];
        blocks.extend(self.chart().map(Block::Figure));
        for skipped in &record.skipped {
            blocks.push(Block::Paragraph(format!("Not tried: {}. {}.", skipped.model, skipped.reason)));
        }
        Section { id: "models", title: "Models that were tried", blocks }
    }

    fn chart(&self) -> Option<Figure> {
        let (models, metric) = (&self.record.models, self.metric());
        let bars: Vec<Option<Bar>> =
            models.iter().map(|model| Some(Bar { value: self.test(model)?, deviation: None })).collect();
        if bars.len() < 2 {
            return None;
        }
        let chart = BarChart {
            x_title: format!("{metric}, test"),
            categories: models.iter().map(|model| model.name.clone()).collect(),
            series: vec![BarSeries { name: "measured".to_owned(), color: ColorRole::Series(0), bars }],
            marks: None,
            format: |value| format!("{value:.4}"),
        };
        Some(Figure {
            title: format!("Test {metric} of each model"),
            caption: format!(
                "Test {metric} of the best trial of each model, in the order of the validation set."
            ),
            scene: chart.draw(),
            runs: (0..models.len()).collect(),
        })
    }

    fn lists(&self) -> Section {
        let (models, lists) = (&self.record.models, &self.record.lists);
        let row = |model: &ModelResult| {
            let value = |label: &str, scale: f64, digits: usize| {
                let metric: MetricAt = format!("{label}@{}", lists.k).parse().ok()?;
                let value = self.compared(model)?.lists.get(&metric)?.mean;
                Some(format!("{:.digits$}", scale * value))
            };
            vec![
                TableCell::new(&model.name),
                TableCell::or_dash(value("Coverage", 100.0, 1)),
                TableCell::or_dash(value("AveragePopularity", 1.0, 1)),
                TableCell::or_dash(value("Gini", 1.0, 3)),
            ]
        };
        let character = Table {
            caption: format!(
                "What lists of {} are made of. Coverage: the share of all items that is recommended to anybody. Popularity: the \
                 mean number of training interactions of a recommended item. Gini: 0 if all items are recommended equally often, \
                 near 1 if a few are recommended to everybody.",
                lists.k
            ),
            columns: vec![
                TableColumn::text("model"),
                TableColumn::number("coverage, %"),
                TableColumn::number("popularity"),
                TableColumn::number("Gini"),
            ],
            rows: models.iter().map(row).collect(),
        };
        let overlap = Table {
            caption: format!(
                "How much the lists of two models have in common: the mean share of the {} items, in percent, over {} users.",
                lists.k,
                thousands(lists.users)
            ),
            columns: std::iter::once(TableColumn::text("model"))
                .chain(models.iter().map(|model| TableColumn::number(&model.name)))
                .collect(),
            rows: models
                .iter()
                .zip(&lists.overlap)
                .map(|(model, row)| {
                    let cells = row.iter().map(|share| TableCell::new(format!("{:.0}", 100.0 * share)));
                    std::iter::once(TableCell::new(&model.name)).chain(cells).collect()
                })
                .collect(),
        };
        let table = |table| Block::Table(RunTable { table, runs: Vec::new() });
        Section { id: "lists", title: "How the lists differ", blocks: vec![table(character), table(overlap)] }
    }

    fn new_users(&self) -> Section {
        let (metric, test) = (self.metric(), self.record.test.mean);
        let new = self.record.lists.new_users;
        let text = format!(
            "A user that the model has never seen gets a list computed from what they have interacted with, without training (fold-in). \
             If every test user were such a user, {metric} would be {new:.4} instead of {test:.4}. A user without any interaction \
             gets the most popular items. New items are recommended after the model is updated with interactions of theirs."
        );
        Section { id: "new-users", title: "What new users get", blocks: vec![Block::Paragraph(text)] }
    }

    fn cost(&self) -> Section {
        let record = self.record;
        let row = |model: &ModelResult| {
            vec![
                TableCell::new(&model.name),
                TableCell::new(format!("{:.1}", model.seconds)),
                TableCell::new(memory::size(model.bytes)),
            ]
        };
        let table = Table {
            caption: "Training of the best trial of each model, with the threads of one trial, and the size of its model file, which a \
                      server holds in memory about twice."
                .to_owned(),
            columns: vec![
                TableColumn::text("model"),
                TableColumn::number("seconds to train"),
                TableColumn::number("model file"),
            ],
            rows: record.models.iter().map(row).collect(),
        };
        let epochs = record.run.epochs.map_or_else(String::new, |epochs| format!(" for {epochs} epochs"));
        let cores = record.provenance.cores.map_or_else(String::new, |cores| format!(" with {cores} cores"));
        let text = format!(
            "The search took {:.0} seconds for {} trials on {}{cores}. The winner was then trained on all {} interactions{epochs} in \
             {:.1} seconds.",
            record.seconds,
            record.trials,
            record.provenance.cpu.as_deref().unwrap_or("this machine"),
            thousands(record.run.pairs),
            record.run.seconds
        );
        let blocks = vec![Block::Paragraph(text), Block::Table(RunTable { table, runs: Vec::new() })];
        Section { id: "cost", title: "Cost", blocks }
    }

    fn commands(&self) -> Section {
        let best = quoted(&self.folder.join(&self.record.run.path));
        let config = quoted(&self.folder.join(&self.record.run.path).join("config.toml"));
        let models = quoted(&self.folder.join("models"));
        let rows = [
            ("lists for all users", format!("rivalry recommend {best} --all -n 20 -o lists.csv")),
            ("serve over HTTP", format!("rivalry serve {best} --feedback feedback.jsonl")),
            ("take in new interactions", format!("rivalry update {best} NEW_LOG")),
            (
                "take in what the server collected",
                format!("rivalry update {best} --from-feedback feedback.jsonl"),
            ),
            ("train again", format!("rivalry train --config {config}")),
            ("compare the models", format!("rivalry compare {models}")),
            (
                "search on",
                self.record.provenance.command.clone().unwrap_or_else(|| "rivalry auto LOG".to_owned()),
            ),
        ];
        let row = |(what, command): (&str, String)| vec![TableCell::new(what), TableCell::new(command)];
        let table = Table {
            caption: "The same command with more --minutes goes on with the search.".to_owned(),
            columns: vec![TableColumn::text("to"), TableColumn::text("command")],
            rows: rows.into_iter().map(row).collect(),
        };
        let blocks = vec![Block::Table(RunTable { table, runs: Vec::new() })];
        Section { id: "commands", title: "Commands", blocks }
    }
}
