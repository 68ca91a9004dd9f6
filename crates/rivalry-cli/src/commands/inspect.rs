//! `rivalry inspect`

use std::path::Path;

use anyhow::anyhow;
use rivalry::data::thousands;
use rivalry::files::Output;
use rivalry::params::shown;
use rivalry::{InputError, Result};
use rivalry_runs::inspect::{Bounds, Distribution, InspectOptions, Inspection, Slate, TwoSlates, inspect};
use rivalry_runs::run::{RunFolder, output_to};

use super::use_machine;
use crate::args::InspectArgs;
use crate::counting::CountingBar;
use crate::output::{print, print_json};
use crate::table;

pub fn run(args: &InspectArgs) -> anyhow::Result<()> {
    let output = args.out.as_deref().map(|out| json_output(out, args)).transpose()?;
    use_machine(&args.machine)?;
    let folder = RunFolder::open(&args.run)?;
    let model = folder.model()?;
    let data = folder.record()?.map_or_else(|| model.config.data.source.clone(), |record| record.data);
    let options =
        InspectOptions { pairs: args.pairs as usize, slates: args.slates as usize, seed: args.seed };
    let bar = CountingBar::new("pairs");
    let found = inspect(&model, &data, options, &mut |done, of| bar.update(done, of))?;
    drop(bar);
    let written = match &output {
        Some(output) => {
            output.write_all(&found.to_json())?;
            output.path().to_owned()
        }
        None => {
            folder.keep_inspection(&found).map_err(|error| {
                anyhow!("{error}\n  help: write the inspection elsewhere: rivalry inspect RUN -o FILE")
            })?;
            folder.inspection_path()
        }
    };
    if output.is_some_and(|output| output.is_standard_output()) {
        return Ok(());
    }
    if args.json {
        print_json(&found)?;
    } else {
        show(&found, &folder)?;
        print(format_args!("\nwritten to {}", written.display()))?;
    }
    Ok(())
}

/// Where the inspection goes: a JSON file or a stream.
fn json_output(path: &Path, args: &InspectArgs) -> Result<Output> {
    let output = output_to(path, args.force)?;
    if output.file().is_some() && path.extension().is_none_or(|extension| extension != "json") {
        let error = InputError::new("an inspection is written as JSON").file(path);
        return Err(error.help("give a name that ends in .json").into());
    }
    if output.is_standard_output() && args.json {
        let error = InputError::new("both print JSON to standard output").field("--out, --json");
        return Err(error.help("give one of them").into());
    }
    Ok(output)
}

fn show(found: &Inspection, folder: &RunFolder) -> std::io::Result<()> {
    let [pairs, negatives] = [found.pairs, found.negatives].map(thousands);
    print(format_args!("run     {}, epoch {}", folder.path().display(), found.epoch))?;
    print(format_args!("loss    {}, {} model", section(&found.loss), found.model))?;
    print(format_args!("pairs   {pairs} training pairs of {}, {negatives} negatives each\n", found.data))?;
    quantities(found)?;
    gradient(found)?;
    bounds(&found.radius.bounds)?;
    for TwoSlates { calm, contested } in found.two_slates.iter().take(1) {
        print(format_args!(
            "\nthe same positive with two samples of {} negatives: user {}, item {}",
            calm.negatives.iter().map(|negative| negative.draws).sum::<usize>(),
            calm.user,
            calm.item
        ))?;
        slates(&[("calm", calm), ("contested", contested)])?;
    }
    for (which, pairs) in [("most", &found.most_contested), ("least", &found.least_contested)] {
        if !pairs.is_empty() {
            print(format_args!("\nthe {which} contested pairs"))?;
            contested(pairs)?;
        }
    }
    Ok(())
}

/// `type (key value, …)` of a config section.
fn section(section: &toml::Table) -> String {
    let name = section.get("type").map(shown).unwrap_or_default();
    let settings = section.iter().filter(|(key, _)| *key != "type");
    let settings: Vec<String> = settings.map(|(key, value)| format!("{key} {}", shown(value))).collect();
    if settings.is_empty() { name } else { format!("{name} ({})", settings.join(", ")) }
}

