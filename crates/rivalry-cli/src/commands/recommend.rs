//! `rivalry recommend`

use std::path::Path;

use rivalry::files::write_atomically;
use rivalry::model::Model;
use rivalry::ranker::{Filter, RankedLists, Ranker};
use rivalry::{Error, InputError, Result};
use rivalry_runs::run::open_model;
use serde_json::json;

use super::{dense_id, refuse_existing, use_machine};
use crate::args::{RecommendArgs, UsersArgs};
use crate::output::{print, print_json, say};
use crate::table;

pub fn run(args: &RecommendArgs) -> anyhow::Result<()> {
    if let Some(out) = &args.out {
        refuse_existing(out, args.force).map_err(Error::from)?;
    }
    use_machine(&args.machine)?;
    let ranker = Ranker::new(open_model(&args.run)?)?.with_memory_limit(args.machine.memory());
    let model = ranker.model();
    let users = users(&args.users, model)?;
    let n = (args.n as usize).min(model.items.len());
    let lists = ranker.recommend(&users, n, &Filter::default())?;
    let untrained = users.iter().filter(|&&user| model.train.items_of(user).is_empty()).count();
    if untrained > 0 {
        say(format_args!(
            "note: {untrained} of {} users have no training items, so their lists are not personalised",
            users.len()
        ));
    }
    match &args.out {
        Some(out) => {
            write_csv(out, model, &lists)?;
            say(format_args!("wrote the top {n} for {} users to {}", users.len(), out.display()));
        }
        None if args.json => {
            print_json(&json!({ "run": args.run, "recommendations": document(model, &lists) }))?;
        }
        None => {
            for (at, &user) in users.iter().enumerate() {
                let rows = (1..).zip(ranked(model, &lists, at));
                let rows = rows
                    .map(|(rank, (item, score))| [rank.to_string(), item.to_owned(), format!("{score:.4}")]);
                print(format_args!("user {}", model.users.original(user)))?;
                print(table::ranking(["rank", "item", "score"], rows))?;
            }
        }
    }
    Ok(())
}

/// The dense ids of the users to recommend to.
fn users(args: &UsersArgs, model: &Model) -> Result<Vec<u32>> {
    if args.all {
        return Ok((0..model.users.len() as u32).collect());
    }
    let Some(file) = &args.users_file else {
        return args.user.iter().map(|id| Ok(dense_id("user", &model.users, id)?)).collect();
    };
    let text = std::fs::read_to_string(file).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => InputError::new("not UTF-8 text").file(file).into(),
        _ => Error::io("read", file, e),
    })?;
    let ids = (1..).zip(text.lines()).filter(|(_, id)| !id.is_empty());
    ids.map(|(line, id)| Ok(dense_id("user", &model.users, id).map_err(|e| e.file(file).line(line))?))
        .collect()
}

/// The list of the query at that index, with original ids.
fn ranked<'a>(model: &'a Model, lists: &'a RankedLists, at: usize) -> impl Iterator<Item = (&'a str, f32)> {
    let items = lists.items(at).iter().map(|&item| model.items.original(item));
    items.zip(lists.scores(at).iter().copied())
}

fn document(model: &Model, lists: &RankedLists) -> Vec<serde_json::Value> {
    let list = |(at, &user): (usize, &u32)| {
        let items = ranked(model, lists, at).map(|(item, score)| json!({ "item": item, "score": score }));
        json!({ "user": model.users.original(user), "items": items.collect::<Vec<_>>() })
    };
    lists.queries().iter().enumerate().map(list).collect()
}

fn write_csv(path: &Path, model: &Model, lists: &RankedLists) -> Result<()> {
    write_atomically(path, |file| {
        let mut csv = csv::Writer::from_writer(file);
        csv.write_record(["user", "rank", "item", "score"])?;
        for (at, &user) in lists.queries().iter().enumerate() {
            for (rank, (item, score)) in (1..).zip(ranked(model, lists, at)) {
                let (rank, score) = (i32::to_string(&rank), score.to_string());
                csv.write_record([model.users.original(user), &rank, item, &score])?;
            }
        }
        csv.flush()
    })
}
