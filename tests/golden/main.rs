//! Reference values in float64, made outside this project, against what the library computes.
//!
//! `RIVALRY_GOLDEN=DIR` points the same tests at another folder of the same format. A case for a loss or backbone
//! that is not on the lists is counted as left out, never as passed.

mod metrics;
mod step;
mod training;

use std::path::PathBuf;

use rand_xoshiro::Xoshiro256PlusPlus;
use rivalry::Matrix;
use rivalry::backbone::{Embeddings, Score};
use rivalry::data::Interactions;
use rivalry::loss::{
    GradientBuffers, LOSSES, Loss, LossConfig, NegativeFeatures, Phase, Row, RowGradient, RowLoss,
};
use rivalry::models::{MODELS, ModelConfig};
use rivalry::optim::{OPTIMIZERS, OptimConfig};
use rivalry::sampler::Sampler;
use rivalry::train::gradient::{Batch, EmbeddingModel, GradientStep, OptimizedModel};
use rivalry_kernels::Real;
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
/// ablation does not have are left out, and so is the number of negatives, which is not the loss's.
fn section(case: &Value) -> Option<toml::Table> {
    let entry = LOSSES.iter().find(|entry| entry.name == case["loss"])?;
    let mut section = toml::Table::new();
    section.insert("type".into(), entry.name.into());
    for (key, value) in case["params"].as_object().unwrap() {
        let declared = entry.params.iter().any(|p| p.name == key);
        let elsewhere = entry.name.starts_with("dsl-") || key == "negatives";
        assert!(declared || elsewhere, "{}: unknown parameter {key}", entry.name);
        if declared {
            section.insert(key.clone(), toml::Value::try_from(value).unwrap());
        }
    }
    Some(section)
}

/// The case's loss with whatever state the case gives it.
fn loss_of(section: &toml::Table, case: &Value) -> Box<dyn Loss> {
    let mut loss = LossConfig::from_table("loss", LOSSES, section).unwrap().build();
    let own = match section["type"].as_str() {
        Some("llpauc") => Some(scalars(&case["scalars"])),
        Some("guidedrec") => Some(network(&case["net"])),
        _ => None,
    };
    if let Some(values) = own {
        let zeros = vec![0.0; values.len()];
        let named = [("values", values), ("first", zeros.clone()), ("second", zeros), ("steps", vec![0.0])];
        assert!(loss.restore(&named.map(|(name, numbers)| (name.to_owned(), numbers)).into()));
    }
    if let Some(quantiles) = case.get("user_quantiles") {
        for (user, quantile) in quantiles.as_array().unwrap().iter().enumerate() {
            loss.set_quantile(user as u32, quantile.as_f64().unwrap() as f32);
        }
    }
    loss
}

fn scalars(named: &Value) -> Vec<f64> {
    ["a", "b", "s_pos", "s_neg", "gamma", "theta_a", "theta_b"]
        .map(|name| named[name].as_f64().unwrap())
        .to_vec()
}

fn network(layers: &Value) -> Vec<f64> {
    let numbers = |name: &str| {
        let bias: Vec<f64> = serde_json::from_value(layers[name]["bias"].clone()).unwrap();
        table(&layers[name]["weight"]).into_iter().flatten().chain(bias).collect::<Vec<_>>()
    };
    ["mlp1", "mlp2", "nfm1", "nfm2", "out1", "out2"].map(numbers).concat()
}

/// How the parameters of the loss are written in a file.
type ReadNumbers = fn(&Value) -> Vec<f64>;