fn quantities(found: &Inspection) -> std::io::Result<()> {
    let rows = [
        ("scale of a negative, κ", found.kappa.as_ref()),
        ("competition, c", found.competition.as_ref()),
        ("multiplier, m", found.multiplier.as_ref()),
        ("temperature, τ/m", found.temperature.as_ref()),
        ("KL radius, SL", Some(&found.radius.sl)),
        ("KL radius, this loss", Some(&found.radius.this_loss)),
    ];
    let rows = rows.into_iter().filter_map(|(name, distribution)| {
        let Distribution { mean, deviation, quantiles: [least, low, _, middle, _, high, most], .. } =
            distribution?;
        let numbers = [mean, deviation, least, low, middle, high, most].map(|x| format!("{x:.4}"));
        let [mean, deviation, least, low, middle, high, most] = numbers;
        Some([name.to_owned(), mean, deviation, least, low, middle, high, most])
    });
    let header = ["", "mean", "deviation", "minimum", "5 %", "median", "95 %", "maximum"];
    print(table::table(header, 1, rows))
}

fn gradient(found: &Inspection) -> std::io::Result<()> {
    let shares = &found.gradient;
    let firsts = std::iter::once(1).chain(shares.up_to_rank.iter().map(|last| last + 1));
    let groups = firsts.zip(&shares.up_to_rank).zip(shares.sl.iter().zip(&shares.this_loss));
    let rows = groups.map(|((first, &last), (sl, own))| {
        let ranks = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        [ranks, percent(*sl), percent(*own)]
    });
    print("\ngradient share by rank of the negative")?;
    print(table::table(["rank", "SL", "this loss"], 1, rows))
}

fn bounds(bounds: &Bounds) -> std::io::Result<()> {
    let Bounds { checked, value_broken, radius_broken, mean_sharpness_off } = bounds;
    let broken = |n: usize| if n == 0 { "hold for all".to_owned() } else { format!("fail for {n}") };
    print(format_args!("\ntheoretical bounds, checked on {} pairs", thousands(*checked)))?;
    print(format_args!("  bounds of the loss value         {}", broken(*value_broken)))?;
    print(format_args!("  radius grows as τ falls          {}", broken(*radius_broken)))?;
    print(format_args!("  mean of 1/τ in a batch, times τ  within {mean_sharpness_off:.1e} of one"))
}

/// One table per slate.
fn slates(found: &[(&str, &Slate)]) -> std::io::Result<()> {
    for (name, slate) in found {
        print(format_args!(
            "{name}: score {:.4}, competition {:.4}, temperature {:.4}",
            slate.score, slate.competition, slate.temperature
        ))?;
        let rows = slate.negatives.iter().map(|negative| {
            let [score, similarity, kappa] =
                [negative.score, negative.similarity, negative.kappa].map(|x| format!("{x:.4}"));
            let [sl, own] = [negative.sl, negative.this_loss].map(|share| format!("{:.1} %", 100.0 * share));
            [negative.item.clone(), negative.draws.to_string(), score, similarity, kappa, sl, own]
        });
        print(table::table(["negative", "draws", "score", "similarity", "κ", "SL", "this loss"], 1, rows))?;
    }
    Ok(())
}

fn contested(found: &[Slate]) -> std::io::Result<()> {
    let rows = found.iter().map(|slate| {
        let [score, competition, temperature] =
            [slate.score, slate.competition, slate.temperature].map(|x| format!("{x:.4}"));
        let first = slate.negatives.first();
        let negative = first.map_or_else(String::new, |negative| negative.item.clone());
        let similarity = first.map_or_else(String::new, |negative| format!("{:.4}", negative.similarity));
        [slate.user.clone(), slate.item.clone(), negative, score, competition, temperature, similarity]
    });
    let header = ["user", "item", "hardest negative", "score", "c", "temperature", "its similarity"];
    print(table::table(header, 3, rows))
}
