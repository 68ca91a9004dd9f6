//! Scores of embeddings with a prior for each item.

use super::{EmbeddingScorer, ItemBlock, Query, ReferenceScores, Scorer};
use crate::Matrix;
use crate::backbone::{Embeddings, Score};
use crate::data::Interactions;

/// A scorer of embeddings whose scores have the prior of each item added, if there is one.
pub(crate) fn with_prior<'a>(scorer: Box<dyn Scorer + 'a>, prior: Option<&[f32]>) -> Box<dyn Scorer + 'a> {
    let (Some(prior), Some(Embeddings { users, items })) = (prior, scorer.embeddings()) else {
        return scorer;
    };
    let embeddings =
        Embeddings { users: with_column(users, |_| 1.0), items: with_column(items, |item| prior[item]) };
    let with_prior = EmbeddingScorer::new(embeddings, Score::Dot);
    Box::new(PriorScorer { scorer, with_prior })
}

/// A scorer with a prior: its vectors have one more number, which is one for a user and the prior for an item. So scores
/// are dot products of vectors also for other tools. Similarities and contributions are those without a prior.
struct PriorScorer<'a> {
    scorer: Box<dyn Scorer + 'a>,
    with_prior: EmbeddingScorer<'static>,
}

impl PriorScorer<'_> {
    fn prior(&self, item: usize) -> f32 {
        let row = self.with_prior.embeddings().items.row(item);
        row[row.len() - 1]
    }
}

impl Scorer for PriorScorer<'_> {
    fn n_users(&self) -> usize {
        self.scorer.n_users()
    }

    fn n_items(&self) -> usize {
        self.scorer.n_items()
    }

    fn query(&self, users: &[u32]) -> Query {
        self.with_prior.query(users)
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        match self.scorer.fold_in(histories) {
            Query::Vectors(vectors) => Query::Vectors(with_column(&vectors, |_| 1.0)),
            other => other,
        }
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        self.with_prior.score(query, items, out);
    }

    fn contributions(&self, history: &[u32], items: &[u32]) -> Matrix {
        self.scorer.contributions(history, items)
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let mut reference = self.scorer.reference_scores(user);
        let mut largest = 0.0f64;
        for (item, score) in reference.scores.iter_mut().enumerate() {
            let prior = f64::from(self.prior(item));
            *score += prior;
            largest = largest.max(prior.abs());
        }
        reference.rounding += 4.0 * f64::from(f32::EPSILON) * largest;
        reference
    }

    fn item_similarity(&self) -> Option<&dyn Scorer> {
        self.scorer.item_similarity()
    }

    fn user_similarity(&self) -> Option<&dyn Scorer> {
        self.scorer.user_similarity()
    }

    fn embeddings(&self) -> Option<&Embeddings> {
        Some(self.with_prior.embeddings())
    }

    fn drop_reference(&mut self) {
        self.scorer.drop_reference();
    }
}

/// The table with one more column.
fn with_column(table: &Matrix, last: impl Fn(usize) -> f32) -> Matrix {
    let dim = table.cols();
    let mut wider = Matrix::zeros(table.rows(), dim + 1);
    for row in 0..table.rows() {
        let (place, number) = (wider.row_mut(row), last(row));
        place[..dim].copy_from_slice(table.row(row));
        place[dim] = number;
    }
    wider
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::scorer::HistoryScorer;

    const PRIOR: [f32; 4] = [0.5, -0.25, 0.0, 2.0];

    fn train() -> Interactions {
        Interactions::from_pairs(3, 4, [(0, 1), (0, 2), (1, 0), (2, 3)])
    }

    fn plain(score: Score, of_items: bool) -> Box<dyn Scorer> {
        let table = |rows, salt| Matrix::from_fn(rows, 6, |r, c| ((r * 5 + c * 3 + salt) as f32 * 0.7).sin());
        let scorer = EmbeddingScorer::new(Embeddings { users: table(3, 1), items: table(4, 2) }, score);
        if of_items {
            Box::new(HistoryScorer::new(scorer, 0.0, Cow::Owned(train())))
        } else {
            Box::new(scorer)
        }
    }

    fn scores(scorer: &dyn Scorer, query: &Query) -> Vec<f32> {
        let mut scores = Matrix::default();
        scorer.score(query, ItemBlock::Range(0..4), &mut scores);
        scores.to_dense()
    }

    #[test]
    fn scores_of_all_users_have_the_prior_and_similarities_have_not() {
        for (score, of_items) in
            [(Score::Cosine, false), (Score::Dot, false), (Score::Cosine, true), (Score::Dot, true)]
        {
            let (without, with) = (plain(score, of_items), with_prior(plain(score, of_items), Some(&PRIOR)));
            let close = |with: &[f32], without: &[f32]| {
                let expected = without.iter().zip(PRIOR.iter().cycle()).map(|(score, prior)| score + prior);
                with.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6)
            };
            let of = |scorer: &dyn Scorer| scores(scorer, &scorer.query(&[2, 0, 1]));
            assert!(close(&of(&*with), &of(&*without)), "{score:?} {of_items}");
            let new = |scorer: &dyn Scorer| scores(scorer, &scorer.fold_in(&train()));
            assert!(close(&new(&*with), &new(&*without)), "{score:?} {of_items}");
            let embeddings = with.embeddings().unwrap();
            let (user, item) = (embeddings.users.row(1), embeddings.items.row(3));
            let product: f32 = user.iter().zip(item).map(|(a, b)| a * b).sum();
            assert!(
                (product - scores(&*with, &with.query(&[1]))[3]).abs() < 1e-6,
                "a score is a dot product"
            );
            let ReferenceScores { scores: exact, rounding } = with.reference_scores(1);
            for (score, exact) in scores(&*with, &with.query(&[1])).into_iter().zip(exact) {
                assert!((f64::from(score) - exact).abs() <= rounding.min(1e-5), "{score} {exact}");
            }
            let [similar, expected] = [&with, &without].map(|scorer| {
                let similarity = scorer.item_similarity().unwrap();
                scores(similarity, &similarity.query(&[0]))
            });
            assert_eq!(similar, expected);
            assert_eq!(with.contributions(&[0, 2], &[1]), without.contributions(&[0, 2], &[1]));
        }
        assert!(with_prior(plain(Score::Cosine, false), None).embeddings().unwrap().dim() == 6);
    }
}
