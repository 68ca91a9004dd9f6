//! `metrics.json`: ranked lists and metrics, user by user and in the mean.

use rivalry::Matrix;
use rivalry::backbone::{Embeddings, Score};
use rivalry::config::Config;
use rivalry::data::{Dataset, Interactions, Parts};
use rivalry::eval::{EvalOptions, EvalPart, evaluate};
use rivalry::model::Model;
use rivalry::ranker::{Filter, Known, Ranker};
use rivalry::scorer::EmbeddingScorer;
use rivalry::tensors::Tensors;
use serde::Deserialize;

use crate::cases;

#[derive(Deserialize)]
struct Golden {
    k: usize,
    scores: Vec<Vec<f64>>,
    train: Vec<Vec<u32>>,
    test: Vec<Vec<u32>>,
    per_user: Vec<Option<Figures>>,
    mean_over_users_with_test_items: Figures,
}

#[derive(Deserialize)]
struct Figures {
    top: Option<Vec<u32>>,
    recall: f64,
    precision: f64,
    hit: f64,
    ndcg: f64,
    map: f64,
    mrr: f64,
}

impl Figures {
    fn named(&self, k: usize) -> [(String, f64); 6] {
        [
            ("Recall", self.recall),
            ("Precision", self.precision),
            ("HitRate", self.hit),
            ("NDCG", self.ndcg),
            ("MAP", self.map),
            ("MRR", self.mrr),
        ]
        .map(|(label, value)| (format!("{label}@{k}"), value))
    }
}

#[test]
fn metrics_agree_with_the_reference_figures() {
    let cases = cases("metrics.json");
    assert!(!cases.is_empty());
    for case in cases {
        let case: Golden = serde_json::from_value(case).unwrap();
        // Embeddings whose dot products are the given scores: users are unit vectors, items the columns.
        let scores = &case.scores;
        let users = Matrix::from_fn(scores.len(), scores.len(), |r, c| f32::from(u8::from(r == c)));
        let items = Matrix::from_fn(scores[0].len(), scores.len(), |i, u| scores[u][i] as f32);
        let part = |lists: &[Vec<u32>]| {
            let pairs = (0..).zip(lists).flat_map(|(u, list)| list.iter().map(move |&i| (u, i)));
            Interactions::from_pairs(users.rows(), items.rows(), pairs)
        };
        let nothing = Interactions::empty(users.rows(), items.rows());
        let ids = |n: usize| (0..n).map(|id| id.to_string()).collect();
        let parts = Parts { train: part(&case.train), valid: nothing, test: part(&case.test) };
        let data = Dataset::new("golden", ids(users.rows()), ids(items.rows()), parts, vec![]).unwrap();
        // A second length must not disturb the first.
        let options = EvalOptions { k: vec![case.k, 3], per_user: true, ..EvalOptions::default() };
        let embeddings = Embeddings { users, items };
        let scorer = EmbeddingScorer::new(embeddings.clone(), Score::Dot);
        let found = evaluate(&scorer, &data, EvalPart::Test, &options).unwrap();

        for (name, value) in case.mean_over_users_with_test_items.named(case.k) {
            assert!((found.metrics[&name[..]] - value).abs() < 1e-12, "mean {name}");
        }
        let per_user = found.per_user.unwrap();
        // The lists themselves, as a ranker gives them: what the user has in training is left out.
        let config = ["loss.type = 'sl'\nmodel.score = 'dot'".parse().unwrap()];
        let mut tensors = Tensors::default();
        tensors.put_embeddings("learned", &embeddings);
        let model = Model::new(&data, Config::from_layers(&config).unwrap(), tensors, Some(1));
        let filter = Filter {
            known: Known::Nothing,
            exclude: Some(&data.train.gather_users(&per_user.users)),
            ..Filter::default()
        };
        let lists = Ranker::new(model).unwrap().recommend(&per_user.users, case.k, &filter).unwrap();
        let expected: Vec<(u32, &Figures)> =
            (0..).zip(&case.per_user).filter_map(|(u, figures)| Some((u, figures.as_ref()?))).collect();
        assert_eq!(per_user.users, expected.iter().map(|x| x.0).collect::<Vec<_>>());
        for (n, (user, figures)) in expected.into_iter().enumerate() {
            assert_eq!(Some(lists.items(n)), figures.top.as_deref(), "user {user}, K = {}", case.k);
            for (name, value) in figures.named(case.k) {
                assert!((per_user.values[&name[..]][n] - value).abs() < 1e-12, "user {user}, {name}");
            }
        }
    }
}
