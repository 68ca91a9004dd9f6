//! Whom `rivalry recommend` recommends to: users of the model, or new users with histories of their own.

use std::ops::Range;
use std::path::Path;

use rivalry::data::read::{ReadOptions, read};
use rivalry::data::{IdMap, Interactions, RawParts, count};
use rivalry::memory::MemoryLimit;
use rivalry::model::Model;
use rivalry::ranker::{Filter, RankedLists, Ranker};
use rivalry::{InputError, Result};

/// The users that lists are made for.
pub enum Targets {
    /// Users that the model was trained on.
    Known(Vec<u32>),
    /// New users.
    New { ids: IdMap, histories: Interactions },
}

impl Targets {
    /// New users from a file of interactions, in any format that is read. Also returns what should be said about it.
    pub fn read_histories(path: &Path, model: &Model, memory: MemoryLimit) -> Result<(Self, Vec<String>)> {
        let raw = read(path, &ReadOptions::default(), memory)?;
        let RawParts::Whole(records) = raw.parts else {
            let what = "this data set is split, and histories are one log of interactions";
            return Err(InputError::new(what).file(path).into());
        };
        let dense: Vec<Option<u32>> = raw.items.iter().map(|item| model.items.dense(item)).collect();
        let pairs = records.user.iter().zip(&records.item);
        let known = pairs.filter_map(|(&user, &item)| Some((user, dense[item as usize]?)));
        let histories = Interactions::from_pairs(raw.users.len(), model.items.len(), known);
        let mut notes = Vec::new();
        let unknown = dense.iter().filter(|item| item.is_none()).count();
        if unknown > 0 {
            notes.push(format!(
                "skipped {unknown} of {} not in the training data",
                count(dense.len(), "item")
            ));
        }
        let users = || 0..raw.users.len() as u32;
        let empty = users().filter(|&user| histories.items_of(user).is_empty()).count();
        if empty == raw.users.len() {
            let what = "no item of these histories is in the training data";
            let example = model.items.iter().next().unwrap_or_default();
            let help = format!("ids are those of the data, such as '{example}'");
            return Err(InputError::new(what).file(path).help(help).into());
        }
        let known = raw.users.iter().filter(|id| is_trained(model, id)).count();
        if known > 0 {
            let users = count(known, "user");
            notes.push(format!(
                "{users} of this file {} in the training data, too: their lists are made from the rows of this file alone; \
                 --user makes them from what the model knows",
                if known == 1 { "is" } else { "are" }
            ));
        }
        if empty == 0 {
            return Ok((Self::New { ids: raw.users, histories }, notes));
        }
        notes.push(format!(
            "skipped {} whose items are all unknown, of {}: there is nothing to recommend from",
            count(empty, "user"),
            raw.users.len()
        ));
        let left: Vec<u32> = users().filter(|&user| !histories.items_of(user).is_empty()).collect();
        let ids = left.iter().map(|&user| raw.users.original(user)).collect();
        Ok((Self::New { ids, histories: histories.gather_users(&left) }, notes))
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Known(users) => users.len(),
            Self::New { ids, .. } => ids.len(),
        }
    }

    /// All users' original ids, for the type of the column.
    pub fn ids<'a>(&'a self, model: &'a Model) -> &'a IdMap {
        match self {
            Self::Known(_) => &model.users,
            Self::New { ids, .. } => ids,
        }
    }

    /// The original id of the user at that place.
    pub fn id<'a>(&'a self, model: &'a Model, at: usize) -> &'a str {
        match self {
            Self::Known(users) => model.users.original(users[at]),
            Self::New { ids, .. } => ids.original(at as u32),
        }
    }

    /// The items that explain the recommendations of the user at that place.
    pub fn history<'a>(&'a self, model: &'a Model, at: usize) -> &'a [u32] {
        match self {
            Self::Known(users) => model.train.items_of(users[at]),
            Self::New { histories, .. } => histories.items_of(at as u32),
        }
    }

    /// The lists of the users at these places.
    pub fn rank(
        &self,
        ranker: &Ranker,
        places: Range<usize>,
        k: usize,
        filter: &Filter<'_>,
    ) -> Result<RankedLists> {
        match self {
            Self::Known(users) => ranker.recommend(&users[places], k, filter),
            Self::New { histories, .. } => ranker.recommend_new(&histories.slice_users(places), k, filter),
        }
    }
}

/// Whether the model has training items of the user with this id.
fn is_trained(model: &Model, id: &str) -> bool {
    model.users.dense(id).is_some_and(|user| !model.train.items_of(user).is_empty())
}
