//! Contract tests over the list of backbones, and each against a plain twin in f64.

use super::*;

mod plain;
mod xsimgcl_step;

use plain::{Nodes, difference, random};

use crate::models::{Kind, MODELS, ModelConfig};
use rivalry_kernels::Matrix;

const USERS: usize = 9;
const ITEMS: usize = 14;

/// A small graph with popular and rare items, a user (4) and items (5, 13) nobody has met.
fn graph() -> Interactions {
    let edge = |u: usize, i: usize| (u * 5 + i * 3) % 7 < 2 || (i < 2 && u > 2);
    let pairs = (0..USERS).flat_map(|u| (0..ITEMS).map(move |i| (u, i)));
    let pairs = pairs.filter(|&(u, i)| u != 4 && i != 5 && i != 13 && edge(u, i));
    Interactions::from_pairs(USERS, ITEMS, pairs.map(|(u, i)| (u as u32, i as u32)))
}

fn build_backbone(text: &str, train: &Interactions) -> Box<dyn Backbone> {
    let config = ModelConfig::from_table("model", MODELS, &text.parse().unwrap()).unwrap();
    config.backbone(train).unwrap()
}

/// The names of all backbones.
fn names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().filter(|entry| matches!(entry.build, Kind::Gradient(_))).map(|entry| entry.name)
}

/// Those that do something.
fn graphs() -> impl Iterator<Item = &'static str> {
    names().filter(|name| !build_backbone(&format!("type = '{name}'"), &graph()).is_identity())
}

/// Every backbone that does something, with a few numbers of layers.
fn for_each(test: impl Fn(&str, Box<dyn Backbone>)) {
    let named = |name: &str, layers| format!("type = '{name}'\nlayers = {layers}");
    for name in graphs() {
        for layers in 2..5 {
            let text = named(name, layers);
            test(&text, build_backbone(&text, &graph()));
        }
    }
    for name in ["lightgcn", "lightgcn++"] {
        test(name, build_backbone(&named(name, 1), &graph()));
    }
}

fn dot(a: &Embeddings, b: &Embeddings) -> f64 {
    let tables = a.tables().into_iter().zip(b.tables());
    tables
        .flat_map(|(a, b)| a.to_dense().into_iter().zip(b.to_dense()))
        .map(|(a, b)| f64::from(a) * f64::from(b))
        .sum()
}

fn forward(backbone: &mut dyn Backbone, x: &Embeddings) -> Embeddings {
    // What was there before must not matter.
    let mut out = random(99, USERS, ITEMS, x.dim());
    backbone.forward(x, &mut out);
    out
}

/// A step whose batch has every user of the small graph.
fn all_users(seed: u64, number: u64) -> Step<'static> {
    let touched = Touched { users: Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), items: None };
    Step { touched, seed, number }
}

/// The backbones without noise: a step differs from the evaluation only in what it leaves out.
#[test]
fn a_step_sees_its_rows_as_they_are_evaluated() {
    let users = [0, 2, 4, 7];
    for_each(|name, mut backbone| {
        if name.contains("xsimgcl") {
            return;
        }
        let (x, before) = (random(1, USERS, ITEMS, 20), random(2, USERS, ITEMS, 20));
        let expected = forward(&mut *backbone, &x);
        for items in [None, Some(&[1, 3, 4][..])] {
            let (mut found, touched) = (before.clone(), Touched { users: Some(&users), items });
            backbone.forward_training(&x, &mut found, Step { touched, seed: 1, number: 1 });
            for user in 0..USERS {
                let right = if users.contains(&(user as u32)) { &expected } else { &before };
                assert_eq!(found.users.row(user), right.users.row(user), "{name}, user {user}");
            }
            for item in 0..ITEMS {
                if items.is_none_or(|items| items.contains(&(item as u32))) {
                    assert_eq!(found.items.row(item), expected.items.row(item), "{name}, item {item}");
                }
            }
        }
    });
}

/// Gradients of few users go along their edges alone; those of many, however small, along all.
#[test]
fn rows_of_zeros_may_as_well_be_sent() {
    for_each(|name, mut backbone| {
        let x = random(1, USERS, ITEMS, 20);
        forward(&mut *backbone, &x);
        let mut few = random(2, USERS, ITEMS, 20);
        for user in (0..USERS).filter(|&user| user != 3) {
            few.users.row_mut(user).fill(0.0);
        }
        let mut many = few.clone();
        for user in (0..USERS).filter(|&user| user != 3) {
            many.users.row_mut(user).fill(f32::MIN_POSITIVE);
        }
        backbone.backward(&mut few);
        backbone.backward(&mut many);
        assert!(difference(&few, &Nodes::of(&many)) < 1e-6, "{name}");
        assert_ne!(few.items, random(2, USERS, ITEMS, 20).items, "{name}");
    });
}

