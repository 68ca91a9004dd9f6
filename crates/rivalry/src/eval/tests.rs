//! Whole evaluations, the policies one by one.

use super::*;
use crate::backbone::{Embeddings, Score};
use crate::data::{Dataset, IdMap, Interactions, Parts};
use crate::scorer::EmbeddingScorer;
use crate::{Error, Matrix};

fn dataset(train: Interactions, valid: Interactions, test: Interactions) -> Dataset {
    let ids = |n: usize| (0..n).map(|id| id.to_string()).collect::<IdMap>();
    let (users, items) = (ids(train.n_users()), ids(train.n_items()));
    Dataset::new("toy", users, items, Parts { train, valid, test }, vec![]).unwrap()
}

/// Embeddings whose dot products are the given scores: users are unit vectors, items the columns.
fn with_scores(scores: &[Vec<f64>]) -> EmbeddingScorer<'static> {
    let users = Matrix::from_fn(scores.len(), scores.len(), |r, c| f32::from(u8::from(r == c)));
    let items = Matrix::from_fn(scores[0].len(), scores.len(), |i, u| scores[u][i] as f32);
    EmbeddingScorer::new(Embeddings { users, items }, Score::Dot)
}

/// Three users who all rank the items 0, 1, 2, …; user 2 has no test item.
fn toy() -> (EmbeddingScorer<'static>, Dataset) {
    let falling: Vec<f64> = (0..7).map(|i| -f64::from(i)).collect();
    let scorer = with_scores(&[falling.clone(), falling.clone(), falling]);
    let part = |pairs: &[(u32, u32)]| Interactions::from_pairs(3, 7, pairs.iter().copied());
    // Training counts of items 0 to 6: 2, 3, 1, 0, 0, 0, 1.
    let train = part(&[(0, 0), (0, 1), (1, 0), (1, 1), (2, 1), (2, 2), (2, 6)]);
    (scorer, dataset(train, part(&[(0, 2), (1, 3)]), part(&[(0, 3), (1, 2), (1, 6)])))
}

fn recall(part: EvalPart, options: EvalOptions) -> f64 {
    let (scorer, data) = toy();
    evaluate(&scorer, &data, part, &EvalOptions { k: vec![1], ..options }).unwrap().metrics["Recall@1"]
}

#[test]
fn validation_items_compete_in_the_test_only_if_they_are_not_masked() {
    // User 0 sees 3 first once 2 is masked, and 2 otherwise; user 1 sees 2 first either way.
    assert_eq!(recall(EvalPart::Test, EvalOptions { mask: Mask::TrainValid, ..Default::default() }), 0.75);
    assert_eq!(recall(EvalPart::Test, EvalOptions { mask: Mask::Train, ..Default::default() }), 0.25);
    assert_eq!(EvalOptions::default().mask, Mask::TrainValid);
}

#[test]
fn test_items_compete_in_the_validation_whatever_the_mask() {
    // User 0 sees 2 first, a hit; user 1 sees 2 first, a test item, and misses 3.
    for mask in [Mask::Train, Mask::TrainValid] {
        assert_eq!(recall(EvalPart::Valid, EvalOptions { mask, ..Default::default() }), 0.5);
    }
}

#[test]
fn the_mean_over_all_users_counts_those_without_held_out_items_as_zero() {
    let over_all = recall(EvalPart::Test, EvalOptions { average: Average::All, ..Default::default() });
    assert!((over_all - 0.5).abs() < 1e-12);
}

#[test]
fn head_and_tail_are_measured_over_their_own_users() {
    let (scorer, mut data) = toy();
    let options = EvalOptions { k: vec![1, 4], buckets: true, average: Average::All, ..Default::default() };
    let found = evaluate(&scorer, &data, EvalPart::Test, &options).unwrap();
    // Two items each: the head is 1 and 0, the tail 4 and 5 (of the three never seen, 3 counts as the most frequent).
    assert_eq!(found.head.unwrap().users, 0);
    assert_eq!(found.tail.unwrap().users, 0);
    data.test = Interactions::from_pairs(3, 7, [(0, 3), (1, 4), (1, 6), (2, 0), (2, 5)]);
    let found = evaluate(&scorer, &data, EvalPart::Test, &options).unwrap();
    let (head, tail) = (found.head.unwrap(), found.tail.unwrap());
    // User 2 sees 0 3 4 5; user 1 sees 2 4 5 6.
    assert_eq!((head.users, head.metrics["Recall@1"]), (1, 1.0));
    assert_eq!((tail.users, tail.metrics["Recall@1"], tail.metrics["Recall@4"]), (2, 0.0, 1.0));
    assert_eq!((tail.metrics["MRR@4"], tail.metrics["Precision@4"]), ((0.5 + 0.25) / 2.0, 0.25));
}

#[test]
fn results_are_serialised_without_what_was_not_asked_for() {
    let (scorer, data) = toy();
    let mut options = EvalOptions { k: vec![2], ..Default::default() };
    let found = evaluate(&scorer, &data, EvalPart::Test, &options).unwrap();
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json.as_object().unwrap().keys().collect::<Vec<_>>(), ["metrics", "users"]);
    options.beyond_accuracy = true;
    options.per_user = true;
    let json = serde_json::to_value(evaluate(&scorer, &data, EvalPart::Test, &options).unwrap()).unwrap();
    assert_eq!(json["per_user"]["users"], serde_json::json!([0, 1]));
    // The lists are 3 4 and 2 4.
    assert_eq!(json["beyond"]["Coverage@2"], 3.0 / 7.0);
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_way_out() {
    let (scorer, mut data) = toy();
    let refusal = |scorer: &EmbeddingScorer<'_>, data: &Dataset, k: Vec<usize>| {
        let options = EvalOptions { k, ..Default::default() };
        let error = evaluate(scorer, data, EvalPart::Test, &options).unwrap_err();
        assert!(matches!(error, Error::Input(_)));
        error.to_string()
    };
    let too_long = refusal(&scorer, &data, vec![5, 20]);
    assert_eq!(too_long, "eval.k: K = 20, but there are only 7 items\n  help: choose a K of at most 7");
    assert!(refusal(&scorer, &data, vec![5, 0]).contains("K = 0, but a list has at least one item"));
    assert!(refusal(&scorer, &data, vec![]).contains("no K to evaluate at"));
    let other = with_scores(&vec![vec![0.0; 7]; 4]);
    assert!(refusal(&other, &data, vec![1]).contains("the model has 4 users and 7 items"));
    data.test = Interactions::empty(3, 7);
    assert!(refusal(&scorer, &data, vec![1]).contains("the data 'toy' have no test set"));
}
