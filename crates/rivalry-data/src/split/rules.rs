//! The rules of a preparation: how the test and the validation set are chosen.

use super::{Rule, Split, time};
use crate::error::{InputError, Result};
use crate::log::{At, Log, Needs};
use crate::rng::Purpose;
use crate::{Interactions, Part, Parts, Preparation, noise};

/// How the sets are chosen; `None` keeps the given ones.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    pub test: Option<Rule>,
    pub valid: Option<Rule>,
    seed: u64,
    /// Whether times are not asked for because nothing was said about the split.
    default: bool,
}

/// From when on pairs are held out by a [`Rule::Time`], where a log is only a part of the whole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    pub test: Option<At>,
    pub valid: Option<At>,
}

impl Rules {
    /// The rules for a source that has given sets, or is a single log.
    pub fn of(preparation: &Preparation, given: bool) -> Result<Self> {
        if preparation.split == (Split::Given {}) && !given {
            let error = InputError::new("the source is a single log without training and test sets");
            let help = "use another split, such as `data.prepare.split.type = \"random\"`";
            return Err(error.field("data.prepare.split.type").help(help).into());
        }
        noise::check(preparation.noise)?;
        let test = preparation.split.rule(given);
        let default = preparation.split == (Split::Auto {});
        Ok(Self { test, valid: preparation.validation.rule(test), seed: preparation.seed, default })
    }

    /// Refuses invalid settings; `timed` says whether all records have times.
    pub fn check(self, timed: bool) -> Result<()> {
        self.test.map_or(Ok(()), |rule| rule.check("split", "test", timed))?;
        self.valid.map_or(Ok(()), |rule| rule.check("validation", "ratio", timed))
    }

    /// What the rules have to know of the interactions.
    pub fn needs(self) -> Needs {
        let times = [self.test, self.valid].into_iter().flatten().any(Rule::needs_times);
        Needs { parts: self.test.is_none(), times }
    }

    /// Whether there must be a test set; `given` says whether the source gives one.
    pub fn needs_test(self, given: bool) -> bool {
        match self.test {
            Some(Rule::Nothing) => false,
            Some(_) => true,
            None => given,
        }
    }

    /// Whether times are ignored without anybody having asked for it.
    pub fn ignore_times(self, timed: bool) -> bool {
        self.default && timed && matches!(self.test, Some(Rule::Random { .. }))
    }

    /// Splits a log.
    pub fn split(self, log: Log) -> Parts<Interactions> {
        self.split_with(log, None)
    }

    /// Splits a part of a log, with whole users, of which the moments are known.
    pub fn split_at(self, log: Log, cut: Cut) -> Parts<Interactions> {
        self.split_with(log, Some(cut))
    }

    fn split_with(self, mut log: Log, cut: Option<Cut>) -> Parts<Interactions> {
        let test = self.split_off_test(&mut log, cut);
        let held_out = match self.valid {
            Some(rule) if !log.any_in(Part::Valid) => {
                self.hold_out(rule, &log, Purpose::ValidationSplit, cut.map(|cut| cut.valid))
            }
            _ => log.in_part(Part::Valid),
        };
        let valid = log.split_off(&held_out);
        Parts { train: log.table, valid, test }
    }

    /// Takes out the test set.
    pub fn split_off_test(self, log: &mut Log, cut: Option<Cut>) -> Interactions {
        let held_out = match self.test {
            Some(rule) => self.hold_out(rule, log, Purpose::TestSplit, cut.map(|cut| cut.test)),
            None => log.in_part(Part::Test),
        };
        log.split_off(&held_out)
    }

    fn hold_out(self, rule: Rule, log: &Log, purpose: Purpose, cut: Option<Option<At>>) -> Vec<bool> {
        match (rule, cut) {
            (Rule::Time { .. }, Some(Some(cut))) => time::since(log, cut),
            (Rule::Time { .. }, Some(None)) => vec![false; log.table.len()],
            _ => rule.hold_out(log, self.seed, purpose),
        }
    }
}
