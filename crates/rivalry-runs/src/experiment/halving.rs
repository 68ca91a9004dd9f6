//! Successive halving: all trials for a few epochs, then only the better part of them for more, and so on.

use super::Trial;
use crate::{InputError, Result};

/// How trials are thinned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// One in so many goes on.
    pub keep_one_in: usize,
    /// How often that is done.
    pub rounds: u32,
}

impl Default for Halving {
    /// A third after a ninth of the epochs, and a third of those after a third.
    fn default() -> Self {
        Self { keep_one_in: 3, rounds: 2 }
    }
}

impl Halving {
    /// Refuses trials that there is nothing to compare by.
    pub(super) fn check(trials: &[Trial]) -> Result<()> {
        use rivalry::config::Select;
        let blind = |trial: &&Trial| {
            trial
                .config
                .gradient
                .as_ref()
                .is_some_and(|gradient| !matches!(gradient.train.select, None | Some(Select::Valid)))
        };
        match trials.iter().find(blind) {
            None => Ok(()),
            Some(_) => Err(InputError::new("halving compares trials on the validation part")
                .field("train.select")
                .help("leave train.select out, or search without halving")
                .into()),
        }
    }

    /// After which epoch a trial waits in this round (counted from 0); none in the last, which goes to the end.
    pub(super) fn until(&self, round: u32, trial: &Trial) -> Option<usize> {
        let train = &trial.config.gradient.as_ref()?.train;
        let part = self.keep_one_in.pow(self.rounds - round);
        let epochs = train.epochs.div_ceil(part).div_ceil(train.eval_every) * train.eval_every;
        (round < self.rounds && epochs < train.epochs).then_some(epochs)
    }

    /// Those that go on: of each contest the better ones by these values, in the order they were in.
    pub(super) fn survivors(&self, trials: Vec<Trial>, values: &[f64]) -> Vec<Trial> {
        let goes_on = |at: usize| {
            let rivals =
                || (0..trials.len()).filter(|&rival| trials[rival].contest() == trials[at].contest());
            // Of equal ones the earlier counts as better.
            let better =
                |rival: usize| values[rival] > values[at] || (values[rival] == values[at] && rival < at);
            rivals().filter(|&rival| better(rival)).count() < rivals().count().div_ceil(self.keep_one_in)
        };
        let survive: Vec<bool> = (0..trials.len()).map(goes_on).collect();
        trials.into_iter().zip(survive).filter(|(_, survives)| *survives).map(|(trial, _)| trial).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Search;
    use super::*;

    #[test]
    fn a_third_goes_on_in_each_contest_and_the_best_is_among_them() {
        let grid = "grid = { loss.type = ['sl', 'bsl'], optim.lr = [0.1, 0.2, 0.3, 0.4] }";
        let search = format!("base = {{ data.source = 'synthetic', train.epochs = 90 }}\n{grid}");
        let trials = Search::parse(&search).unwrap().trials().unwrap();
        let values: Vec<f64> =
            trials.iter().map(|trial| trial.config.gradient.as_ref().unwrap().optim.lr()).collect();
        let halving = Halving::default();
        let left = halving.survivors(trials.clone(), &values);
        let lrs: Vec<f64> =
            left.iter().map(|trial| trial.config.gradient.as_ref().unwrap().optim.lr()).collect();
        assert_eq!(lrs, [0.3, 0.4, 0.3, 0.4]);
        let untils = [0, 1, 2].map(|round| halving.until(round, &trials[0]));
        assert_eq!(untils, [Some(10), Some(30), None]);
    }
}
