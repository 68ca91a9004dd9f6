//! `rivalry recommend`

use std::path::Path;

use rivalry::eval::{Lists, top_k_lists};
use rivalry::files::write_atomically;
use rivalry::run::SavedModel;
use rivalry::{Error, InputError, Result};
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
    let saved = SavedModel::open(&args.run)?;
    let users = users(&args.users, &saved)?;
    let n = (args.n as usize).min(saved.items.len());
    let model = saved.model()?;
    // All that the log holds of a user is known to them, whichever part it went to.
    let known = [&saved.train, &saved.held_out];
    let lists = top_k_lists(&model.scored().users, &model.scored().items, &users, &known, n)?;
    let unknown = users.iter().filter(|&&user| saved.train.items_of(user).is_empty()).count();
    if unknown > 0 {
        say(format_args!(
            "note: {unknown} of {} users have no training items: their lists are guesses",
            users.len()
        ));
    }
    match &args.out {
        Some(out) => {
            write_csv(out, &saved, &lists)?;
            say(format_args!("wrote the top {n} for {} users to {}", users.len(), out.display()));
        }
        None if args.json => {
            print_json(&json!({ "run": args.run, "recommendations": document(&saved, &lists) }))?;
        }
        None => {
            for (at, &user) in users.iter().enumerate() {
                let rows = (1..).zip(ranked(&saved, &lists, at));
                let rows = rows
                    .map(|(rank, (item, score))| [rank.to_string(), item.to_owned(), format!("{score:.4}")]);
                print(format_args!("for user {}", saved.users.original(user)))?;
                print(table::ranking(["rank", "item", "score"], rows))?;
            }
        }
    }
    Ok(())
}

/// The dense ids of those who were asked for.
fn users(args: &UsersArgs, saved: &SavedModel) -> Result<Vec<u32>> {
    if args.all {
        return Ok((0..saved.users.len() as u32).collect());
    }
    let Some(file) = &args.users_file else {
        return args.user.iter().map(|id| Ok(dense_id("user", &saved.users, id)?)).collect();
    };
    let text = std::fs::read_to_string(file).map_err(|e| match e.kind() {
        std::io::ErrorKind::InvalidData => InputError::new("not UTF-8 text").file(file).into(),
        _ => Error::io("read", file, e),
    })?;
    let ids = (1..).zip(text.lines()).filter(|(_, id)| !id.is_empty());
    ids.map(|(line, id)| Ok(dense_id("user", &saved.users, id).map_err(|e| e.file(file).line(line))?))
        .collect()
}

/// The list of the user at that place, with original ids.
fn ranked<'a>(saved: &'a SavedModel, lists: &'a Lists, at: usize) -> impl Iterator<Item = (&'a str, f32)> {
    let items = lists.items(at).iter().map(|&item| saved.items.original(item));
    items.zip(lists.scores(at).iter().copied())
}

fn document(saved: &SavedModel, lists: &Lists) -> Vec<serde_json::Value> {
    let list = |(at, &user): (usize, &u32)| {
        let items = ranked(saved, lists, at).map(|(item, score)| json!({ "item": item, "score": score }));
        json!({ "user": saved.users.original(user), "items": items.collect::<Vec<_>>() })
    };
    lists.users().iter().enumerate().map(list).collect()
}

fn write_csv(path: &Path, saved: &SavedModel, lists: &Lists) -> Result<()> {
    write_atomically(path, |file| {
        let mut csv = csv::Writer::from_writer(file);
        csv.write_record(["user", "rank", "item", "score"])?;
        for (at, &user) in lists.users().iter().enumerate() {
            for (rank, (item, score)) in (1..).zip(ranked(saved, lists, at)) {
                let (rank, score) = (i32::to_string(&rank), score.to_string());
                csv.write_record([saved.users.original(user), &rank, item, &score])?;
            }
        }
        csv.flush()
    })
}
