//! Reference values in float64, made outside this project, against what the library computes.
//!
//! `RIVALRY_GOLDEN=DIR` points the same tests at another folder of the same format. A case for a loss or backbone
//! that is not on the lists is counted as left out, never as passed.

use std::path::PathBuf;

use rivalry::Matrix;
use rivalry::backbone::{self, BACKBONES, Embeddings};
use rivalry::data::Interactions;
use rivalry::loss::{self, LOSSES, Loss, Row, RowLoss};
use rivalry::train::{AdamConfig, AdamState, Batch, Model, Score, Stepper};
use serde_json::Value;

fn cases(file: &str) -> Vec<Value> {
    let shipped = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let folder = std::env::var_os("RIVALRY_GOLDEN").map_or(shipped, PathBuf::from);
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn table(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn ids(value: &Value) -> Vec<u32> {
    serde_json::from_value(value.clone()).unwrap()
}

fn id_rows(value: &Value) -> Vec<Vec<u32>> {
    serde_json::from_value(value.clone()).unwrap()
}

fn matrix(value: &Value) -> Matrix {
    let rows = table(value);
    Matrix::from_fn(rows.len(), rows[0].len(), |r, c| rows[r][c] as f32)
}

fn embeddings(case: &Value) -> Embeddings {
    Embeddings { users: matrix(&case["users"]), items: matrix(&case["items"]) }
}

fn score(case: &Value) -> Score {
    serde_json::from_value(case.get("score").cloned().unwrap_or("cosine".into())).unwrap()
}

/// The case's loss as a config section. The files give the ablations all of DSL's parameters; those that the
/// ablation does not have are left out.
fn section(case: &Value) -> Option<toml::Table> {
    let entry = LOSSES.iter().find(|entry| entry.name == case["loss"])?;
    let mut section = toml::Table::new();
    section.insert("type".into(), entry.name.into());
    for (key, value) in case["params"].as_object().unwrap() {
        let declared = entry.params.iter().any(|p| p.name == key);
        assert!(declared || entry.name.starts_with("dsl"), "{}: unknown parameter {key}", entry.name);
        if declared {
            section.insert(key.clone(), toml::Value::try_from(value).unwrap());
        }
    }
    Some(section)
}

fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64, scale: f64) {
    let error = (found - expected).abs();
    assert!(error <= tolerance * (expected.abs() + scale), "{what}: {found} instead of {expected}");
}

fn assert_tables_close(what: &str, found: &[Vec<f64>], expected: &[Vec<f64>], tolerance: f64) {
    let largest = expected.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    for (r, (found, expected)) in found.iter().zip(expected).enumerate() {
        for (c, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert_close(&format!("{what}[{r}][{c}]"), *found, *expected, tolerance, largest);
        }
    }
}

fn widened(table: &Matrix) -> Vec<Vec<f64>> {
    (0..table.rows()).map(|r| table.row(r).iter().map(|&x| x.into()).collect()).collect()
}

/// The same loss by the plainest possible code around it, in f64: what the losses compute is checked to many digits.
struct Plain {
    value: f64,
    per_row: Vec<f64>,
    measures: Vec<f64>,
    users: Vec<Vec<f64>>,
    items: Vec<Vec<f64>>,
}

fn plain(loss: &dyn Loss, score: Score, case: &Value) -> Plain {
    let loss: &dyn RowLoss<f64> = loss;
    let (users, items) = (table(&case["users"]), table(&case["items"]));
    let length = |x: &[f64]| match score {
        Score::Cosine => x.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Score::Dot => 1.0,
    };
    let unit = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        rows.iter().map(|x| x.iter().map(|v| v / length(x)).collect()).collect()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let (u, v) = (unit(&users), unit(&items));
    let (batch_users, batch_items) = (ids(&case["batch_users"]), ids(&case["batch_items"]));
    let negatives = id_rows(&case["negatives"]);
    let seen: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..batch_users.len())
        .map(|b| {
            let (user, item) = (&u[batch_users[b] as usize], &v[batch_items[b] as usize]);
            let against =
                |x: &[f64]| negatives[b].iter().map(|&j| dot(x, &v[j as usize])).collect::<Vec<_>>();
            (dot(user, item), against(user), if loss.uses_similarities() { against(item) } else { vec![] })
        })
        .collect();
    let row = |b: usize| Row { positive: seen[b].0, negatives: &seen[b].1[..], similarities: &seen[b].2[..] };
    let mut measures: Vec<f64> = (0..seen.len()).map(|b| loss.measure(row(b))).collect();
    loss.calibrate(&mut measures);

    let (mut grad_u, mut grad_v) =
        (vec![vec![0.0; u[0].len()]; u.len()], vec![vec![0.0; u[0].len()]; v.len()]);
    let mut per_row = Vec::new();
    for b in 0..seen.len() {
        let mut grads = vec![0.0; negatives[b].len()];
        let outcome = loss.gradient(row(b), measures[b], &mut grads);
        per_row.push(outcome.value);
        let user = batch_users[b] as usize;
        let pairs = negatives[b].iter().copied().zip(grads).chain([(batch_items[b], outcome.positive)]);
        for (item, g) in pairs {
            for c in 0..u[0].len() {
                grad_u[user][c] += g * v[item as usize][c] / seen.len() as f64;
                grad_v[item as usize][c] += g * u[user][c] / seen.len() as f64;
            }
        }
    }
    let back = |grads: Vec<Vec<f64>>, units: &[Vec<f64>], raw: &[Vec<f64>]| -> Vec<Vec<f64>> {
        if score == Score::Dot {
            return grads;
        }
        let through = |(r, g): (usize, &Vec<f64>)| -> Vec<f64> {
            let along = dot(g, &units[r]);
            g.iter().zip(&units[r]).map(|(g, x)| (g - along * x) / length(&raw[r])).collect()
        };
        grads.iter().enumerate().map(through).collect()
    };
    Plain {
        value: per_row.iter().sum::<f64>() / seen.len() as f64,
        users: back(grad_u, &u, &users),
        items: back(grad_v, &v, &items),
        per_row,
        measures,
    }
}

