//! Why an item is recommended: which of the user's items speak for it, and which items it competes with.

use super::{Filter, Ranker, Side, check};
use crate::data::Interactions;
use crate::scorer::{ItemBlock, Query, Scorer};
use crate::{Matrix, Result};

/// What an item of a user's history contributes to the score of a recommended item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    /// The item of the history.
    pub item: u32,
    /// Its part of the score that the model gives to a new user with this history.
    pub contribution: f32,
}

/// Why an item is recommended to a user with a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The score that the model gives the item for a new user with this history.
    pub score: f32,
    /// What each item of the history contributes to it, the largest first. With embeddings these add up to the score.
    pub contributions: Vec<Contribution>,
}

/// An item that competes with a recommended one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rival {
    /// The item.
    pub item: u32,
    /// Its score for the user.
    pub score: f32,
    /// Its similarity to the recommended item, if the model defines one.
    pub similarity: Option<f32>,
}

/// The items that a recommended item competes with.
#[derive(Clone, Debug, PartialEq)]
pub struct Rivals {
    /// The hardest: those with the highest scores for the user.
    pub hardest: Vec<Rival>,
    /// The most similar; `None` if the model defines no similarity of items.
    pub similar: Option<Vec<Rival>>,
}

impl Ranker {
    /// Which items of a history speak for an item.
    ///
    /// A known user's embedding is trained and is no sum over items, so what is explained is the score that the model
    /// would give to a new user with the same history ([`Scorer::contributions`]). It works for every model.
    ///
    /// # Errors
    /// If an item doesn't exist, or the score is NaN.
    pub fn explain(&self, history: &[u32], item: u32) -> Result<Explanation> {
        check::ids("item", history, self.scorer.n_items())?;
        check::ids("item", &[item], self.scorer.n_items())?;
        let histories =
            Interactions::from_pairs(1, self.scorer.n_items(), history.iter().map(|&item| (0, item)));
        let allow = Some(&[item][..]);
        let lists = self.recommend_new(&histories, 1, &Filter { allow, ..Filter::NONE })?;
        let shares = self.scorer.contributions(histories.items_of(0), &[item]);
        let contribution =
            |(row, &item): (usize, &u32)| Contribution { item, contribution: shares.row(row)[0] };
        let mut contributions: Vec<_> = histories.items_of(0).iter().enumerate().map(contribution).collect();
        contributions.sort_by(|a, b| b.contribution.total_cmp(&a.contribution).then(a.item.cmp(&b.item)));
        Ok(Explanation { score: lists.scores(0)[0], contributions })
    }

    /// The `n` items with the highest scores for a user besides this one, and the `n` most similar to it. The user is a
    /// known one, or a new one with the history; their items, as the filter says, are left out.
    ///
    /// # Errors
    /// As [`recommend`](Self::recommend).
    pub fn rivals(&self, user: RivalsOf<'_>, item: u32, n: usize, filter: &Filter<'_>) -> Result<Rivals> {
        check::ids("item", &[item], self.scorer.n_items())?;
        let query = match user {
            RivalsOf::User(user) => {
                check::ids("user", &[user], self.scorer.n_users())?;
                self.scorer.query(&[user])
            }
            RivalsOf::History(history) => self.scorer.fold_in(history),
        };
        // One more than asked for, in case the item is among them.
        let lists = match user {
            RivalsOf::User(user) => self.recommend(&[user], n + 1, filter)?,
            RivalsOf::History(history) => self.recommend_new(history, n + 1, filter)?,
        };
        let hardest: Vec<(u32, f32)> = lists.list(0).filter(|&(other, _)| other != item).take(n).collect();
        let Some(similarity) = self.scorer.item_similarity() else {
            let rival = |&(item, score): &(u32, f32)| Rival { item, score, similarity: None };
            return Ok(Rivals { hardest: hardest.iter().map(rival).collect(), similar: None });
        };
        let similarities = scores_of(similarity, &similarity.query(&[item]), &hardest);
        let rival = |(&(item, score), similarity)| Rival { item, score, similarity: Some(similarity) };
        let hardest = hardest.iter().zip(similarities).map(rival).collect();
        let lists = self.similar(Side::Items, &[item], n, &Filter::default())?;
        let similar: Vec<(u32, f32)> = lists.list(0).collect();
        let scores = scores_of(&*self.scorer, &query, &similar);
        let rival = |(&(item, similarity), score)| Rival { item, score, similarity: Some(similarity) };
        Ok(Rivals { hardest, similar: Some(similar.iter().zip(scores).map(rival).collect()) })
    }
}

/// The scores of the items of a list, in its order.
fn scores_of(scorer: &dyn Scorer, query: &Query, list: &[(u32, f32)]) -> Vec<f32> {
    let mut ids: Vec<u32> = list.iter().map(|&(item, _)| item).collect();
    ids.sort_unstable();
    let mut scores = Matrix::default();
    if !ids.is_empty() {
        scorer.score(query, ItemBlock::Ids(&ids), &mut scores);
    }
    list.iter().map(|&(item, _)| scores.row(0)[ids.partition_point(|&id| id < item)]).collect()
}

/// Whose rivals are wanted.
#[derive(Clone, Copy, Debug)]
pub enum RivalsOf<'a> {
    /// Those of a known user.
    User(u32),
    /// Those of a new user with this history, the only row.
    History(&'a Interactions),
}
