//! The interactions of a model and new ones, over the users and items of both.

use std::collections::{BTreeSet, HashMap};

use rivalry::data::{Dataset, IdMap, Interactions, Parts, RawData, RawParts, Records};
use rivalry::model::Model;

use super::{NewLog, NewLogRecord};
use crate::{InputError, Result};

/// Ids in the order of their numbers, the old ones first.
struct Ids {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    old: usize,
}

impl Ids {
    fn of(ids: &IdMap) -> Self {
        let names: Vec<String> = ids.iter().map(str::to_owned).collect();
        let numbers = (0..).zip(&names).map(|(number, name)| (name.clone(), number)).collect();
        Self { old: names.len(), names, numbers }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn added(&self) -> usize {
        self.names.len() - self.old
    }
}

/// Everything that is known of the users.
pub(super) struct Merged {
    users: Ids,
    items: Ids,
    pairs: BTreeSet<(u32, u32)>,
}

impl Merged {
    /// What a model knows: training, validation and test interactions.
    pub fn of(model: &Model) -> Result<Self> {
        let pairs = model.train.pairs().chain(model.held_out.pairs()).collect();
        Ok(Self { users: Ids::of(&model.users), items: Ids::of(&model.items), pairs })
    }

    pub fn new_users(&self) -> usize {
        self.users.added()
    }

    pub fn new_items(&self) -> usize {
        self.items.added()
    }

    /// Takes in a log.
    pub fn add(&mut self, raw: RawData, log: &NewLog, min_rating: Option<f32>) -> Result<NewLogRecord> {
        let known = |ids: &IdMap, numbers: &Ids| {
            ids.is_empty()
                || ids.iter().any(|id| numbers.numbers.get(id).is_some_and(|&n| (n as usize) < numbers.old))
        };
        if !known(&raw.users, &self.users) && !known(&raw.items, &self.items) {
            return Err(InputError::new("has no user and no item of the run")
                .file(&log.source)
                .help("give a log with the ids of the run, and name its columns if they were mistaken (--user-col, --item-col)")
                .into());
        }
        let mut record = NewLogRecord { source: log.source.clone(), ..NewLogRecord::default() };
        for records in parts(&raw) {
            for row in 0..records.user.len() {
                record.rows += 1;
                let rating = records.rating.as_ref().map(|ratings| ratings[row]);
                if min_rating.zip(rating).is_some_and(|(min, rating)| rating < min || rating.is_nan()) {
                    record.low_rated += 1;
                    continue;
                }
                let user = self.users.number(raw.users.original(records.user[row]));
                let item = self.items.number(raw.items.original(records.item[row]));
                if self.pairs.insert((user, item)) {
                    record.new_pairs += 1;
                }
            }
        }
        Ok(record)
    }

    /// The data set, all of it for training.
    pub fn dataset(self, name: &str) -> Result<Dataset> {
        let (n_users, n_items) = (self.users.names.len(), self.items.names.len());
        let empty = || Interactions::empty(n_users, n_items);
        let train = Interactions::from_pairs(n_users, n_items, self.pairs);
        let parts = Parts { train, valid: empty(), test: empty() };
        let ids = |ids: Ids| ids.names.iter().collect::<IdMap>();
        Dataset::new(name, ids(self.users), ids(self.items), parts, vec![])
    }
}

fn parts(raw: &RawData) -> Vec<&Records> {
    match &raw.parts {
        RawParts::Whole(records) => vec![records],
        RawParts::Given { train, valid, test } => [train].into_iter().chain(valid).chain([test]).collect(),
    }
}
