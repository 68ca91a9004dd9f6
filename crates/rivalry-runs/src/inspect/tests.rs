//! What must hold of an inspection, whatever the model.

use super::*;
use rivalry::config::{Config, source_layer};
use rivalry::loss::{LOSSES, LossConfig};
use rivalry::model::Model;
use rivalry::train::{Fitted, NoCheckpoints, NoObserver, fit};

/// A model trained for a moment on the synthetic data.
fn trained(settings: &str) -> Model {
    let common = "train = { epochs = 2, eval_every = 2, negatives = 60, batch_size = 300 }\nmodel.dim = 16";
    let layers = [source_layer("synthetic"), common.parse().unwrap(), settings.parse().unwrap()];
    let config = Config::from_layers(&layers).unwrap();
    let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {}).unwrap();
    match fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver).unwrap() {
        Fitted::Done(fit) => fit.into_model(&data, config),
        Fitted::Stopped(_) => unreachable!(),
    }
}

fn inspected(model: &Model) -> Inspection {
    inspect(model, "synthetic", InspectOptions { pairs: 700, ..InspectOptions::default() }, &mut |_, _| {})
        .unwrap()
}

/// The same model with another loss.
fn with_loss(mut model: Model, loss: &str) -> Model {
    let loss = LossConfig::from_table("loss", LOSSES, &loss.parse().unwrap()).unwrap();
    model.config.gradient.as_mut().unwrap().loss = loss;
    model
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn the_softmax_loss_is_its_own_measure_and_lacks_every_other_part() {
    let found = inspected(&trained("loss.type = 'sl'"));
    assert_eq!(found.gradient.this_loss, found.gradient.sl);
    assert_eq!(found.radius.this_loss, found.radius.sl);
    assert!(found.kappa.is_none() && found.competition.is_none());
    assert!(found.multiplier.is_none() && found.temperature.is_none());
    assert!(close(found.gradient.sl.iter().sum(), 1.0));
    assert_eq!((found.pairs, found.negatives), (700, 60));
    assert_eq!(found.gradient.up_to_rank, [1, 2, 5, 10, 20, 50, 60]);
}

#[test]
fn without_strength_dsl_is_the_softmax_loss() {
    let found = inspected(&trained("loss = { type = 'dsl', alpha = 0, beta = 0 }"));
    assert_eq!(found.gradient.this_loss, found.gradient.sl);
    assert_eq!(found.radius.this_loss, found.radius.sl);
    assert!(found.kappa.is_none() && found.multiplier.is_none());
}

#[test]
fn the_parts_of_dsl_keep_their_promises() {
    let model = trained("loss = { type = 'dsl', alpha = 2, beta = 2 }");
    let found = inspected(&model);
    let Bounds { checked, value_broken, radius_broken, mean_sharpness_off } = found.radius.bounds;
    assert_eq!((checked, value_broken, radius_broken), (700, 0, 0));
    assert!(mean_sharpness_off < 1e-12, "{mean_sharpness_off}");
    let c = found.competition.unwrap();
    assert!(c.quantiles[0] >= 0.0 && c.quantiles[6] <= 1.0 && c.deviation > 0.0);
    // Batches of 300, 300 and 100 pairs, in each of which the multipliers average to one.
    assert!(close(found.multiplier.unwrap().mean, 1.0));
    let kappa = found.kappa.unwrap();
    assert!(kappa.quantiles[0] > 0.0 && kappa.deviation > 0.0);
    assert_eq!(kappa.histogram.counts.iter().sum::<usize>(), 700 * 60);
    for slate in &found.most_contested {
        let inverse = slate.negatives.iter().map(|negative| negative.kappa.recip()).sum::<f64>();
        // Of the hardest negatives alone, whose scale is above the mean.
        assert!(inverse < slate.negatives.len() as f64);
    }
}

#[test]
fn drift_control_makes_the_mean_of_the_inverse_scales_one() {
    let model = trained("loss = { type = 'dsl-kappa', beta = 3 }\ntrain.negatives = 20");
    let found = inspected(&model);
    // With 20 negatives the whole sample is shown.
    for slate in found.most_contested.iter().chain(&found.least_contested) {
        let inverse = slate.negatives.iter().map(|negative| negative.draws as f64 / negative.kappa);
        assert!(close(inverse.sum::<f64>() / 20.0, 1.0));
        assert!(close(slate.negatives.iter().map(|negative| negative.this_loss).sum(), 1.0));
    }
}

#[test]
fn every_member_of_the_family_can_be_seen_and_keeps_the_bounds() {
    let plain = || trained("loss.type = 'sl'");
    for loss in [
        "type = 'bsl'",
        "type = 'psl'",
        "type = 'sl@k'",
        "type = 'dsl-ca'",
        "type = 'dsl@k'",
        "type = 'softmax'\nactivation = 'atan'\nscale = 'kappa'\ntemperature = 'competition'\nweight = 'top-k'",
    ] {
        let model = with_loss(plain(), loss);
        let found = inspected(&model);
        let Bounds { value_broken, radius_broken, mean_sharpness_off, .. } = found.radius.bounds;
        assert!(value_broken + radius_broken == 0 && mean_sharpness_off < 1e-12, "{loss}: {found:?}");
        assert!(close(found.gradient.this_loss.iter().sum(), 1.0), "{loss}");
        assert_eq!(found.kappa.is_some(), loss.contains("dsl@k") || loss.contains("kappa"), "{loss}");
        assert_eq!(
            found.temperature.is_some(),
            ["dsl-ca", "dsl@k", "compet"].iter().any(|part| loss.contains(part))
        );
    }
}

#[test]
fn the_others_are_refused_with_the_losses_that_can_be_seen() {
    let model = with_loss(trained("loss.type = 'sl'"), "type = 'bpr'");
    let error = inspect(&model, "", InspectOptions::default(), &mut |_, _| {}).unwrap_err().to_string();
    assert!(
        error.contains("bpr does not belong to the softmax family")
            && error.contains("dsl-ca")
            && !error.contains("llpauc")
    );
}

#[test]
fn slates_are_ordered_and_of_the_right_kind() {
    let found = inspected(&trained("loss.type = 'dsl-ca'"));
    let competition = |slates: &[Slate]| slates.iter().map(|slate| slate.competition).collect::<Vec<_>>();
    let (most, least) = (competition(&found.most_contested), competition(&found.least_contested));
    assert!(most.len() == 5 && most.is_sorted_by(|a, b| a >= b) && least.is_sorted() && least[4] < most[4]);
    // More contested means cooler.
    assert!(found.most_contested[0].temperature < found.least_contested[0].temperature);
    assert_eq!(found.two_slates.len(), 3);
    for TwoSlates { calm, contested } in &found.two_slates {
        assert_eq!((&calm.user, &calm.item, calm.score), (&contested.user, &contested.item, contested.score));
        assert!(calm.competition < contested.competition && calm.temperature > contested.temperature);
        for slate in [calm, contested] {
            assert_eq!(slate.negatives.iter().map(|negative| negative.draws).sum::<usize>(), 15);
            assert!(slate.negatives.is_sorted_by(|a, b| a.score >= b.score));
            assert!(close(slate.negatives.iter().map(|negative| negative.sl).sum(), 1.0));
        }
    }
}

#[test]
fn a_negative_that_was_drawn_several_times_is_listed_once() {
    // Two hundred draws of a few hundred items: many are drawn again.
    let found = inspected(&trained("loss.type = 'sl'\ntrain.negatives = 200"));
    let slates = || found.most_contested.iter().chain(&found.least_contested);
    assert!(slates().flat_map(|slate| &slate.negatives).any(|negative| negative.draws > 1));
    for slate in slates() {
        let items: std::collections::BTreeSet<&String> = slate.negatives.iter().map(|n| &n.item).collect();
        assert_eq!((items.len(), slate.negatives.len()), (20, 20));
    }
}

#[test]
fn the_seed_decides_and_threads_do_not_also_with_shared_negatives() {
    for sampler in ["uniform", "shared"] {
        let model = trained(&format!("loss.type = 'dsl'\nsampler.type = '{sampler}'"));
        let with = |threads: usize, seed| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let options = InspectOptions { pairs: 400, seed, ..InspectOptions::default() };
            pool.install(|| inspect(&model, "", options, &mut |_, _| {}).unwrap())
        };
        assert_eq!(with(1, Some(4)), with(3, Some(4)));
        assert_eq!(with(1, None), with(1, Some(0)));
        assert_ne!(with(1, Some(4)).gradient, with(1, Some(5)).gradient);
    }
}