#[test]
fn backward_is_the_adjoint_of_the_derivative() {
    for_each(|name, mut backbone| {
        for dim in [5, 64] {
            let (x, y, along) =
                (random(1, USERS, ITEMS, dim), random(2, USERS, ITEMS, dim), random(3, USERS, ITEMS, dim));
            // ⟨y, f(x + h v) - f(x - h v)⟩ / 2h = ⟨fᵀ(y), v⟩: for a linear map exact but for rounding.
            let h = 0.01;
            let moved = |h: f32| {
                let mut moved = x.clone();
                moved.add(&along, h);
                moved
            };
            let (ahead, behind) = (forward(&mut *backbone, &moved(h)), forward(&mut *backbone, &moved(-h)));
            let difference = (dot(&y, &ahead) - dot(&y, &behind)) / (2.0 * f64::from(h));
            forward(&mut *backbone, &x);
            let mut back = y.clone();
            backbone.backward(&mut back);
            let adjoint = dot(&back, &along);
            assert!((difference - adjoint).abs() < 2e-3, "{name}, {dim}: {difference} {adjoint}");
        }
    });
}

#[test]
fn nodes_without_neighbours_stay_themselves_and_keep_their_gradients() {
    for_each(|name, mut backbone| {
        let (x, grads) = (random(1, USERS, ITEMS, 20), random(2, USERS, ITEMS, 20));
        let check = |out: &Embeddings, input: &Embeddings| {
            for item in [5, 13] {
                assert_eq!(out.items.row(item), input.items.row(item), "{name}");
            }
            assert_eq!(out.users.row(4), input.users.row(4), "{name}");
            assert_ne!(out.users.row(3), input.users.row(3), "{name}");
        };
        check(&forward(&mut *backbone, &x), &x);
        let mut back = grads.clone();
        backbone.backward(&mut back);
        check(&back, &grads);
        let mut noisy = x.clone();
        backbone.forward_training(&x, &mut noisy, all_users(1, 1));
        check(&noisy, &x);
    });
}

#[test]
fn without_edges_nothing_changes() {
    for name in names() {
        let text = format!("type = '{name}'");
        let mut backbone = build_backbone(&text, &Interactions::empty(USERS, ITEMS));
        let x = random(1, USERS, ITEMS, 7);
        assert_eq!(forward(&mut *backbone, &x), x, "{text}");
        let mut grads = x.clone();
        backbone.backward(&mut grads);
        assert_eq!(grads, x, "{text}");
    }
}

#[test]
fn without_layers_it_is_matrix_factorisation() {
    for name in ["lightgcn", "lightgcn++"] {
        assert!(build_backbone(&format!("type = '{name}'\nlayers = 0"), &graph()).is_identity());
        assert!(!build_backbone(&format!("type = '{name}'\nlayers = 1"), &graph()).is_identity());
    }
    let section = "type = 'xsimgcl'\nlayers = 1".parse().unwrap();
    let error = ModelConfig::from_table("model", MODELS, &section).unwrap_err().to_string();
    assert!(error.starts_with("model.layers: expected a whole number in [2, 16], found 1"), "{error}");
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    // Large enough for several blocks of edges, with users of very different degrees.
    let pairs = (0..700u32).flat_map(|u| (0..20 + u % 90).map(move |k| (u, (u * 17 + k * k * 13) % 900)));
    let train = Interactions::from_pairs(700, 900, pairs);
    let (x, grads) = (random(1, 700, 900, 33), random(2, 700, 900, 33));
    let batch: Vec<u32> = (0..400).map(|k| k * 7 % 650).collect();
    let mut users = batch.clone();
    users.sort_unstable();
    users.dedup();
    let touched = Touched { users: Some(&users), items: Some(&users) };
    for name in graphs() {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut backbone = build_backbone(&format!("type = '{name}'"), &train);
                let (mut scored, mut noisy, mut back) = (x.clone(), x.clone(), grads.clone());
                backbone.forward(&x, &mut scored);
                backbone.forward_training(&x, &mut noisy, Step { touched, seed: 5, number: 3 });
                let auxiliary = backbone.auxiliary_loss(&noisy, &batch, &batch);
                backbone.backward(&mut back);
                (scored, noisy, auxiliary, back)
            })
        };
        let one = with(1);
        assert!(one == with(2) && one == with(3), "{name}");
    }
}

#[test]
fn lightgcn_agrees_with_its_formula() {
    for layers in 1..4 {
        let x = random(1, USERS, ITEMS, 20);
        let mut backbone = build_backbone(&format!("type = 'lightgcn'\nlayers = {layers}"), &graph());
        let expected = plain::lightgcn(&graph(), &Nodes::of(&x), layers);
        assert!(difference(&forward(&mut *backbone, &x), &expected) < 1e-6, "{layers} layers");
    }
}

#[test]
fn lightgcn_pp_agrees_with_its_formula() {
    for layers in 1..4 {
        let x = random(1, USERS, ITEMS, 20);
        let text = format!("type = 'lightgcn++'\nlayers = {layers}\nalpha = 0.7\nbeta = -0.2\ngamma = 0.3");
        let expected = plain::lightgcn_pp(&graph(), &Nodes::of(&x), layers, [0.7, -0.2, 0.3]);
        assert!(difference(&forward(&mut *build_backbone(&text, &graph()), &x), &expected) < 1e-6, "{text}");
    }
}