/// What a case says of one phase of its loss: whose phase, and where the expected value and gradients stand.
struct Expected {
    phase: Phase,
    value: &'static str,
    tables: [&'static str; 2],
    own: Option<(&'static str, ReadNumbers)>,
}

fn expected(loss: &str) -> Vec<Expected> {
    let model =
        Expected { phase: Phase::Model, value: "value", tables: ["grad_users", "grad_items"], own: None };
    match loss {
        "advinfonce" => {
            let tables = ["grad_adv_users", "grad_adv_items"];
            vec![model, Expected { phase: Phase::Adversary, value: "value", tables, own: None }]
        }
        "llpauc" => vec![Expected { own: Some(("grad_scalars", scalars)), ..model }],
        "guidedrec" => vec![
            Expected { value: "bce_value", tables: ["bce_grad_users", "bce_grad_items"], ..model },
            Expected {
                phase: Phase::LossParams,
                value: "surrogate_value",
                tables: ["", ""],
                own: Some(("surrogate_grad_net", network)),
            },
            Expected {
                phase: Phase::ModelAgain,
                value: "dcg_value",
                tables: ["dcg_grad_users", "dcg_grad_items"],
                own: None,
            },
        ],
        _ => vec![model],
    }
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
    own: Vec<f64>,
}

fn plain(loss: &dyn Loss, phase: Phase, score: Score, case: &Value) -> Plain {
    let (own, features) = (loss.n_params(), loss.negative_features());
    let loss: &dyn RowLoss<f64> = loss;
    let length = |x: &[f64]| match score {
        Score::Cosine => x.iter().map(|x| x * x).sum::<f64>().sqrt(),
        Score::Dot => 1.0,
    };
    let unit = |rows: &[Vec<f64>]| -> Vec<Vec<f64>> {
        rows.iter().map(|x| x.iter().map(|v| v / length(x)).collect()).collect()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let tables = |users: &str, items: &str| {
        let raw = [table(&case[users]), table(&case[items])];
        let units = [unit(&raw[0]), unit(&raw[1])];
        (raw, units)
    };
    let (raw, [u, v]) = tables("users", "items");
    let adversary = case.get("adv_users").map(|_| tables("adv_users", "adv_items"));
    let (batch_users, batch_items) = (ids(&case["batch_users"]), ids(&case["batch_items"]));
    let negatives = id_rows(&case["negatives"]);
    let seen: Vec<(f64, Vec<f64>, Vec<f64>)> = (0..batch_users.len())
        .map(|b| {
            let (user, item) = (&u[batch_users[b] as usize], &v[batch_items[b] as usize]);
            let among = |x: &[f64], items: &[Vec<f64>]| -> Vec<f64> {
                negatives[b].iter().map(|&j| dot(x, &items[j as usize])).collect()
            };
            let features = match (features, &adversary) {
                (NegativeFeatures::None, _) => vec![],
                (NegativeFeatures::Similarities, _) => among(item, &v),
                (NegativeFeatures::AdversaryScores, Some((_, [users, items]))) => {
                    among(&users[batch_users[b] as usize], items)
                }
                (NegativeFeatures::AdversaryScores, None) => panic!("the case gives no adversary"),
            };
            (dot(user, item), among(user, &v), features)
        })
        .collect();
    let row = |b: usize| Row {
        user: batch_users[b],
        positive: seen[b].0,
        negatives: &seen[b].1[..],
        features: &seen[b].2[..],
        log_probs: &[],
    };
    let mut measures: Vec<f64> = (0..seen.len()).map(|b| loss.measure(row(b))).collect();
    loss.calibrate(&mut measures);

    let (raw, units) = match (phase, adversary) {
        (Phase::Adversary, Some(adversary)) => adversary,
        _ => (raw, [u, v]),
    };
    let [u, v] = &units;
    let (mut grad_u, mut grad_v) =
        (vec![vec![0.0; u[0].len()]; u.len()], vec![vec![0.0; u[0].len()]; v.len()]);
    let (mut per_row, mut own_grads) = (Vec::new(), vec![0.0; own]);
    for b in 0..seen.len() {
        let mut grads = vec![0.0; negatives[b].len()];
        let places = GradientBuffers { negatives: &mut grads, params: &mut own_grads };
        let outcome = loss.gradient(phase, row(b), measures[b], places);
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
        users: back(grad_u, u, &raw[0]),
        items: back(grad_v, v, &raw[1]),
        own: own_grads.iter().map(|g| g / seen.len() as f64).collect(),
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
        let loss = loss_of(&section, case);
        // β_u is kept in f32, all else is f64.
        let tolerance = if case.get("user_quantiles").is_some() { 1e-6 } else { 1e-9 };
        for part in expected(case["loss"].as_str().unwrap()) {
            let name = format!("case {n}, {section:?}, {}", part.value);
            let found = plain(&*loss, part.phase, score(case), case);
            assert_close(&name, found.value, case[part.value].as_f64().unwrap(), tolerance, 0.0);
            if part.phase != Phase::LossParams {
                for (found, key) in [&found.users, &found.items].into_iter().zip(part.tables) {
                    assert_tables_close(&format!("{name}: {key}"), found, &table(&case[key]), tolerance);
                }
            }
            if let Some((key, read)) = part.own {
                assert_tables_close(&format!("{name}: {key}"), &[found.own], &[read(&case[key])], tolerance);
            }
            for (key, found) in [("per_example", &found.per_row), ("m", &found.measures)] {
                if let Some(values) = case.get(key).filter(|_| case.get("user_quantiles").is_none()) {
                    let values: Vec<f64> = serde_json::from_value(values.clone()).unwrap();
                    assert_tables_close(
                        &format!("{name}: {key}"),
                        std::slice::from_ref(found),
                        &[values],
                        tolerance,
                    );
                }
            }
        }
        checked += 1;
    }
    println!("{checked} of {} loss cases checked in f64", cases.len());
    assert!(checked > 0, "no case of a known loss");
}
