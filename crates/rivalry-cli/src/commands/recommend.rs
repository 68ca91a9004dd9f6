//! `rivalry recommend`

use rivalry::Result;
use std::ops::Range;
use std::path::Path;

use rivalry::data::export::{Cell, Column, ColumnType, TableFormat, TableWriter};
use rivalry::data::{ItemTable, count};
use rivalry::files::Output;
use rivalry::model::Model;
use rivalry::ranker::{Filter, Known, QUERIES, RankedLists, Ranker};
use rivalry_runs::run::{RunFolder, open_model, output_to};
use serde_json::{Value, json};

use super::targets::Targets;
use super::use_machine;
use super::users::{Users, choose_users};
use crate::args::RecommendArgs;
use crate::output::{print, print_json, quoted, say};
use crate::progress::CountBar;
use crate::table;

/// Users ranked before their lists are written: what is in memory doesn't grow with the number of users.
const PORTION: usize = 64 * QUERIES;

/// Items of the history that are named as reasons.
const REASONS: usize = 3;

pub fn run(args: &RecommendArgs) -> anyhow::Result<()> {
    let table = match &args.out {
        Some(out) => {
            let output = output_to(out, args.force)?;
            let format = TableFormat::of_output(&output, args.format.as_deref())?;
            Some((output, format))
        }
        None => None,
    };
    use_machine(&args.machine)?;
    let ranker = Ranker::new(open_model(&args.run)?)?.with_memory_limit(args.machine.memory());
    let titles = args.items.as_deref().map(ItemTable::read).transpose()?;
    let model = ranker.model();
    note_unfinished(&args.run, model)?;
    let (targets, unknown) = targets(args, model)?;
    let k = (args.k as usize).min(model.items.len());
    if k < args.k as usize {
        say(format_args!("note: the model has {}, so lists are shorter than {}", count(k, "item"), args.k));
    }
    let lists = Lists { ranker: &ranker, targets: &targets, titles, args, k };
    if let Some((output, format)) = table {
        lists.write_table(&output, format)?;
        let to = if output.is_standard_output() {
            "standard output".into()
        } else {
            output.path().display().to_string()
        };
        say(format_args!("wrote the top {k} for {} to {to}", count(targets.len(), "user")));
        return Ok(());
    }
    let ranked = lists.rank(0..targets.len())?;
    if args.json {
        let mut document = json!({ "run": args.run, "recommendations": lists.document(&ranked)? });
        if args.skip_unknown {
            document["skipped"] = json!(unknown);
        }
        return Ok(print_json(&document)?);
    }
    for at in 0..targets.len() {
        print(format_args!("user {}", targets.id(model, at)))?;
        print(lists.text(&ranked, at)?)?;
    }
    Ok(())
}

/// The users asked for, and the ids of those that are left out.
fn targets(args: &RecommendArgs, model: &Model) -> Result<(Targets, Vec<String>)> {
    if let Some(path) = &args.users.history {
        let (targets, notes) = Targets::read_histories(path, model, args.machine.memory())?;
        notes.iter().for_each(|note| say(format_args!("note: {note}")));
        return Ok((targets, Vec::new()));
    }
    let Users { known, unknown } = choose_users(&args.users, &model.users, args.skip_unknown)?;
    if !unknown.is_empty() {
        say(format_args!("note: {}", skipped(&unknown)));
    }
    let untrained = known.iter().filter(|&&user| model.train.items_of(user).is_empty()).count();
    if untrained > 0 {
        say(format_args!(
            "note: {untrained} of {} users have no training items, so their lists are not personalised",
            known.len()
        ));
    }
    if args.exclude.is_none() && !model.held_out.is_empty() {
        say(
            "note: items of the training, validation and test sets are left out; --exclude train+valid lets test items in, \
             as 'evaluate' does",
        );
    }
    Ok((Targets::Known(known), unknown))
}

/// Says so if the run is not finished.
fn note_unfinished(run: &Path, model: &Model) -> Result<()> {
    let (Some(epoch), true) = (model.epoch, run.is_dir()) else { return Ok(()) };
    if !RunFolder::open(run)?.is_finished() {
        let resume = format!("rivalry train --resume {}", quoted(run));
        say(format_args!(
            "note: the run is unfinished: these lists are of epoch {epoch}; finish it with {resume}"
        ));
    }
    Ok(())
}

/// How many users were left out, and the first of them.
fn skipped(unknown: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = unknown.iter().take(SHOWN).map(|id| format!("'{id}'")).collect();
    let more = if unknown.len() > SHOWN { ", …" } else { "" };
    format!("skipped {} not in the training data: {}{more}", count(unknown.len(), "user"), shown.join(", "))
}

/// What lists are made of.
struct Lists<'a> {
    ranker: &'a Ranker,
    targets: &'a Targets,
    titles: Option<ItemTable>,
    args: &'a RecommendArgs,
    k: usize,
}

