//! What users did since the model was trained, from the feedback.

use std::collections::{HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

/// The items of each user's feedback, by original id: models come and go.
#[derive(Default)]
pub(crate) struct Seen {
    items: RwLock<HashMap<String, HashSet<String>>>,
}

impl Seen {
    pub fn add(&self, user: &str, item: &str) {
        let mut items = self.items.write().unwrap_or_else(PoisonError::into_inner);
        items.entry(user.to_owned()).or_default().insert(item.to_owned());
    }

    /// The items of a user.
    pub fn of(&self, user: &str) -> Vec<String> {
        let items = self.items.read().unwrap_or_else(PoisonError::into_inner);
        items.get(user).map(|items| items.iter().cloned().collect()).unwrap_or_default()
    }
}
