//! The inspection of a model.

use super::diagnose::{Diagnosis, LossDiagnostics, PairDiagnostics, rank_groups};
use super::sample::PairSampler;
use super::slates::{resampled, two_slates};
use super::{Bounds, Distribution, GradientShares, Inspection, Radius, Slate};
use rivalry::model::Model;
use rivalry::{InputError, Result};

use crate::stats;

/// Options of an inspection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectOptions {
    /// The number of training pairs; all if there are fewer.
    pub pairs: usize,
    /// The number of most and of least contested pairs to report with their negatives.
    pub slates: usize,
    /// The seed of the pairs and negatives. Default: the seed of the run.
    pub seed: Option<u64>,
}

impl Default for InspectOptions {
    /// 4096 pairs, 5 slates of each kind, the run's seed.
    fn default() -> Self {
        Self { pairs: 4096, slates: 5, seed: None }
    }
}

/// Computes diagnostics of the loss of a run on sampled training pairs, with the run's model.
///
/// Pairs are sampled in batches of the run's batch size, with as many negatives as in training, from its sampler. The
/// embeddings are those of evaluation, without the noise that some backbones add in training. `data` is the name of the
/// data set in the result; `progress` is called after each batch with the number of pairs done and the total.
///
/// ```
/// use rivalry::config::{Config, source_layer};
/// use rivalry::train::{Fitted, NoCheckpoints, NoObserver, fit};
/// use rivalry_runs::inspect::{InspectOptions, inspect};
/// let settings = "loss.type = 'dsl'\ntrain = { epochs = 1, negatives = 50 }".parse().unwrap();
/// let config = Config::from_layers(&[source_layer("synthetic"), settings])?;
/// let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {})?;
/// let fitted = fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver)?;
/// let Fitted::Done(fit) = fitted else { unreachable!() };
/// let model = fit.into_model(&data, config);
/// let found = inspect(&model, "synthetic", InspectOptions::default(), &mut |_, _| {})?;
/// assert!(found.kappa.is_some() && found.radius.bounds.value_broken == 0);
/// # Ok::<(), rivalry::Error>(())
/// ```
///
/// # Errors
/// If the loss does not belong to the softmax family, no pairs are requested, or a score is not finite.
pub fn inspect(
    model: &Model,
    data: &str,
    options: InspectOptions,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Inspection> {
    let config = &model.config;
    let gradient = config.require_gradient("be inspected")?;
    let losses = LossDiagnostics::new(&gradient.loss)?;
    let seed = options.seed.unwrap_or(config.seed);
    let sampler = PairSampler::new(model, seed)?;
    let pairs = sampler.pairs(options.pairs);
    if pairs.is_empty() {
        return Err(InputError::new("no training pairs to inspect")
            .field("pairs")
            .help("request at least one")
            .into());
    }
    let n = gradient.train.negatives;
    let groups = rank_groups(n);
    let diagnosis = Diagnosis { sampler: &sampler, losses: &losses, negatives: n, groups: &groups };
    let mut diagnosed: Vec<PairDiagnostics> = Vec::with_capacity(pairs.len());
    let mut bounds = Bounds { checked: pairs.len(), ..Bounds::default() };
    for (number, batch) in pairs.chunks(gradient.train.batch_size).enumerate() {
        let found = diagnosis.diagnose_batch(number, batch)?;
        let sharpness: Vec<f64> =
            found.iter().map(|pair| losses.this_loss().tau() / pair.temperature).collect();
        bounds.mean_sharpness_off = bounds.mean_sharpness_off.max((stats::mean(&sharpness) - 1.0).abs());
        diagnosed.extend(found);
        progress(diagnosed.len(), pairs.len());
    }
    bounds.value_broken = diagnosed.iter().filter(|pair| !pair.value_holds).count();
    bounds.radius_broken = diagnosed.iter().filter(|pair| !pair.radius_holds).count();

    let kappa: Vec<f64> = diagnosed.iter_mut().filter_map(|pair| pair.scales.take()).flatten().collect();
    let adaptive = losses.this_loss().is_adaptive();
    let of =
        |quantity: fn(&PairDiagnostics) -> f64| Distribution::of(diagnosed.iter().map(quantity).collect());
    let if_adaptive = |quantity: fn(&PairDiagnostics) -> f64| adaptive.then(|| of(quantity));
    let [most_contested, least_contested] = extremes(&diagnosed, options.slates).map(|chosen| {
        chosen.into_iter().map(|pair| resampled(&diagnosis, pair)).collect::<Result<Vec<Slate>>>()
    });
    Ok(Inspection {
        loss: gradient.loss.to_table(),
        data: data.to_owned(),
        model: config.model.name().to_owned(),
        epoch: model.epoch.unwrap_or_default(),
        seed,
        pairs: pairs.len(),
        negatives: n,
        kappa: (!kappa.is_empty()).then(|| Distribution::of(kappa)),
        competition: if_adaptive(|pair| pair.competition),
        multiplier: if_adaptive(|pair| pair.multiplier),
        temperature: if_adaptive(|pair| pair.temperature),
        gradient: GradientShares {
            sl: mean_shares(&diagnosed, groups.len(), |pair| &pair.softmax_shares),
            this_loss: mean_shares(&diagnosed, groups.len(), |pair| &pair.loss_shares),
            up_to_rank: groups.clone(),
        },
        radius: Radius { sl: of(|pair| pair.softmax_radius), this_loss: of(|pair| pair.loss_radius), bounds },
        two_slates: two_slates(&diagnosis, &pairs)?,
        most_contested: most_contested?,
        least_contested: least_contested?,
    })
}

/// The most and the least contested pairs, each the most extreme first; ties in the order of sampling.
fn extremes(diagnosed: &[PairDiagnostics], n: usize) -> [Vec<&PairDiagnostics>; 2] {
    let mut ascending: Vec<&PairDiagnostics> = diagnosed.iter().collect();
    ascending.sort_by(|a, b| a.competition.total_cmp(&b.competition));
    let mut descending: Vec<&PairDiagnostics> = diagnosed.iter().collect();
    descending.sort_by(|a, b| b.competition.total_cmp(&a.competition));
    [descending, ascending].map(|mut order| {
        order.truncate(n);
        order
    })
}

/// The mean over the pairs of each group's share.
fn mean_shares(
    diagnosed: &[PairDiagnostics],
    groups: usize,
    shares: fn(&PairDiagnostics) -> &[f64],
) -> Vec<f64> {
    let of_group =
        |group: usize| diagnosed.iter().map(|pair| shares(pair)[group]).sum::<f64>() / diagnosed.len() as f64;
    (0..groups).map(of_group).collect()
}
