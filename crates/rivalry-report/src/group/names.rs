//! Labels and protocol descriptions of groups.

use rivalry::config::Select;
use rivalry::eval::{Average, Mask};

use super::Group;
use crate::settings::CONDITIONS;

impl Group<'_> {
    /// The evaluation protocol and the data preparation, in words.
    pub(crate) fn protocol(&self) -> String {
        let eval = &self.runs[0].config.eval;
        let mask = match eval.mask {
            Mask::Train => "eval.mask = \"train\": only training items are excluded from the test ranking",
            Mask::TrainValid => {
                "eval.mask = \"train+valid\": training and validation items are excluded from the test ranking"
            }
        };
        let average = match eval.average {
            Average::Evaluable => "eval.average = \"evaluable\": mean over users with test items",
            Average::All => "eval.average = \"all\": mean over all users",
        };
        let select = match self.select {
            Some(Select::Valid) => "epoch selected on validation",
            Some(Select::Last) => "last epoch",
            Some(Select::Test) => "epoch selected on the test set, so the metrics are optimistic",
            None if self.runs.iter().any(|run| run.record.is_some()) => "no epochs to select from",
            None => "no run finished yet",
        };
        let split = self.runs.iter().find_map(|run| run.record.as_ref()?.split.as_ref());
        format!("Protocol: {mask}; {average}; {select}. Data: {}.", self.runs[0].settings.preparation(split))
    }

    fn name(&self) -> String {
        let first = self.runs[0];
        let levels = CONDITIONS.iter().map(|key| (key, first.settings.level(key)));
        let levels = levels.filter(|(_, level)| *level != 0.0).map(|(key, level)| format!(", {key} {level}"));
        format!("{}, {}{}", self.data, self.backbone, levels.collect::<String>())
    }

    /// The protocol in short, for labels.
    fn short_protocol(&self) -> String {
        let eval = &self.runs[0].config.eval;
        let mask = if eval.mask == Mask::Train { "train" } else { "train+valid" };
        let average = if eval.average == Average::All { "all" } else { "evaluable" };
        let select = match self.select {
            Some(Select::Valid) => format!("valid {}", self.metric()),
            Some(Select::Last) => "last".to_owned(),
            Some(Select::Test) => format!("test {}", self.metric()),
            None => "none yet".to_owned(),
        };
        format!("mask {mask}, average {average}, epoch by {select}")
    }
}

/// Gives every group a unique label.
pub(super) fn assign_labels(groups: &mut [Group<'_>]) {
    let names: Vec<String> = groups.iter().map(Group::name).collect();
    let protocols: Vec<String> = groups.iter().map(Group::short_protocol).collect();
    for (index, group) in groups.iter_mut().enumerate() {
        let same_name: Vec<usize> = (0..names.len()).filter(|&other| names[other] == names[index]).collect();
        group.label.clone_from(&names[index]);
        if same_name.iter().any(|&other| protocols[other] != protocols[index]) {
            group.label = format!("{} ({})", names[index], protocols[index]);
        }
        let earlier =
            same_name.iter().filter(|&&other| other < index && protocols[other] == protocols[index]).count();
        if earlier > 0 {
            group.label = format!("{}, other data or split {}", group.label, earlier + 1);
        }
    }
}