#[test]
fn similarities_are_cosines_also_where_scores_are_not() {
    let found = inspected(&trained("loss.type = 'sl'\nmodel.score = 'dot'\noptim.lr = 0.01"));
    let negatives = found.two_slates.iter().flat_map(|two| &two.contested.negatives);
    let similarities: Vec<f64> = negatives.map(|negative| negative.similarity).collect();
    assert!(similarities.iter().all(|s| s.abs() <= 1.0 + 1e-6));
    assert!(found.two_slates.iter().any(|two| two.calm.negatives.iter().any(|n| n.score.abs() > 1.0)));
}

#[test]
fn a_single_pair_is_judged_as_in_a_batch() {
    let model = trained("loss = { type = 'dsl-ca', alpha = 2, tau = 0.2 }");
    let scorer = model.scorer().unwrap();
    let embeddings = scorer.embeddings().unwrap();
    let batch = ReferenceBatch::new(&model, embeddings).unwrap();
    let slates: Vec<Slate> = (0..40).map(|item| batch.pair(&model, embeddings, (7, item)).unwrap()).collect();
    assert_eq!(slates[3], batch.pair(&model, embeddings, (7, 3)).unwrap());
    for (item, slate) in (0..).zip(&slates) {
        // No item competes with itself, and no negative is one of the user's items.
        let known = |id: &str| model.train.contains(7, model.items.dense(id).unwrap());
        assert_eq!(slate.item, model.items.original(item));
        assert!(slate.negatives.iter().all(|negative| negative.item != slate.item && !known(&negative.item)));
    }
    // Nearly the whole batch is the same, so the more contested pair has the lower temperature.
    let mut by_competition: Vec<&Slate> = slates.iter().collect();
    by_competition.sort_by(|a, b| a.competition.total_cmp(&b.competition));
    assert!(by_competition.is_sorted_by(|a, b| a.temperature >= b.temperature - 1e-3));
    assert!(by_competition[0].temperature > by_competition[39].temperature);
    let model = with_loss(model, "type = 'dsl-ca'\nalpha = 0\ntau = 0.2");
    let batch = ReferenceBatch::new(&model, embeddings).unwrap();
    assert!(close(batch.pair(&model, embeddings, (7, 3)).unwrap().temperature, 0.2));
    assert!(ReferenceBatch::new(&with_loss(model, "type = 'bpr'"), embeddings).is_err());
}
