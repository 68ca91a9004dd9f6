//! What a loss does to the pairs of a batch, beside what the softmax loss would do.

use rayon::prelude::*;

use super::batch::{Sampled, World};
use super::bounds::{radius, radius_holds, value_holds};
use rivalry::loss::{Diagnostics, LOSSES, Loss, LossConfig, RowLoss};
use rivalry::rng::Purpose;
use rivalry::{InputError, Result};

/// How much cooler a pair is made, to see what its radius does.
const COOLER: f64 = 1.1;

/// The loss of the run, the softmax loss at the same temperature, and a measure of competition.
pub(super) struct Instruments {
    own: Box<dyn Loss>,
    softmax: Box<dyn Loss>,
    /// For losses that don't measure competition themselves.
    ruler: Option<Box<dyn Loss>>,
}

/// What was seen of one pair.
pub(super) struct Seen {
    /// Where it was drawn, to draw it again.
    pub place: (usize, usize),
    pub pair: (u32, u32),
    pub competition: f64,
    pub multiplier: f64,
    pub temperature: f64,
    pub scales: Option<Vec<f64>>,
    /// The shares of the gradient by groups of ranks.
    pub softmax_shares: Vec<f64>,
    pub own_shares: Vec<f64>,
    pub softmax_radius: f64,
    pub own_radius: f64,
    pub value_holds: bool,
    pub radius_holds: bool,
}

impl Instruments {
    pub fn new(config: &LossConfig) -> Result<Self> {
        let own = config.build();
        let Some(diagnostics) = own.diagnostics() else { return Err(not_inspectable(config).into()) };
        let at_its_temperature = |name: &str| -> Result<Box<dyn Loss>> {
            let tau = ("tau".to_owned(), diagnostics.tau().into());
            let section = toml::Table::from_iter([("type".to_owned(), name.into()), tau]);
            Ok(LossConfig::from_table("loss", LOSSES, &section)?.build())
        };
        let softmax = at_its_temperature("sl")?;
        let ruler = if diagnostics.is_adaptive() { None } else { Some(at_its_temperature("dsl-ca")?) };
        Ok(Self { own, softmax, ruler })
    }

    /// The loss of the run.
    pub fn own(&self) -> &dyn Diagnostics {
        self.own.diagnostics().expect("it was there when this was made")
    }

    /// The softmax loss at the same temperature.
    pub fn softmax(&self) -> &dyn Diagnostics {
        self.softmax.diagnostics().expect("SL is of the softmax family")
    }

    /// How contested the pair is: as the loss itself has it, or DSL with its default slate.
    pub fn competition(&self, sampled: &Sampled) -> f64 {
        let ruler: &dyn RowLoss<f64> = self.ruler.as_deref().unwrap_or(&*self.own);
        ruler.measure(sampled.row())
    }

    /// What the temperature of each pair of a batch is divided by, given how contested they are.
    pub fn multipliers(&self, competition: &[f64]) -> Vec<f64> {
        if !self.own().is_adaptive() {
            return vec![1.0; competition.len()];
        }
        let own: &dyn RowLoss<f64> = &*self.own;
        let mut multipliers = competition.to_vec();
        own.calibrate(&mut multipliers);
        multipliers
    }
}

fn not_inspectable(config: &LossConfig) -> InputError {
    let name = config.name();
    let shows = |name: &str| LossConfig::named("loss", LOSSES, name).build().diagnostics().is_some();
    let known: Vec<&str> = LOSSES.iter().map(|entry| entry.name).filter(|name| shows(name)).collect();
    InputError::new(format!(
        "{name} is not of the softmax family, so it has no κ, no temperature and no radius"
    ))
    .help(format!("runs with these losses can be inspected: {}", known.join(", ")))
}

/// Looks at a batch of pairs with `n` negatives each. `groups` are the last ranks of the groups.
pub(super) fn look_at_batch(
    world: &World<'_>,
    instruments: &Instruments,
    batch: usize,
    pairs: &[(u32, u32)],
    n: usize,
    groups: &[usize],
) -> Result<Vec<Seen>> {
    let draw = |(row, &pair): (usize, &(u32, u32))| -> Result<(Sampled, f64)> {
        let sampled = world.sample(Purpose::InspectedNegatives, (batch, row), pair, n)?;
        let competition = instruments.competition(&sampled);
        Ok((sampled, competition))
    };
    let drawn: Vec<Result<(Sampled, f64)>> = pairs.par_iter().enumerate().map(draw).collect();
    let (sampled, competition): (Vec<Sampled>, Vec<f64>) =
        drawn.into_iter().collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let multipliers = instruments.multipliers(&competition);
    let look = |(row, sampled): (usize, &Sampled)| {
        let multiplier = multipliers[row];
        let softmax = instruments.softmax().diagnose(sampled.row(), 1.0);
        let own = instruments.own().diagnose(sampled.row(), multiplier);
        let cooler = instruments.own().diagnose(sampled.row(), multiplier * COOLER);
        let ranking = sampled.ranking();
        Seen {
            place: (batch, row),
            pair: pairs[row],
            competition: competition[row],
            multiplier,
            temperature: own.temperature,
            softmax_shares: by_rank(&softmax.shares, &ranking, groups),
            own_shares: by_rank(&own.shares, &ranking, groups),
            softmax_radius: radius(&softmax.weights),
            own_radius: radius(&own.weights),
            value_holds: value_holds(&own),
            radius_holds: radius_holds(radius(&own.weights), radius(&cooler.weights)),
            scales: own.scales,
        }
    };
    Ok(sampled.par_iter().enumerate().map(look).collect())
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
