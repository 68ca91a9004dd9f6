//! The similarity of the rows of a table: their cosine.

use std::sync::Arc;

use rivalry_kernels::Lane;

use super::embedding::Tables;
use super::packed::{dots, pack};
use super::{ItemBlock, Query, ReferenceScores, Scorer, unit_rows};
use crate::Matrix;
use crate::data::Interactions;

/// The cosines of the rows of a table, as a scorer whose users and items are these rows.
pub(super) struct Similarity<'a> {
    source: Source<'a>,
}

/// Where the rows of length one are, and their panels.
enum Source<'a> {
    /// The items of a scorer whose score is the cosine: rows and panels are there.
    ScoredItems(Arc<Tables<'a>>),
    /// Its users: the rows are there.
    ScoredUsers(Arc<Tables<'a>>, Vec<Lane>),
    /// Rows that had other lengths.
    Own(Matrix, Vec<Lane>),
}

impl<'a> Similarity<'a> {
    pub fn of_scored_items(tables: Arc<Tables<'a>>) -> Self {
        Self { source: Source::ScoredItems(tables) }
    }

    pub fn of_scored_users(tables: Arc<Tables<'a>>) -> Self {
        let panels = pack(&tables.scored.users);
        Self { source: Source::ScoredUsers(tables, panels) }
    }

    pub fn of_rows(table: &Matrix) -> Self {
        let unit = unit_rows(table);
        let panels = pack(&unit);
        Self { source: Source::Own(unit, panels) }
    }

    fn rows(&self) -> &Matrix {
        match &self.source {
            Source::ScoredItems(tables) => &tables.scored.items,
            Source::ScoredUsers(tables, _) => &tables.scored.users,
            Source::Own(rows, _) => rows,
        }
    }

    fn panels(&self) -> &[Lane] {
        match &self.source {
            Source::ScoredItems(tables) => &tables.panels,
            Source::ScoredUsers(_, panels) | Source::Own(_, panels) => panels,
        }
    }
}

impl Scorer for Similarity<'_> {
    fn n_users(&self) -> usize {
        self.rows().rows()
    }

    fn n_items(&self) -> usize {
        self.rows().rows()
    }

    fn query(&self, rows: &[u32]) -> Query {
        Query::Vectors(self.rows().gather(rows))
    }

    fn fold_in(&self, histories: &Interactions) -> Query {
        Query::Vectors(super::fold_in(self.rows(), histories, true))
    }

    fn score(&self, query: &Query, items: ItemBlock<'_>, out: &mut Matrix) {
        let Query::Vectors(vectors) = query else { panic!("queries of this scorer are vectors") };
        dots(vectors, self.rows(), self.panels(), items, out);
    }

    fn reference_scores(&self, row: u32) -> ReferenceScores {
        let rows = self.rows();
        let query = rows.row(row as usize);
        let cosine = |other: usize| {
            query.iter().zip(rows.row(other)).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum::<f64>()
        };
        ReferenceScores {
            scores: (0..rows.rows()).map(cosine).collect(),
            rounding: 2.0 * (query.len() + 16) as f64 * f64::from(f32::EPSILON),
        }
    }
}
