//! `rivalry evaluate`

use std::path::Path;

use rivalry::data::export::{Cell, Column, ColumnType, TableFormat, TableWriter};
use rivalry::data::{Dataset, count, thousands};
use rivalry::eval::{
    Average, EvalOptions, EvalPart, Evaluation, Mask, MetricAt, PerUser, Verification, evaluate, verify,
};
use rivalry::files::Output;
use rivalry::{Error, InputError, Result};
use rivalry_runs::run::{RunFolder, RunRecord, output_to};
use serde::Serialize;

use super::{RunData, use_machine};
use crate::args::{AverageArg, EvaluateArgs, IdsArgs, MaskArg, SplitArg};
use crate::output::{print, print_json, say};
use crate::table;

#[derive(Serialize)]
struct Document<'a> {
    run: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    epoch: Option<usize>,
    split: EvalPart,
    mask: Mask,
    average: Average,
    #[serde(flatten)]
    evaluation: Evaluation,
    #[serde(skip_serializing_if = "Option::is_none")]
    verification: Option<Verification>,
}

pub fn run(args: &EvaluateArgs) -> anyhow::Result<()> {
    let table = args.per_user.as_deref().map(|path| per_user_table(path, args)).transpose()?;
    use_machine(&args.machine)?;
    let folder = RunFolder::open(&args.run)?;
    let model = folder.model()?;
    let options = options(args, &model.config.eval);
    let data = RunData { folder: &folder, config: &model.config, moved_to: args.data.as_deref() };
    let dataset = data.load(args.machine.load_options(args.data_dir.as_deref()), false)?;
    dataset.check_same(&model.data_checksum)?;
    let scorer = model.scorer()?;
    let part = match args.split {
        SplitArg::Test => EvalPart::Test,
        SplitArg::Valid => EvalPart::Valid,
    };
    let (mut evaluation, verification) = if args.verify {
        let verification = verify(&*scorer, &dataset, part, &options)?;
        let reported = folder.record()?.filter(|_| {
            part == EvalPart::Test
                && options.metrics_only()
                    == EvalOptions { memory: options.memory, ..model.config.eval.metrics_only() }
        });
        check_reported(reported.as_ref(), &verification.evaluation)?;
        (verification.evaluation.clone(), Some(verification))
    } else {
        (evaluate(&*scorer, &dataset, part, &options)?, None)
    };
    if let (Some((output, format)), Some(per_user)) = (&table, evaluation.per_user.take()) {
        write_per_user((output, *format), &args.ids, &per_user, &dataset)?;
        if output.is_standard_output() {
            return Ok(());
        }
        say(format_args!(
            "wrote metrics of {} to {}",
            count(per_user.users.len(), "user"),
            output.path().display()
        ));
    }
    let EvalOptions { average, .. } = options;
    // On the validation set only training items are masked, whatever the options.
    let mask = if part == EvalPart::Valid { Mask::Train } else { options.mask };
    let (run, epoch) = (&*args.run, model.epoch);
    let document = Document { run, epoch, split: part, mask, average, evaluation, verification };
    if args.json {
        print_json(&document)?;
    } else {
        show(&document, &dataset)?;
    }
    Ok(())
}

/// Checks that the recorded test metrics are those of the model.
fn check_reported(record: Option<&RunRecord>, now: &Evaluation) -> Result<()> {
    let Some(RunRecord { outcome, .. }) = record else { return Ok(()) };
    let differs = |(metric, recorded): (&MetricAt, &f64)| {
        let now = now.metrics.get(metric).copied().unwrap_or(f64::NAN);
        (now != *recorded).then(|| format!("metrics.json has {metric} = {recorded}, the model has {now}"))
    };
    match outcome.test.iter().find_map(differs) {
        Some(what) => Err(Error::Unverified { what }),
        None => Ok(()),
    }
}

