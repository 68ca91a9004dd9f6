//! `rivalry export`

use std::path::PathBuf;

use rivalry::backbone::Score;
use rivalry::ranker::Ranker;
use rivalry::vectors::export_vectors;
use rivalry_runs::run::open_model;
use serde_json::json;

use crate::args::ExportArgs;
use crate::output::{print, print_json};

pub fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let ranker = Ranker::new(open_model(&args.run)?)?;
    let folder = args.out.clone().unwrap_or_else(|| default_folder(args));
    let exported = export_vectors(&ranker, args.to.into(), &folder, args.force)?;
    let embeddings = ranker.embeddings()?;
    let (users, items, dim) = (embeddings.users.rows(), embeddings.items.rows(), embeddings.dim());
    let model = &ranker.model().config.model;
    // With a popularity prior, vectors have a number more.
    let unit = model.score() == Some(Score::Cosine) && model.dim() == Some(dim);
    if args.json {
        let document = json!({
            "run": args.run, "files": exported.files, "users": users, "items": items, "dim": dim,
            "metric": "dot", "unit_length": unit, "recall_at_20": exported.recall_at_20,
        });
        return Ok(print_json(&document)?);
    }
    let metric = if unit { "the dot product; vectors have length one" } else { "the dot product" };
    print(format_args!("{users} users and {items} items, {dim} numbers each; a score is {metric}"))?;
    if let Some(recall) = exported.recall_at_20 {
        print(format_args!("recall@20 of the index against exact search: {recall:.4}"))?;
    }
    for file in exported.files {
        print(file.display())?;
    }
    Ok(())
}

/// A folder beside the run, in the working folder.
fn default_folder(args: &ExportArgs) -> PathBuf {
    let name = if args.run.is_dir() { args.run.file_name() } else { args.run.file_stem() };
    PathBuf::from(format!("{}-vectors", name.unwrap_or_default().to_string_lossy()))
}
