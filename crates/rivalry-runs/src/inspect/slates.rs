//! Single pairs with their negatives.

use std::collections::HashMap;

use super::diagnose::{Diagnosis, PairDiagnostics};
use super::sample::SampledPair;
use super::{Negative, Slate, TwoSlates};
use rivalry::Result;
use rivalry::rng::Purpose;

/// Negatives in a small sample, samples per positive, and positives.
const SMALL: usize = 15;
const SAMPLES: usize = 64;
const POSITIVES: usize = 3;

/// The number of different hardest negatives reported for a pair.
const SHOWN: usize = 20;

/// A pair with its hardest negatives.
pub(super) fn slate(
    diagnosis: &Diagnosis<'_>,
    sampled: &SampledPair,
    competition: f64,
    multiplier: f64,
) -> Slate {
    let model = diagnosis.sampler.model;
    let softmax = diagnosis.losses.softmax().diagnose(sampled.row(), 1.0);
    let this_loss = diagnosis.losses.this_loss().diagnose(sampled.row(), multiplier);
    let negative = |draws: &[usize]| {
        let share = |shares: &[f64]| draws.iter().map(|&place| shares[place]).sum();
        let place = draws[0];
        Negative {
            item: model.items.original(sampled.negatives[place]).to_owned(),
            draws: draws.len(),
            score: sampled.scores[place],
            similarity: sampled.similarities[place],
            kappa: this_loss.scales.as_ref().map_or(1.0, |scales| scales[place]),
            sl: share(&softmax.shares),
            this_loss: share(&this_loss.shares),
        }
    };
    Slate {
        user: model.users.original(sampled.user).to_owned(),
        item: model.items.original(sampled.item).to_owned(),
        score: sampled.score,
        competition,
        temperature: this_loss.temperature,
        negatives: draws_by_item(sampled).iter().take(SHOWN).map(|draws| negative(draws)).collect(),
    }
}

/// The places of each negative in the sample, by descending score: an item may have been drawn several times.
fn draws_by_item(sampled: &SampledPair) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: HashMap<u32, usize> = HashMap::new();
    for place in sampled.ranking() {
        let group = *known.entry(sampled.negatives[place]).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(draws) => draws.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// A diagnosed pair, with its negatives sampled again.
pub(super) fn resampled(diagnosis: &Diagnosis<'_>, pair: &PairDiagnostics) -> Result<Slate> {
    let sampled =
        diagnosis.sampler.sample(Purpose::InspectedNegatives, pair.place, pair.pair, diagnosis.negatives)?;
    Ok(slate(diagnosis, &sampled, pair.competition, pair.multiplier))
}

/// A few positives, each with the least and the most contested of many small samples of negatives. All samples form one
/// batch of the loss.
pub(super) fn two_slates(diagnosis: &Diagnosis<'_>, pairs: &[(u32, u32)]) -> Result<Vec<TwoSlates>> {
    // A run without replacement and with few negatives may not have fifteen different ones.
    let n = diagnosis.negatives.min(SMALL);
    let mut sampled = Vec::new();
    for (positive, &pair) in pairs.iter().take(POSITIVES).enumerate() {
        for sample in 0..SAMPLES {
            // A batch of its own for each, because some samplers share negatives within a batch.
            let place = (positive * SAMPLES + sample, 0);
            sampled.push(diagnosis.sampler.sample(Purpose::InspectedSlates, place, pair, n)?);
        }
    }
    let competition: Vec<f64> = sampled.iter().map(|sampled| diagnosis.losses.competition(sampled)).collect();
    let multipliers = diagnosis.losses.multipliers(&competition);
    let at = |index: usize| slate(diagnosis, &sampled[index], competition[index], multipliers[index]);
    let pick = |first: usize| {
        let mut order: Vec<usize> = (first..first + SAMPLES).collect();
        order.sort_by(|&a, &b| competition[a].total_cmp(&competition[b]));
        TwoSlates { calm: at(order[0]), contested: at(order[SAMPLES - 1]) }
    };
    Ok((0..sampled.len()).step_by(SAMPLES).map(pick).collect())
}
