//! Scores that are dot products of embeddings.

use std::borrow::Cow;
use std::sync::OnceLock;

use rivalry_kernels::{LANES, Lane, ZERO, dots_packed, pack_panels};

use super::{ItemBlock, Query, ReferenceScores, Scorer, fold_in, unit_rows};
use crate::Matrix;
use crate::backbone::{Embeddings, Score, Unit};
use crate::data::Interactions;

/// Vectors of new users from the scored item embeddings and the items of each user.
type FoldIn = dyn Fn(&Matrix, &Interactions) -> Matrix + Send + Sync;

/// A scorer whose scores are dot products, or cosines, of embeddings.
pub struct EmbeddingScorer<'a> {
    /// The embeddings whose dot products are the scores.
    scored: Cow<'a, Embeddings>,
    /// The same before they were scaled to length one, where the score is the cosine and they were not already.
    raw: Option<Embeddings>,
    score: Score,
    /// The item embeddings, packed for products with many queries or with one.
    panels: Vec<Lane>,
    /// Makes vectors of new users, where the model has a way of its own.
    fold_in: Option<Box<FoldIn>>,
    /// The lengths of the item embeddings in `f64`, for reference scores.
    item_norms: OnceLock<Vec<f64>>,
    item_similarity: OnceLock<Box<EmbeddingScorer<'static>>>,
    user_similarity: OnceLock<Box<EmbeddingScorer<'static>>>,
}

impl EmbeddingScorer<'static> {
    /// A scorer of these embeddings.
    pub fn new(embeddings: Embeddings, score: Score) -> Self {
        match score {
            Score::Dot => Self::of(Cow::Owned(embeddings), None, score),
            Score::Cosine => {
                let mut unit = Unit::like(&embeddings);
                unit.set(&embeddings);
                Self::of(Cow::Owned(unit.embeddings), Some(embeddings), score)
            }
        }
    }

    /// The similarity of the rows of a table: their cosine.
    fn similarity(table: &Matrix) -> Box<Self> {
        let unit = unit_rows(table);
        let embeddings = Embeddings { users: unit.clone(), items: unit };
        Box::new(Self::of(Cow::Owned(embeddings), None, Score::Cosine))
    }
}

impl<'a> EmbeddingScorer<'a> {
    /// A scorer of embeddings that are as they are scored: of length one where the score is the cosine.
    pub fn scored(scored: &'a Embeddings, score: Score) -> Self {
        Self::of(Cow::Borrowed(scored), None, score)
    }

    /// The same scorer with another way to make vectors of new users: from the scored item embeddings and the items of
    /// each user.
    #[must_use]
    pub fn with_fold_in(
        self,
        fold_in: impl Fn(&Matrix, &Interactions) -> Matrix + Send + Sync + 'static,
    ) -> Self {
        Self { fold_in: Some(Box::new(fold_in)), ..self }
    }

    fn of(scored: Cow<'a, Embeddings>, raw: Option<Embeddings>, score: Score) -> Self {
        let panels = pack(&scored.items);
        Self {
            scored,
            raw,
            score,
            panels,
            fold_in: None,
            item_norms: OnceLock::new(),
            item_similarity: OnceLock::new(),
            user_similarity: OnceLock::new(),
        }
    }
}

impl Scorer for EmbeddingScorer<'_> {
    fn n_users(&self) -> usize {
        self.scored.users.rows()
    }

    fn n_items(&self) -> usize {
        self.scored.items.rows()
    }

    fn query(&self, users: &[u32]) -> Query {
        Query::Vectors(self.scored.users.gather(users))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        Query::Vectors(match &self.fold_in {
            Some(fold_in) => fold_in(&self.scored.items, histories),
            None => fold_in(&self.scored.items, histories, self.score == Score::Cosine),
        })
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        let Query::Vectors(vectors) = query else { panic!("queries of this scorer are vectors") };
        let lanes = vectors.lanes();
        assert_eq!(lanes, self.scored.items.lanes(), "queries of another dimension");
        out.resize(vectors.rows(), items.len());
        match items {
            ItemBlock::Range(range) if (range.start as usize).is_multiple_of(LANES) => {
                let (first, n) = (range.start as usize / LANES, range.len().div_ceil(LANES));
                let width = lanes * LANES;
                let panels = &self.panels[first * width..(first + n) * width];
                let stride = out.lanes();
                dots_packed(vectors.as_lanes(), lanes, panels, out.as_lanes_mut(), stride);
            }
            _ => {
                let ids: Vec<u32> = items.iter().collect();
                let panels = pack(&self.scored.items.gather(&ids));
                let stride = out.lanes();
                dots_packed(vectors.as_lanes(), lanes, &panels, out.as_lanes_mut(), stride);
            }
        }
    }

    fn reference_scores(&self, user: u32) -> ReferenceScores {
        let Embeddings { users, items } = self.raw.as_ref().unwrap_or(&self.scored);
        let norms =
            self.item_norms.get_or_init(|| (0..items.rows()).map(|item| norm(items.row(item))).collect());
        let query = users.row(user as usize);
        let cosine = self.score == Score::Cosine;
        let divisor = |norm: f64| if cosine && norm > 0.0 { norm } else { 1.0 };
        let query_divisor = divisor(norm(query));
        let score = |(item, &norm): (usize, &f64)| {
            let products = query.iter().zip(items.row(item)).map(|(&a, &b)| f64::from(a) * f64::from(b));
            products.sum::<f64>() / (query_divisor * divisor(norm))
        };
        let longest = if cosine { 1.0 } else { norms.iter().copied().fold(0.0, f64::max) };
        let length = norm(query) / query_divisor * longest;
        ReferenceScores {
            scores: norms.iter().enumerate().map(score).collect(),
            rounding: 2.0 * (query.len() + 16) as f64 * f64::from(f32::EPSILON) * length,
        }
    }

    fn item_similarity(&self) -> Option<&dyn Scorer> {
        Some(&**self.item_similarity.get_or_init(|| EmbeddingScorer::similarity(&self.scored.items)))
    }

    fn user_similarity(&self) -> Option<&dyn Scorer> {
        Some(&**self.user_similarity.get_or_init(|| EmbeddingScorer::similarity(&self.scored.users)))
    }

    fn embeddings(&self) -> Option<&Embeddings> {
        Some(&self.scored)
    }
}

/// Packs a table into panels.
fn pack(table: &Matrix) -> Vec<Lane> {
    let width = table.lanes() * LANES;
    let mut panels = vec![ZERO; table.rows().div_ceil(LANES) * width];
    pack_panels(table.as_lanes(), table.lanes(), &mut panels);
    panels
}

fn norm(row: &[f32]) -> f64 {
    row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}
