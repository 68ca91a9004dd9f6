//! The protocol of a comparison, in words.

use rivalry::config::Select;
use rivalry::eval::{Average, Mask};
use rivalry_report::comparison_notes;
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
    format!("{text}. {}", comparison_notes(comparison).join(" ")).trim_end().to_owned()
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
        Some(Select::Test) => "best on the test set itself (optimistic)",
        None => "none: no model is trained in epochs",
    };
    [
        ("data", format!("{}, test set, full ranking", shared.data)),
        ("mask", masked.to_owned()),
        ("mean", format!("over {over}")),
        ("epoch", chosen.to_owned()),
    ]
}
