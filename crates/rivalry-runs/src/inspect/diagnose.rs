//! Diagnostics of a loss on the pairs of a batch, compared with the softmax loss.

use rayon::prelude::*;

use super::bounds::{radius, radius_holds, value_holds};
use super::sample::{PairSampler, SampledPair};
use rivalry::loss::{Diagnostics, LOSSES, Loss, LossConfig, RowLoss};
use rivalry::rng::Purpose;
use rivalry::{InputError, Result};

/// The factor by which the temperature is lowered to check the monotonicity of the radius.
const COOLER: f64 = 1.1;

/// The loss of a run, the softmax loss at the same temperature, and a loss that measures competition.
pub(super) struct LossDiagnostics {
    this_loss: Box<dyn Loss>,
    softmax: Box<dyn Loss>,
    /// For losses that don't measure competition themselves.
    competition: Option<Box<dyn Loss>>,
}

/// The diagnostics of one pair.
pub(super) struct PairDiagnostics {
    /// Its batch and row, to sample the same negatives again.
    pub place: (usize, usize),
    pub pair: (u32, u32),
    pub competition: f64,
    pub multiplier: f64,
    pub temperature: f64,
    pub scales: Option<Vec<f64>>,
    /// The shares of the gradient by group of ranks.
    pub softmax_shares: Vec<f64>,
    pub loss_shares: Vec<f64>,
    pub softmax_radius: f64,
    pub loss_radius: f64,
    pub value_holds: bool,
    pub radius_holds: bool,
}

impl LossDiagnostics {
    pub fn new(config: &LossConfig) -> Result<Self> {
        let this_loss = config.build();
        let Some(diagnostics) = this_loss.diagnostics() else { return Err(not_inspectable(config).into()) };
        let at_the_same_temperature = |name: &str| -> Result<Box<dyn Loss>> {
            let tau = ("tau".to_owned(), diagnostics.tau().into());
            let section = toml::Table::from_iter([("type".to_owned(), name.into()), tau]);
            Ok(LossConfig::from_table("loss", LOSSES, &section)?.build())
        };
        let softmax = at_the_same_temperature("sl")?;
        let competition =
            if diagnostics.is_adaptive() { None } else { Some(at_the_same_temperature("dsl-ca")?) };
        Ok(Self { this_loss, softmax, competition })
    }

    /// The loss of the run.
    pub fn this_loss(&self) -> &dyn Diagnostics {
        self.this_loss.diagnostics().expect("the constructor checked it")
    }

    /// The softmax loss at the same temperature.
    pub fn softmax(&self) -> &dyn Diagnostics {
        self.softmax.diagnostics().expect("SL is of the softmax family")
    }

    /// The competition of the pair, as the loss itself measures it, or else as DSL with its default slate.
    pub fn competition(&self, sampled: &SampledPair) -> f64 {
        let loss: &dyn RowLoss<f64> = self.competition.as_deref().unwrap_or(&*self.this_loss);
        loss.measure(sampled.row())
    }

    /// The divisors of the temperatures of a batch, given the competition of its pairs.
    pub fn multipliers(&self, competition: &[f64]) -> Vec<f64> {
        if !self.this_loss().is_adaptive() {
            return vec![1.0; competition.len()];
        }
        let this_loss: &dyn RowLoss<f64> = &*self.this_loss;
        let mut multipliers = competition.to_vec();
        this_loss.calibrate(&mut multipliers);
        multipliers
    }
}

fn not_inspectable(config: &LossConfig) -> InputError {
    let name = config.name();
    let is_inspectable = |name: &str| LossConfig::named("loss", LOSSES, name).build().diagnostics().is_some();
    let known: Vec<&str> =
        LOSSES.iter().map(|entry| entry.name).filter(|name| is_inspectable(name)).collect();
    InputError::new(format!(
        "{name} does not belong to the softmax family, so it has no κ, temperature or radius"
    ))
    .help(format!("runs with these losses can be inspected: {}", known.join(", ")))
}

/// What all batches have in common.
pub(super) struct Diagnosis<'a> {
    pub sampler: &'a PairSampler<'a>,
    pub losses: &'a LossDiagnostics,
    /// Negatives per pair.
    pub negatives: usize,
    /// The last rank of each group of ranks.
    pub groups: &'a [usize],
}

impl Diagnosis<'_> {
    /// The diagnostics of a batch of pairs.
    pub fn diagnose_batch(&self, batch: usize, pairs: &[(u32, u32)]) -> Result<Vec<PairDiagnostics>> {
        let losses = self.losses;
        let draw = |(row, &pair): (usize, &(u32, u32))| -> Result<(SampledPair, f64)> {
            let sampled =
                self.sampler.sample(Purpose::InspectedNegatives, (batch, row), pair, self.negatives)?;
            let competition = losses.competition(&sampled);
            Ok((sampled, competition))
        };
        let drawn: Vec<Result<(SampledPair, f64)>> = pairs.par_iter().enumerate().map(draw).collect();
        let (sampled, competition): (Vec<SampledPair>, Vec<f64>) =
            drawn.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
        let multipliers = losses.multipliers(&competition);
        let diagnose = |(row, sampled): (usize, &SampledPair)| {
            let multiplier = multipliers[row];
            let softmax = losses.softmax().diagnose(sampled.row(), 1.0);
            let this_loss = losses.this_loss().diagnose(sampled.row(), multiplier);
            let cooler = losses.this_loss().diagnose(sampled.row(), multiplier * COOLER);
            let ranking = sampled.ranking();
            PairDiagnostics {
                place: (batch, row),
                pair: pairs[row],
                competition: competition[row],
                multiplier,
                temperature: this_loss.temperature,
                softmax_shares: by_rank(&softmax.shares, &ranking, self.groups),
                loss_shares: by_rank(&this_loss.shares, &ranking, self.groups),
                softmax_radius: radius(&softmax.weights),
                loss_radius: radius(&this_loss.weights),
                value_holds: value_holds(&this_loss),
                radius_holds: radius_holds(radius(&this_loss.weights), radius(&cooler.weights)),
                scales: this_loss.scales,
            }
        };
        Ok(sampled.par_iter().enumerate().map(diagnose).collect())
    }
}

/// The last rank of each group: 1, 2, 5, 10, 20, 50, … up to `n`.
pub(super) fn rank_groups(n: usize) -> Vec<usize> {
    let decades = std::iter::successors(Some(1usize), |decade| decade.checked_mul(10));
    let ranks = decades.flat_map(|decade| [1, 2, 5].map(|digit| decade.saturating_mul(digit)));
    ranks.take_while(|&rank| rank < n).chain([n]).collect()
}

/// The sum of the shares in each group of ranks.
fn by_rank(shares: &[f64], ranking: &[usize], groups: &[usize]) -> Vec<f64> {
    let mut first = 0;
    let sum = |&last: &usize| {
        let sum = ranking[first..last].iter().map(|&place| shares[place]).sum();
        first = last;
        sum
    };
    groups.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_ranks_end_with_the_last_rank() {
        assert_eq!(rank_groups(1), [1]);
        assert_eq!(rank_groups(5), [1, 2, 5]);
        assert_eq!(rank_groups(30), [1, 2, 5, 10, 20, 30]);
    }

    #[test]
    fn shares_are_added_up_by_rank() {
        assert_eq!(by_rank(&[0.125, 0.5, 0.25, 0.125], &[1, 2, 0, 3], &[1, 2, 4]), [0.5, 0.25, 0.25]);
    }
}
