//! `training.json`: four whole Adam steps. `lightgcn.json`: forward and adjoint.

use rivalry::backbone::{Backbone, Embeddings};
use rivalry::data::Interactions;
use rivalry::loss::{LOSSES, LossConfig};
use rivalry::models::{MODELS, ModelConfig};
use rivalry::optim::{OPTIMIZERS, OptimConfig};
use rivalry::train::gradient::{Batch, EmbeddingModel, GradientStep, OptimizedModel};

use crate::step::Given;
use crate::{
    assert_close, assert_tables_close, cases, embeddings, id_rows, ids, matrix, score, section, table,
    widened,
};

fn build(section: &toml::Table, train: &Interactions) -> Box<dyn Backbone> {
    ModelConfig::from_table("model", MODELS, section).unwrap().backbone(train).unwrap()
}

#[test]
fn four_steps_of_training() {
    let cases = cases("training.json");
    let mut checked = 0;
    for (n, case) in cases.iter().enumerate() {
        let (Some(loss), true) = (section(case), MODELS.iter().any(|model| model.name == case["backbone"]))
        else {
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
        let backbone = build(&backbone, &train);
        let number = |key: &str| case[key].as_f64().unwrap();
        let optim = format!(
            "type = 'adam'\nlr = {}\nweight_decay = {}\nbeta1 = {}\nbeta2 = {}\nepsilon = {}",
            number("lr"),
            number("weight_decay"),
            case["betas"][0],
            case["betas"][1],
            number("eps"),
        );
        let optim = OptimConfig::from_table("optim", OPTIMIZERS, &optim.parse().unwrap()).unwrap();
        let steps = case["steps"].as_array().unwrap();
        let n_negatives = steps[0]["negatives"][0].as_array().unwrap().len();
        let model = OptimizedModel::new(EmbeddingModel::new(backbone, score(case), start), &optim);
        let mut training = GradientStep::new(
            LossConfig::from_table("loss", LOSSES, &loss).unwrap().build(),
            model,
            None,
            &Given,
            n_negatives,
        );
        for (s, step) in steps.iter().enumerate() {
            let (users, items) = (ids(&step["batch_users"]), ids(&step["batch_items"]));
            let batch = Batch { users: &users, items: &items, train: &train, epoch: 0, batch: 0, seed: 0 };
            let negatives = id_rows(&step["negatives"]);
            let draw = |row: usize, out: &mut [u32]| out.copy_from_slice(&negatives[row]);
            let value = training.step_with(batch, &Given, &draw).unwrap();
            assert_close(&format!("{name}: step {s}"), value, step["value"].as_f64().unwrap(), 1e-3, 0.0);
        }
        let learned = training.model().model().learned();
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

#[test]
fn lightgcn_forward_and_adjoint() {
    for (n, case) in cases("lightgcn.json").iter().enumerate() {
        let start = embeddings(case);
        let edges: Vec<(u32, u32)> = serde_json::from_value(case["edges"].clone()).unwrap();
        let train = Interactions::from_pairs(start.users.rows(), start.items.rows(), edges);
        let section = format!("type = 'lightgcn'\nlayers = {}", case["layers"]);
        let mut lightgcn = build(&section.parse().unwrap(), &train);
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
