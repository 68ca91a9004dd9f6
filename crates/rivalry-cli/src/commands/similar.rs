//! `rivalry similar`

use rivalry::ranker::{Filter, Ranker, Side};
use rivalry_runs::run::open_model;
use serde::Serialize;

use super::unknown_id;
use crate::args::SimilarArgs;
use crate::output::{print, print_json};
use crate::table;

#[derive(Serialize)]
struct Similar<'a> {
    item: &'a str,
    similarity: f32,
}

pub fn run(args: &SimilarArgs) -> anyhow::Result<()> {
    let ranker = Ranker::new(open_model(&args.run)?)?;
    let items = &ranker.model().items;
    let item = items.dense(&args.item).ok_or_else(|| unknown_id("item", items, &args.item, ""));
    let item = item.map_err(rivalry::Error::from)?;
    let lists = ranker.similar(Side::Items, &[item], args.k as usize, &Filter::default())?;
    let similar = lists.list(0).map(|(item, similarity)| Similar { item: items.original(item), similarity });
    let similar: Vec<Similar<'_>> = similar.collect();
    if args.json {
        print_json(&serde_json::json!({ "run": args.run, "item": args.item, "similar": similar }))?;
    } else {
        let rows = (1..).zip(&similar).map(|(rank, similar)| {
            vec![rank.to_string(), similar.item.to_owned(), format!("{:.4}", similar.similarity)]
        });
        print(format_args!("similar to item {}", args.item))?;
        print(table::ranking(&["rank", "item", "similarity"], rows))?;
    }
    Ok(())
}
