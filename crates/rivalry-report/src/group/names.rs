//! Labels of groups, and the description of their protocol.

use rivalry::config::Select;
use rivalry::eval::{Average, Mask};

use super::Group;
use crate::settings::CONDITIONS;

impl Group<'_> {
    /// A description of the protocol.
    pub(crate) fn protocol(&self) -> String {
        let eval = &self.runs[0].config.eval;
        let mask = match eval.mask {
            Mask::Train => "eval.mask = \"train\": validation items compete at test time",
            Mask::TrainValid => "eval.mask = \"train+valid\": no known item competes",
        };
        let average = match eval.average {
            Average::Evaluable => "eval.average = \"evaluable\": mean over users with test items",
            Average::All => "eval.average = \"all\": mean over all users",
        };
        let select = match self.select {
            Some(Select::Valid) => "epoch selected on validation",
            Some(Select::Last) => "last epoch",
            Some(Select::Test) => "epoch selected on the test part itself, so the metrics are optimistic",
            None if self.runs.iter().any(|run| run.record.is_some()) => "no epochs to select from",
            None => "no run finished yet",
        };
        format!("Protocol: {mask}; {average}; {select}. Data: {}.", self.runs[0].settings.preparation())
    }

    fn name(&self) -> String {
        let first = self.runs[0];
        let levels = CONDITIONS.iter().map(|key| (key, first.settings.level(key)));
        let levels = levels.filter(|(_, level)| *level != 0.0).map(|(key, level)| format!(", {key} {level}"));
        format!("{}, {}{}", self.data, self.backbone, levels.collect::<String>())
    }

    /// The protocol in a few words, where data and model are ambiguous.
    fn manner(&self) -> String {
        let eval = &self.runs[0].config.eval;
        let mask = if eval.mask == Mask::Train { "train" } else { "train+valid" };
        let average = if eval.average == Average::All { "all" } else { "evaluable" };
        let select = match self.select {
            Some(Select::Valid) => "valid",
            Some(Select::Last) => "last",
            Some(Select::Test) => "test",
            None => "none yet",
        };
        format!("mask {mask}, average {average}, epoch by {select}")
    }
}

/// Gives every group a unique label.
pub(super) fn name_apart(groups: &mut [Group<'_>]) {
    let names: Vec<String> = groups.iter().map(Group::name).collect();
    let manners: Vec<String> = groups.iter().map(Group::manner).collect();
    for (at, group) in groups.iter_mut().enumerate() {
        let twins: Vec<usize> = (0..names.len()).filter(|&other| names[other] == names[at]).collect();
        group.label.clone_from(&names[at]);
        if twins.iter().any(|&twin| manners[twin] != manners[at]) {
            group.label = format!("{} ({})", names[at], manners[at]);
        }
        let before = twins.iter().filter(|&&twin| twin < at && manners[twin] == manners[at]).count();
        if before > 0 {
            group.label = format!("{}, other data or split {}", group.label, before + 1);
        }
    }
}
