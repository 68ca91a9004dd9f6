//! Successive halving: all trials for a few epochs, then the better part of them for more, rung by rung.

use super::Trial;
use crate::{InputError, Result};

/// Successive halving of the trials of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// The reduction factor: one in `eta` trials is promoted to the next rung.
    pub eta: usize,
    /// The number of rungs at which trials are dropped.
    pub rungs: u32,
}

impl Default for Halving {
    /// The best third after a ninth of the epochs, and the best third of those after a third of the epochs.
    fn default() -> Self {
        Self { eta: 3, rungs: 2 }
    }
}

impl Halving {
    /// Refuses trials without validation values to compare.
    pub(super) fn check(trials: &[Trial]) -> Result<()> {
        use rivalry::config::Select;
        let without_validation = |trial: &&Trial| {
            let gradient = trial.config.gradient.as_ref();
            gradient.is_some_and(|gradient| !matches!(gradient.train.select, None | Some(Select::Valid)))
        };
        match trials.iter().find(without_validation) {
            None => Ok(()),
            Some(_) => Err(InputError::new("halving compares trials on the validation set")
                .field("train.select")
                .help("leave train.select out, or run the sweep without halving")
                .into()),
        }
    }

    /// The epoch at which a trial pauses in this rung (counted from 0); `None` if it runs to the end, as in the last rung
    /// and for models without epochs.
    pub(crate) fn last_epoch(&self, rung: u32, trial: &Trial) -> Option<usize> {
        let train = &trial.config.gradient.as_ref()?.train;
        let part = self.eta.pow(self.rungs - rung);
        let epochs = train.epochs.div_ceil(part).div_ceil(train.eval_every) * train.eval_every;
        (rung < self.rungs && epochs < train.epochs).then_some(epochs)
    }

    /// The trials that are promoted: the better ones of each group by these values, in their original order. Models
    /// without epochs are always promoted, and so are defaults and presets, in addition to the better ones.
    pub(super) fn promoted(&self, trials: Vec<Trial>, values: &[f64]) -> Vec<Trial> {
        let groups: Vec<_> = trials.iter().map(Trial::group).collect();
        let is_promoted = |at: usize| {
            let rivals = || (0..trials.len()).filter(|&rival| groups[rival] == groups[at]);
            // Of equal trials the earlier counts as better.
            let better =
                |rival: usize| values[rival] > values[at] || (values[rival] == values[at] && rival < at);
            let places = rivals().count().div_ceil(self.eta);
            let always = trials[at].config.gradient.is_none() || trials[at].is_baseline();
            always || rivals().filter(|&rival| better(rival)).count() < places
        };
        let promoted: Vec<bool> = (0..trials.len()).map(is_promoted).collect();
        trials.into_iter().zip(promoted).filter(|(_, promoted)| *promoted).map(|(trial, _)| trial).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LossGrid, SearchSpace};
    use super::*;

    #[test]
    fn a_third_of_each_group_is_promoted_and_the_defaults_are() {
        let grid = "grid = { loss.type = ['sl', 'bsl'], optim.lr = [0.1, 0.2, 0.3, 0.4] }";
        let space = format!("base = {{ data.source = 'synthetic', train.epochs = 90 }}\n{grid}");
        let trials = SearchSpace::parse(&space).unwrap().trials().unwrap();
        let lr = |trial: &Trial| trial.config.gradient.as_ref().unwrap().optim.lr();
        let values: Vec<f64> = trials.iter().map(lr).collect();
        let halving = Halving::default();
        let promoted = halving.promoted(trials.clone(), &values);
        let (defaults, better): (Vec<Trial>, _) = promoted.into_iter().partition(Trial::is_baseline);
        assert_eq!(better.iter().map(lr).collect::<Vec<_>>(), [0.3, 0.4, 0.3, 0.4]);
        assert_eq!(defaults.iter().map(lr).collect::<Vec<_>>(), [0.1, 0.1], "although they are the worst");
        let epochs = [0, 1, 2].map(|rung| halving.last_epoch(rung, &trials[0]));
        assert_eq!(epochs, [Some(10), Some(30), None]);
    }

    #[test]
    fn closed_forms_are_left_alone() {
        let space = SearchSpace::parse("base = { data.source = 'synthetic' }").unwrap();
        let trials = space.with_model("popularity", LossGrid::BuiltIn).unwrap().trials().unwrap();
        let halving = Halving::default();
        assert_eq!(halving.last_epoch(0, &trials[0]), None);
        let two = vec![trials[0].clone(), trials[0].with_seed(1)];
        assert_eq!(halving.promoted(two.clone(), &[f64::NEG_INFINITY; 2]), two);
    }
}
