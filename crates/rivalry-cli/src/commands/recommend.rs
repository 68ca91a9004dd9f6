//! `rivalry recommend`

use rivalry::Result;
use rivalry::data::export::{Cell, Column, ColumnType, TableFormat, TableWriter};
use rivalry::files::Output;
use rivalry::model::Model;
use rivalry::ranker::{Filter, QUERIES, RankedLists, Ranker};
use rivalry_runs::run::{open_model, output_to};
use serde_json::json;

use super::use_machine;
use super::users::{Users, choose_users};
use crate::args::RecommendArgs;
use crate::output::{print, print_json, say};
use crate::table;

/// Users ranked before their lists are written: what is in memory doesn't grow with the number of users.
const PORTION: usize = 64 * QUERIES;

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
    let model = ranker.model();
    let Users { known: users, unknown } = choose_users(&args.users, &model.users, args.skip_unknown)?;
    if !unknown.is_empty() {
        say(format_args!("note: {}", skipped(&unknown)));
    }
    let k = (args.k as usize).min(model.items.len());
    let untrained = users.iter().filter(|&&user| model.train.items_of(user).is_empty()).count();
    if untrained > 0 {
        say(format_args!(
            "note: {untrained} of {} users have no training items, so their lists are not personalised",
            users.len()
        ));
    }
    if let Some((output, format)) = table {
        write_table(&output, format, &ranker, &users, k)?;
        let to = if output.is_standard_output() {
            "standard output".into()
        } else {
            output.path().display().to_string()
        };
        say(format_args!("wrote the top {k} for {} users to {to}", users.len()));
        return Ok(());
    }
    let lists = ranker.recommend(&users, k, &Filter::default())?;
    if args.json {
        let mut document = json!({ "run": args.run, "recommendations": document(model, &lists) });
        if args.skip_unknown {
            document["skipped"] = json!(unknown);
        }
        return Ok(print_json(&document)?);
    }
    for (at, &user) in users.iter().enumerate() {
        let rows = (1..).zip(ranked(model, &lists, at));
        let rows =
            rows.map(|(rank, (item, score))| [rank.to_string(), item.to_owned(), format!("{score:.4}")]);
        print(format_args!("user {}", model.users.original(user)))?;
        print(table::ranking(["rank", "item", "score"], rows))?;
    }
    Ok(())
}

/// How many users were left out, and the first of them.
fn skipped(unknown: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = unknown.iter().take(SHOWN).map(|id| format!("'{id}'")).collect();
    let more = if unknown.len() > SHOWN { ", …" } else { "" };
    let users = if unknown.len() == 1 { "1 user is" } else { &format!("{} users are", unknown.len()) };
    format!("{users} not in the training data and left out: {}{more}", shown.join(", "))
}

/// The list of the query at that index, with original ids.
fn ranked<'a>(model: &'a Model, lists: &'a RankedLists, at: usize) -> impl Iterator<Item = (&'a str, f32)> {
    lists.list(at).map(|(item, score)| (model.items.original(item), score))
}

fn document(model: &Model, lists: &RankedLists) -> Vec<serde_json::Value> {
    let list = |(at, &user): (usize, &u32)| {
        let items = ranked(model, lists, at).map(|(item, score)| json!({ "item": item, "score": score }));
        json!({ "user": model.users.original(user), "items": items.collect::<Vec<_>>() })
    };
    lists.queries().iter().enumerate().map(list).collect()
}

/// Ranks and writes portion by portion.
fn write_table(output: &Output, format: TableFormat, ranker: &Ranker, users: &[u32], k: usize) -> Result<()> {
    let model = ranker.model();
    let columns = vec![
        Column::of_ids("user", &model.users),
        Column::new("rank", ColumnType::UInt32),
        Column::of_ids("item", &model.items),
        Column::new("score", ColumnType::Float32),
    ];
    let mut table = TableWriter::create(output, format, columns)?;
    for portion in users.chunks(PORTION) {
        let lists = ranker.recommend(portion, k, &Filter::default())?;
        for (at, &user) in portion.iter().enumerate() {
            for (rank, (item, score)) in (1..).zip(ranked(model, &lists, at)) {
                let user = Cell::Text(model.users.original(user));
                table.row(&[user, Cell::UInt32(rank), Cell::Text(item), Cell::Float32(score)])?;
            }
        }
    }
    table.finish()
}
