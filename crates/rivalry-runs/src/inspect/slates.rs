//! Single pairs with their negatives, for people to look at.

use super::batch::{Sampled, World};
use super::gather::{Instruments, Seen};
use super::{Negative, Slate, TwoSlates};
use rivalry::Result;
use rivalry::rng::Purpose;

/// Negatives in a small sample, samples drawn of each positive, and positives.
const SMALL: usize = 15;
const SAMPLES: usize = 64;
const POSITIVES: usize = 3;

/// How many of the hardest negatives of a pair are shown.
const SHOWN: usize = 20;

/// A pair with its hardest negatives.
fn slate(
    world: &World<'_>,
    instruments: &Instruments,
    sampled: &Sampled,
    competition: f64,
    multiplier: f64,
) -> Slate {
    let softmax = instruments.softmax().diagnose(sampled.row(), 1.0);
    let own = instruments.own().diagnose(sampled.row(), multiplier);
    let negative = |place: usize| Negative {
        item: world.saved.items.original(sampled.negatives[place]).to_owned(),
        score: sampled.scores[place],
        similarity: sampled.similarities[place],
        kappa: own.scales.as_ref().map_or(1.0, |scales| scales[place]),
        sl: softmax.shares[place],
        own: own.shares[place],
    };
    Slate {
        user: world.saved.users.original(sampled.user).to_owned(),
        item: world.saved.items.original(sampled.item).to_owned(),
        score: sampled.score,
        competition,
        temperature: own.temperature,
        negatives: sampled.ranking().into_iter().take(SHOWN).map(negative).collect(),
    }
}

/// A pair that was seen in a batch, drawn once more.
pub(super) fn again(world: &World<'_>, instruments: &Instruments, seen: &Seen, n: usize) -> Result<Slate> {
    let sampled = world.sample(Purpose::InspectedNegatives, seen.place, seen.pair, n)?;
    Ok(slate(world, instruments, &sampled, seen.competition, seen.multiplier))
}

/// A few positives, each with the calmest and the most contested of many small samples of negatives. All the samples are
/// one batch to the loss.
pub(super) fn two_slates(
    world: &World<'_>,
    instruments: &Instruments,
    pairs: &[(u32, u32)],
    negatives: usize,
) -> Result<Vec<TwoSlates>> {
    // A run without replacement and with few negatives may have no fifteen different ones.
    let n = negatives.min(SMALL);
    let mut sampled = Vec::new();
    for (positive, &pair) in pairs.iter().take(POSITIVES).enumerate() {
        for sample in 0..SAMPLES {
            // A batch of its own for each, so that negatives which are shared within a batch differ here.
            sampled.push(world.sample(
                Purpose::InspectedSlates,
                (positive * SAMPLES + sample, 0),
                pair,
                n,
            )?);
        }
    }
    let competition: Vec<f64> = sampled.iter().map(|sampled| instruments.competition(sampled)).collect();
    let multipliers = instruments.multipliers(&competition);
    let found =
        |place: usize| slate(world, instruments, &sampled[place], competition[place], multipliers[place]);
    let pick = |first: usize| {
        let mut places: Vec<usize> = (first..first + SAMPLES).collect();
        places.sort_by(|&a, &b| competition[a].total_cmp(&competition[b]));
        TwoSlates { calm: found(places[0]), contested: found(places[SAMPLES - 1]) }
    };
    Ok((0..sampled.len()).step_by(SAMPLES).map(pick).collect())
}