impl Lists<'_> {
    fn model(&self) -> &Model {
        self.ranker.model()
    }

    /// The lists of the users at these places.
    fn rank(&self, places: Range<usize>) -> Result<RankedLists> {
        let known = self.args.exclude.map_or(Known::All, Known::from);
        self.targets.rank(self.ranker, places, self.k, &Filter { known, ..Filter::default() })
    }

    /// The title of an item; empty if there is none.
    fn title(&self, item: u32) -> &str {
        let title = self.titles.as_ref().and_then(|titles| titles.title(self.model().items.original(item)));
        title.unwrap_or_default()
    }

    /// The items of a user's history that contribute most to the score of an item.
    fn reasons(&self, at: usize, item: u32) -> Result<Vec<(u32, f32)>> {
        let explained = self.ranker.explain(self.targets.history(self.model(), at), item)?;
        let parts = explained.contributions.into_iter().take(REASONS);
        Ok(parts.map(|part| (part.item, part.contribution)).collect())
    }

    /// The same in words.
    fn because(&self, at: usize, item: u32) -> Result<String> {
        let reason = |&(item, contribution): &(u32, f32)| match self.title(item) {
            "" => format!("{} ({contribution:.4})", self.model().items.original(item)),
            title => format!("{title} ({contribution:.4})"),
        };
        Ok(self.reasons(at, item)?.iter().map(reason).collect::<Vec<_>>().join("; "))
    }

    fn document(&self, lists: &RankedLists) -> Result<Vec<Value>> {
        let items = &self.model().items;
        let entry = |at: usize, (item, score): (u32, f32)| -> Result<Value> {
            let mut entry = json!({ "item": items.original(item), "score": score });
            if self.titles.is_some() {
                entry["title"] = json!(self.title(item));
            }
            if self.args.explain {
                let reason =
                    |(item, part): (u32, f32)| json!({ "item": items.original(item), "contribution": part });
                entry["because"] = self.reasons(at, item)?.into_iter().map(reason).collect();
            }
            Ok(entry)
        };
        let list = |at: usize| -> Result<Value> {
            let items = lists.list(at).map(|pair| entry(at, pair)).collect::<Result<Vec<_>>>()?;
            Ok(json!({ "user": self.targets.id(self.model(), at), "items": items }))
        };
        (0..self.targets.len()).map(list).collect()
    }

    /// The list of a user as a table.
    fn text(&self, lists: &RankedLists, at: usize) -> Result<String> {
        let titled = self.titles.is_some();
        let header: Vec<&str> = ["rank", "item"]
            .into_iter()
            .chain(titled.then_some("title"))
            .chain(self.args.explain.then_some("because"))
            .chain(["score"])
            .collect();
        let rows = (1..).zip(lists.list(at)).map(|(rank, (item, score))| {
            let mut row = vec![rank.to_string(), self.model().items.original(item).to_owned()];
            if titled {
                row.push(self.title(item).to_owned());
            }
            if self.args.explain {
                row.push(self.because(at, item)?);
            }
            row.push(format!("{score:.4}"));
            Ok(row)
        });
        Ok(table::ranking(&header, rows.collect::<Result<Vec<_>>>()?))
    }

    /// Ranks and writes portion by portion.
    fn write_table(&self, output: &Output, format: TableFormat) -> Result<()> {
        let (model, targets) = (self.model(), self.targets);
        let titled = self.titles.is_some();
        let text = |name| Column::new(name, ColumnType::Text);
        let columns = [
            self.args.ids.column("user", targets.ids(model)),
            Column::new("rank", ColumnType::UInt32),
            self.args.ids.column("item", &model.items),
        ];
        let columns = columns
            .into_iter()
            .chain(titled.then(|| text("title")))
            .chain([Column::new("score", ColumnType::Float32)])
            .chain(self.args.explain.then(|| text("because")))
            .collect();
        let mut table = TableWriter::create(output, format, columns)?;
        let bar = CountBar::new(targets.len(), "users");
        for start in (0..targets.len()).step_by(PORTION) {
            let places = start..(start + PORTION).min(targets.len());
            let lists = self.rank(places.clone())?;
            for (list, at) in places.enumerate() {
                for (rank, (item, score)) in (1..).zip(lists.list(list)) {
                    let because = if self.args.explain { self.because(at, item)? } else { String::new() };
                    let ids = [
                        Cell::Text(targets.id(model, at)),
                        Cell::UInt32(rank),
                        Cell::Text(model.items.original(item)),
                    ];
                    let cells: Vec<Cell<'_>> = ids
                        .into_iter()
                        .chain(titled.then(|| Cell::Text(self.title(item))))
                        .chain([Cell::Float32(score)])
                        .chain(self.args.explain.then_some(Cell::Text(&because)))
                        .collect();
                    table.row(&cells)?;
                }
                bar.done(at + 1);
            }
        }
        table.finish()
    }
}
