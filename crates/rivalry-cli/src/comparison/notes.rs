//! What was done, in words: a number without it can't be judged.

use rivalry::config::Select;
use rivalry::data::thousands;
use rivalry::eval::{Average, Mask};
use rivalry_runs::compare::Comparison;

/// What all methods have in common, a line each.
pub fn heading(comparison: &Comparison) -> String {
    let lines = terms(comparison).map(|(what, how)| format!("{what:8}{how}"));
    lines.join("\n")
}

/// What was done, as running text.
pub fn prose(comparison: &Comparison) -> String {
    let terms = terms(comparison).map(|(what, how)| format!("{what}: {how}"));
    let mut text = terms.join("; ");
    // The first word of a sentence.
    text[..1].make_ascii_uppercase();
    format!("{text}. {}", notes(comparison).join(" ")).trim_end().to_owned()
}

fn terms(comparison: &Comparison) -> [(&'static str, String); 4] {
    let terms = &comparison.terms;
    let masked = match terms.mask {
        Mask::Train => "training items",
        Mask::TrainValid => "training and validation items",
    };
    let over = match terms.average {
        Average::Evaluable => "users with test items",
        Average::All => "all users, 0 for those without test items",
    };
    let chosen = match terms.select {
        Some(Select::Valid) => "the best on validation",
        Some(Select::Last) => "the last",
        Some(Select::Test) => "the best on the test part itself",
        None => "none: no model is trained in epochs",
    };
    [
        ("data", format!("{}, test part, full ranking", terms.data)),
        ("mask", masked.to_owned()),
        ("mean", format!("over {over}")),
        ("epoch", chosen.to_owned()),
    ]
}

/// How the figures came about.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let most = comparison.methods.iter().map(|method| method.seeds.len()).max().unwrap_or(0);
    let least = comparison.methods.iter().map(|method| method.seeds.len()).min().unwrap_or(0);
    let seeds = if most == least { most.to_string() } else { format!("{least} to {most}") };
    let others = comparison.methods.len().saturating_sub(1);
    if others > 0 {
        notes.push(format!(
            "Each user counts once, with the mean over the seeds ({seeds} a method): {} users, paired.",
            thousands(comparison.users)
        ));
        let correction = match others {
            1 => "one comparison a metric, so nothing to correct for".to_owned(),
            n => format!("corrected (Holm) for {n} comparisons a metric"),
        };
        notes.push(format!(
            "Intervals: percentile bootstrap over users, {} resamples.",
            thousands(comparison.resamples)
        ));
        notes.push(format!("p: paired t test and Wilcoxon signed-rank test, two-sided, {correction}."));
    }
    if least == 1 {
        notes.push(
            "Some methods have one seed: how much they vary from seed to seed is not known, and no test over users \
             can tell."
                .to_owned(),
        );
    }
    notes
}