#[test]
fn losses_in_f64() {
    let cases = cases("losses.json");
    let mut checked = 0;
    for (n, case) in cases.iter().enumerate() {
        let Some(section) = section(case) else { continue };
        let name = format!("case {n}, {section:?}");
        let found = plain(&*loss::build(&section).unwrap(), score(case), case);
        assert_close(&format!("{name}: value"), found.value, case["value"].as_f64().unwrap(), 1e-9, 0.0);
        assert_tables_close(&format!("{name}: users"), &found.users, &table(&case["grad_users"]), 1e-9);
        assert_tables_close(&format!("{name}: items"), &found.items, &table(&case["grad_items"]), 1e-9);
        for (key, found) in [("per_example", &found.per_row), ("m", &found.measures)] {
            if let Some(expected) = case.get(key) {
                let expected: Vec<f64> = serde_json::from_value(expected.clone()).unwrap();
                assert_tables_close(
                    &format!("{name}: {key}"),
                    std::slice::from_ref(found),
                    &[expected],
                    1e-9,
                );
            }
        }
        checked += 1;
    }
    println!("{checked} of {} loss cases checked in f64", cases.len());
    assert!(checked > 0, "no case of a known loss");
}

/// One step of plain gradient descent through Adam's door: with β = 0 and a huge ε, Adam's step is `-lr/ε · g`.
#[test]
fn losses_in_the_training_step() {
    let cases = cases("losses.json");
    let mut checked = 0;
    for (n, case) in cases.iter().enumerate() {
        let Some(section) = section(case) else { continue };
        let name = format!("case {n}, {section:?}");
        let start = embeddings(case);
        let (users, items) = (ids(&case["batch_users"]), ids(&case["batch_items"]));
        let negatives = id_rows(&case["negatives"]);
        let model = Model::new(mf(&start), score(case), start.clone());
        let moments = AdamState::new(start.users.rows(), start.items.rows(), start.dim());
        let descent = AdamConfig { lr: 1e12, weight_decay: 0.0, beta1: 0.0, beta2: 0.0, epsilon: 1e12 };
        let loss = loss::build(&section).unwrap();
        let mut stepper = Stepper::new(model, loss, moments, descent, negatives[0].len());
        let draw = |row: usize, out: &mut [u32]| out.copy_from_slice(&negatives[row]);
        let value = stepper.step(Batch { users: &users, items: &items, negatives: &draw });
        assert_close(&format!("{name}: value"), value, case["value"].as_f64().unwrap(), 1e-4, 0.0);
        let learned = stepper.model().learned();
        for (before, after, key) in
            [(&start.users, &learned.users, "grad_users"), (&start.items, &learned.items, "grad_items")]
        {
            let (before, after) = (widened(before), widened(after));
            let difference = |(b, a): (&Vec<f64>, &Vec<f64>)| b.iter().zip(a).map(|(b, a)| b - a).collect();
            let grads: Vec<Vec<f64>> = before.iter().zip(&after).map(difference).collect();
            assert_tables_close(&format!("{name}: {key}"), &grads, &table(&case[key]), 1e-4);
        }
        checked += 1;
    }
    println!("{checked} of {} loss cases checked in the f32 training step", cases.len());
    assert!(checked > 0, "no case of a known loss");
}

