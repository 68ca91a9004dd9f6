use super::*;
use crate::scorer::fold_in;

/// User 2 has no items.
fn train() -> Interactions {
    Interactions::from_pairs(4, 5, [(0, 0), (0, 3), (1, 1), (3, 0), (3, 1), (3, 4)])
}

fn tables(users: usize) -> Embeddings {
    let table =
        |rows, salt| Matrix::from_fn(rows, 7, |r, c| ((r * 11 + c * 5 + salt) as f32 * 0.73).sin() + 0.2);
    Embeddings { users: table(users, 1), items: table(5, 4) }
}

fn scorer(score: Score, user_weight: f32) -> HistoryScorer<'static> {
    let tables = tables(if user_weight > 0.0 { 4 } else { 0 });
    HistoryScorer::new(EmbeddingScorer::new(tables, score), user_weight, Cow::Owned(train()))
}

fn scores(scorer: &HistoryScorer<'_>, query: &Query) -> Vec<f32> {
    let mut scores = Matrix::default();
    scorer.score(query, ItemBlock::Range(0..5), &mut scores);
    scores.to_dense()
}

#[test]
fn a_known_user_is_scored_as_a_new_one_with_the_same_items_to_the_bit() {
    for score in [Score::Cosine, Score::Dot] {
        let scorer = scorer(score, 0.0);
        let (known, new) =
            (scorer.query(&[3, 0, 2, 1]), scorer.fold_in(&train().gather_users(&[3, 0, 2, 1])));
        assert_eq!(scores(&scorer, &known), scores(&scorer, &new));
        let items = &tables(0).items;
        let items = if score == Score::Cosine { unit_rows(items) } else { items.clone() };
        let expected = fold_in(&items, &train(), score == Score::Cosine);
        let found = Scorer::embeddings(&scorer).unwrap();
        for (a, b) in found.users.to_dense().into_iter().zip(expected.to_dense()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
        assert_eq!((scorer.n_users(), scorer.n_items(), found.users.rows()), (4, 5, 4));
    }
}

#[test]
fn own_vectors_are_added_and_reference_scores_agree() {
    for (score, weight) in [(Score::Cosine, 0.0), (Score::Cosine, 0.4), (Score::Dot, 0.0), (Score::Dot, 0.4)]
    {
        let scorer = scorer(score, weight);
        for user in 0..4 {
            let query = scorer.query(&[user]);
            let ReferenceScores { scores: exact, rounding } = scorer.reference_scores(user);
            for (score, exact) in scores(&scorer, &query).into_iter().zip(exact) {
                assert!((f64::from(score) - exact).abs() <= rounding.min(1e-5), "{score} {exact}");
            }
        }
        // Without items only the own vector is left.
        let alone = scorer.vectors(&[2]);
        assert_eq!(alone.row(0).iter().any(|x| *x != 0.0), weight > 0.0);
        let similar = scorer.user_similarity().unwrap();
        let mut cosines = Matrix::default();
        similar.score(&similar.query(&[0]), ItemBlock::Range(0..1), &mut cosines);
        assert!((cosines.row(0)[0] - 1.0).abs() < 1e-6);
    }
}
