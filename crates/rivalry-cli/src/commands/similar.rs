//! `rivalry similar`

use rivalry::eval::similar_items;
use rivalry::run::SavedModel;
use serde::Serialize;

use super::dense_id;
use crate::args::SimilarArgs;
use crate::output::{print, print_json};
use crate::table;

#[derive(Serialize)]
struct Similar<'a> {
    item: &'a str,
    similarity: f32,
}

pub fn run(args: &SimilarArgs) -> anyhow::Result<()> {
    let saved = SavedModel::open(&args.run)?;
    let item = dense_id("item", &saved.items, &args.item).map_err(rivalry::Error::from)?;
    let found = similar_items(&saved.model()?.scored().items, item, args.n as usize)?;
    let similar: Vec<Similar<'_>> = found
        .into_iter()
        .map(|(item, similarity)| Similar { item: saved.items.original(item), similarity })
        .collect();
    if args.json {
        print_json(&serde_json::json!({ "run": args.run, "item": args.item, "similar": similar }))?;
    } else {
        let rows = (1..).zip(&similar).map(|(rank, similar)| {
            [rank.to_string(), similar.item.to_owned(), format!("{:.4}", similar.similarity)]
        });
        print(format_args!("like item {}", args.item))?;
        print(table::ranking(["rank", "item", "similarity"], rows))?;
    }
    Ok(())
}