fn mf(start: &Embeddings) -> Box<dyn backbone::Backbone> {
    let empty = Interactions::empty(start.users.rows(), start.items.rows());
    backbone::build(&"type = 'mf'".parse().unwrap(), &empty).unwrap()
}

#[test]
fn lightgcn_forward_and_adjoint() {
    for (n, case) in cases("lightgcn.json").iter().enumerate() {
        let start = embeddings(case);
        let edges: Vec<(u32, u32)> = serde_json::from_value(case["edges"].clone()).unwrap();
        let train = Interactions::from_pairs(start.users.rows(), start.items.rows(), edges);
        let section = format!("type = 'lightgcn'\nlayers = {}", case["layers"]);
        let mut lightgcn = backbone::build(&section.parse().unwrap(), &train).unwrap();
        let mut out = start.clone();
        lightgcn.forward(&start, &mut out);
        let mut grads =
            Embeddings { users: matrix(&case["cotangent_users"]), items: matrix(&case["cotangent_items"]) };
        lightgcn.backward(&mut grads);
        for (found, key) in [
            (&out.users, "out_users"),
            (&out.items, "out_items"),
            (&grads.users, "grad_users"),
            (&grads.items, "grad_items"),
        ] {
            assert_tables_close(&format!("case {n}: {key}"), &widened(found), &table(&case[key]), 1e-5);
        }
    }
}

#[test]
fn four_steps_of_training() {
    let cases = cases("training.json");
    let mut checked = 0;
    for (n, case) in cases.iter().enumerate() {
        let (Some(loss), true) = (section(case), BACKBONES.iter().any(|b| b.name == case["backbone"])) else {
            continue;
        };
        let name = format!("case {n}, {} with {loss:?}", case["backbone"]);
        let start = embeddings(case);
        let edges: Vec<(u32, u32)> = serde_json::from_value(case["edges"].clone()).unwrap();
        let train = Interactions::from_pairs(start.users.rows(), start.items.rows(), edges);
        let mut backbone = toml::Table::new();
        backbone.insert("type".into(), case["backbone"].as_str().unwrap().into());
        if case["backbone"] != "mf" {
            backbone.insert("layers".into(), case["layers"].as_i64().unwrap().into());
        }
        let backbone = backbone::build(&backbone, &train).unwrap();
        let number = |key: &str| case[key].as_f64().unwrap();
        let adam = AdamConfig {
            lr: number("lr"),
            weight_decay: number("weight_decay"),
            beta1: case["betas"][0].as_f64().unwrap(),
            beta2: case["betas"][1].as_f64().unwrap(),
            epsilon: number("eps"),
        };
        let steps = case["steps"].as_array().unwrap();
        let n_negatives = steps[0]["negatives"][0].as_array().unwrap().len();
        let moments = AdamState::new(start.users.rows(), start.items.rows(), start.dim());
        let model = Model::new(backbone, score(case), start);
        let mut stepper = Stepper::new(model, loss::build(&loss).unwrap(), moments, adam, n_negatives);
        for (s, step) in steps.iter().enumerate() {
            let (users, items) = (ids(&step["batch_users"]), ids(&step["batch_items"]));
            let negatives = id_rows(&step["negatives"]);
            let draw = |row: usize, out: &mut [u32]| out.copy_from_slice(&negatives[row]);
            let value = stepper.step(Batch { users: &users, items: &items, negatives: &draw });
            assert_close(&format!("{name}: step {s}"), value, step["value"].as_f64().unwrap(), 1e-3, 0.0);
        }
        let learned = stepper.model().learned();
        assert_tables_close(
            &format!("{name}: users"),
            &widened(&learned.users),
            &table(&case["final_users"]),
            1e-3,
        );
        assert_tables_close(
            &format!("{name}: items"),
            &widened(&learned.items),
            &table(&case["final_items"]),
            1e-3,
        );
        checked += 1;
    }
    println!("{checked} of {} training cases checked", cases.len());
    assert!(checked > 0, "no case of a known loss and backbone");
}
