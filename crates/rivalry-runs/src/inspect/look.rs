//! The whole inspection of a model.

use super::batch::World;
use super::gather::{Instruments, Seen, look_at_batch, rank_groups};
use super::slates::{again, two_slates};
use super::{Bounds, Distribution, GradientShares, Inspection, Radius, Slate};
use rivalry::model::Model;
use rivalry::{InputError, Result};

use crate::stats;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many training pairs; all if there are fewer.
    pub pairs: usize,
    /// How many of the most and of the least contested pairs to show with their negatives.
    pub slates: usize,
    /// Decides the pairs and the negatives; without it the run's own seed.
    pub seed: Option<u64>,
}

impl Default for Options {
    /// 4096 pairs, 5 slates of each kind, the run's seed.
    fn default() -> Self {
        Self { pairs: 4096, slates: 5, seed: None }
    }
}

/// Looks at what the loss of a run does to training pairs with the run's model.
///
/// Pairs come in batches of the run's size, with as many negatives as in training, drawn by its sampler. The model is
/// the one that is evaluated: noise that a backbone adds while it trains is left out. `data` is the name of the data,
/// for the record; `progress` is told after each batch how many pairs are done, and of how many.
///
/// ```
/// use rivalry::config::{Config, source_layer};
/// use rivalry::train::{Fitted, NoCheckpoints, NoObserver, fit};
/// use rivalry_runs::inspect::{Options, inspect};
/// let settings = "loss.type = 'dsl'\ntrain = { epochs = 1, negatives = 50 }".parse().unwrap();
/// let config = Config::from_layers(&[source_layer("synthetic"), settings])?;
/// let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {})?;
/// let fitted = fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
/// let Fitted::Done(fit) = fitted else { panic!("nobody stopped it") };
/// let model = fit.into_model(&data, config);
/// let found = inspect(&model, "synthetic", Options::default(), &mut |_, _| {})?;
/// assert!(found.kappa.is_some() && found.radius.bounds.value_broken == 0);
/// # Ok::<(), rivalry::Error>(())
/// ```
///
/// # Errors
/// If the loss is not of the softmax family, no pairs are asked for, or the model has a score that is not a number.
pub fn inspect(
    saved: &Model,
    data: &str,
    options: Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection> {
    let config = &saved.config;
    let gradient = config.require_gradient("be inspected")?;
    let instruments = Instruments::new(&gradient.loss)?;
    let seed = options.seed.unwrap_or(config.seed);
    let world = World::new(saved, seed)?;
    let pairs = world.pairs(options.pairs);
    if pairs.is_empty() {
        return Err(InputError::new("no training pairs to look at")
            .field("pairs")
            .help("ask for one or more")
            .into());
    }
    let n = gradient.train.negatives;
    let groups = rank_groups(n);
    let mut seen: Vec<Seen> = Vec::with_capacity(pairs.len());
    let mut bounds = Bounds { checked: pairs.len(), ..Bounds::default() };
    for (number, batch) in pairs.chunks(gradient.train.batch_size).enumerate() {
        let found = look_at_batch(&world, &instruments, number, batch, n, &groups)?;
        let sharpness: Vec<f64> =
            found.iter().map(|seen| instruments.own().tau() / seen.temperature).collect();
        bounds.mean_sharpness_off = bounds.mean_sharpness_off.max((stats::mean(&sharpness) - 1.0).abs());
        seen.extend(found);
        progress(seen.len(), pairs.len());
    }
    bounds.value_broken = seen.iter().filter(|seen| !seen.value_holds).count();
    bounds.radius_broken = seen.iter().filter(|seen| !seen.radius_holds).count();

    let kappa: Vec<f64> = seen.iter_mut().filter_map(|seen| seen.scales.take()).flatten().collect();
    let adaptive = instruments.own().is_adaptive();
    let of = |quantity: fn(&Seen) -> f64| Distribution::of(seen.iter().map(quantity).collect());
    let if_adaptive = |quantity: fn(&Seen) -> f64| adaptive.then(|| of(quantity));
    let [most_contested, least_contested] = extremes(&seen, options.slates).map(|chosen| {
        chosen.into_iter().map(|seen| again(&world, &instruments, seen, n)).collect::<Result<Vec<Slate>>>()
    });
    Ok(Inspection {
        loss: gradient.loss.to_table(),
        data: data.to_owned(),
        model: config.model.name().to_owned(),
        epoch: saved.epoch.unwrap_or_default(),
        seed,
        pairs: pairs.len(),
        negatives: n,
        kappa: (!kappa.is_empty()).then(|| Distribution::of(kappa)),
        competition: if_adaptive(|seen| seen.competition),
        multiplier: if_adaptive(|seen| seen.multiplier),
        temperature: if_adaptive(|seen| seen.temperature),
        gradient: GradientShares {
            sl: mean_shares(&seen, groups.len(), |seen| &seen.softmax_shares),
            own: mean_shares(&seen, groups.len(), |seen| &seen.own_shares),
            up_to_rank: groups,
        },
        radius: Radius { sl: of(|seen| seen.softmax_radius), own: of(|seen| seen.own_radius), bounds },
        two_slates: two_slates(&world, &instruments, &pairs, n)?,
        most_contested: most_contested?,
        least_contested: least_contested?,
    })
}

/// The most and the least contested pairs, each the most extreme first; of equals the one drawn first.
fn extremes(seen: &[Seen], n: usize) -> [Vec<&Seen>; 2] {
    let mut ascending: Vec<&Seen> = seen.iter().collect();
    ascending.sort_by(|a, b| a.competition.total_cmp(&b.competition));
    let mut descending: Vec<&Seen> = seen.iter().collect();
    descending.sort_by(|a, b| b.competition.total_cmp(&a.competition));
    [descending, ascending].map(|mut order| {
        order.truncate(n);
        order
    })
}

/// The mean over the pairs of each group's share.
fn mean_shares(seen: &[Seen], groups: usize, shares: fn(&Seen) -> &[f64]) -> Vec<f64> {
    let of_group =
        |group: usize| seen.iter().map(|seen| shares(seen)[group]).sum::<f64>() / seen.len() as f64;
    (0..groups).map(of_group).collect()
}
