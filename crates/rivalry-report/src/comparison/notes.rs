//! How the numbers of a comparison were computed, in words.

use rivalry::data::thousands;
use rivalry_runs::compare::Comparison;

/// How the numbers of a comparison were computed: pairing, intervals, tests.
pub fn comparison_notes(comparison: &Comparison) -> Vec<String> {
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
