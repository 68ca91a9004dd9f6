//! The protocol of a comparison, in words.

use rivalry::config::Select;
use rivalry::data::thousands;
use rivalry::eval::{Average, Mask};
use rivalry_runs::compare::Comparison;

/// The protocol, one line per item.
pub fn heading(comparison: &Comparison) -> String {
    let lines = protocol(comparison).map(|(what, how)| format!("{what:8}{how}"));
    lines.join("\n")
}

/// The protocol and the notes as running text.
pub fn prose(comparison: &Comparison) -> String {
    let items = protocol(comparison).map(|(what, how)| format!("{what}: {how}"));
    let mut text = items.join("; ");
    // Starts a sentence.
    text[..1].make_ascii_uppercase();
    format!("{text}. {}", notes(comparison).join(" ")).trim_end().to_owned()
}

fn protocol(comparison: &Comparison) -> [(&'static str, String); 4] {
    let shared = &comparison.protocol;
    let masked = match shared.mask {
        Mask::Train => "training items",
        Mask::TrainValid => "training and validation items",
    };
    let over = match shared.average {
        Average::Evaluable => "users with test items",
        Average::All => "all users, 0 for those without test items",
    };
    let chosen = match shared.select {
        Some(Select::Valid) => "best on validation",
        Some(Select::Last) => "last",
        Some(Select::Test) => "best on the test part itself (optimistic)",
        None => "none: no model is trained in epochs",
    };
    [
        ("data", format!("{}, test part, full ranking", shared.data)),
        ("mask", masked.to_owned()),
        ("mean", format!("over {over}")),
        ("epoch", chosen.to_owned()),
    ]
}

/// How the numbers were computed.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    let trained = || comparison.methods.iter().filter(|method| !method.deterministic);
    let seeds = || trained().map(|method| method.seeds.len());
    let (least, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let over_seeds = match (least, most) {
        (0, 0) => String::new(),
        _ if least == most => format!(", with the mean over the seeds ({most} per method)"),
        _ => format!(", with the mean over the seeds ({least} to {most} per method)"),
    };
    let others = comparison.methods.len().saturating_sub(1);
    if others > 0 {
        notes.push(format!(
            "Each user counts once{over_seeds}: {} paired users.",
            thousands(comparison.users)
        ));
        let correction = match others {
            1 => "one comparison per metric, no correction needed".to_owned(),
            n => format!("Holm-corrected for {n} comparisons per metric"),
        };
        notes.push(format!(
            "Intervals: percentile bootstrap over users, {} resamples.",
            thousands(comparison.resamples)
        ));
        notes.push(format!("p: paired t test and Wilcoxon signed-rank test, two-sided, {correction}."));
    }
    if least == 1 {
        notes.push(
            "Some methods have a single seed: their variance over seeds is unknown, and tests over users do not \
             cover it."
                .to_owned(),
        );
    }
    let fixed: Vec<&str> =
        comparison.methods.iter().filter(|method| method.deterministic).map(|method| &*method.name).collect();
    if !fixed.is_empty() {
        notes.push(format!("The seed makes no difference to {}.", fixed.join(", ")));
    }
    notes
}