/// The run's options, overridden by those given.
fn options(args: &EvaluateArgs, own: &EvalOptions) -> EvalOptions {
    EvalOptions {
        k: if args.k.is_empty() { own.k.clone() } else { args.k.clone() },
        mask: args.mask.map_or(own.mask, |mask| match mask {
            MaskArg::Train => Mask::Train,
            MaskArg::TrainValid => Mask::TrainValid,
        }),
        average: args.average.map_or(own.average, |average| match average {
            AverageArg::Evaluable => Average::Evaluable,
            AverageArg::All => Average::All,
        }),
        per_user: args.per_user.is_some(),
        memory: args.machine.memory(),
        buckets: args.buckets || own.buckets,
        beyond_accuracy: args.beyond || own.beyond_accuracy,
        select_by: own.select_by,
    }
}

fn show(document: &Document<'_>, dataset: &Dataset) -> std::io::Result<()> {
    let Evaluation { metrics, users, head, tail, beyond, .. } = &document.evaluation;
    let part = if document.split == EvalPart::Test { "test" } else { "validation" };
    let over = match document.average {
        Average::Evaluable => format!("{} users with {part} items", thousands(*users)),
        Average::All => format!("all {} users", thousands(dataset.users.len())),
    };
    let masked = match (document.split, document.mask) {
        (EvalPart::Test, Mask::TrainValid) => "training and validation items",
        _ => "training items",
    };
    let epoch = document.epoch.map_or_else(String::new, |epoch| format!(", epoch {epoch}"));
    print(format_args!("run     {}{epoch}", document.run.display()))?;
    print(format_args!("set     {part} set of {}, mean over {over}", dataset.name))?;
    print(format_args!("mask    {masked}\n"))?;
    let mut columns = vec![(part, metrics)];
    columns.extend(head.iter().map(|bucket| ("head", &bucket.metrics)));
    columns.extend(tail.iter().map(|bucket| ("tail", &bucket.metrics)));
    print(table::metrics(&columns))?;
    if let (Some(head), Some(tail)) = (head, tail) {
        let [head, tail] = [head.users, tail.users].map(thousands);
        print(format_args!(
            "head, tail: the most and the least popular 20 % of the items; {head} and {tail} users"
        ))?;
    }
    if let Some(beyond) = beyond {
        print(table::metrics(&[("lists", beyond)]))?;
    }
    if let Some(found) = &document.verification {
        let (figures, users, reordered) =
            (found.figures, thousands(*users), thousands(found.reordered_users));
        print(format_args!(
            "verified: {figures} figures over {users} users, recomputed in f64, {};\n\
             {reordered} lists are in another order in f64, within f32 rounding",
            match found.largest_difference {
                0.0 => "are equal".to_owned(),
                difference => format!("differ by at most {difference:.0e}"),
            }
        ))?;
    }
    Ok(())
}

/// Where the metrics of each user go, and in which format.
fn per_user_table(path: &Path, args: &EvaluateArgs) -> Result<(Output, TableFormat)> {
    let output = output_to(path, args.force)?;
    if output.is_standard_output() && args.json {
        let error = InputError::new("standard output can't hold this table and the JSON document");
        return Err(error.field("--per-user").help("write the table to a file, or leave --json out").into());
    }
    let format = TableFormat::of_output(&output, args.format.as_deref())?;
    Ok((output, format))
}

fn write_per_user(
    (output, format): (&Output, TableFormat),
    ids: &IdsArgs,
    per_user: &PerUser,
    dataset: &Dataset,
) -> Result<()> {
    let mut columns = vec![ids.column("user", &dataset.users)];
    columns.extend(per_user.values.keys().map(|metric| Column::new(metric.to_string(), ColumnType::Float64)));
    let mut table = TableWriter::create(output, format, columns)?;
    let mut cells = Vec::new();
    for (at, &user) in per_user.users.iter().enumerate() {
        cells.clear();
        cells.push(Cell::Text(dataset.users.original(user)));
        cells.extend(per_user.values.values().map(|values| Cell::Float64(values[at])));
        table.row(&cells)?;
    }
    table.finish()
}
