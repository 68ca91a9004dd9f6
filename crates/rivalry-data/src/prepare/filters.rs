//! What the filters of a preparation leave, for the note on it.

use crate::error::{InputError, Result};
use crate::{Preparation, count};

/// The filters so far, and what each left.
pub(crate) struct Filters<'a> {
    preparation: &'a Preparation,
    steps: Vec<String>,
}

impl<'a> Filters<'a> {
    /// Begins with this many records, of which some are rated high enough.
    ///
    /// # Errors
    /// If there are no records.
    pub fn new(preparation: &'a Preparation, read: usize, rated: usize) -> Result<Self> {
        if read == 0 {
            return Err(InputError::new("there are no records").help("give a file with interactions").into());
        }
        let mut steps = vec![format!("{} read", count(read, "record"))];
        if let Some(min) = preparation.min_rating {
            steps.push(format!("{} rated {min} or more", count(rated, "record")));
        }
        Ok(Self { preparation, steps })
    }

    /// Whether there is a k-core filter.
    pub fn has_core(&self) -> bool {
        self.preparation.user_core > 1 || self.preparation.item_core > 1
    }

    /// The k-core has this many pairs.
    pub fn core(&mut self, pairs: usize) {
        let Preparation { user_core, item_core, .. } = *self.preparation;
        let pairs = count(pairs, "pair");
        self.steps
            .push(format!("{pairs} in the core (users with {user_core}, items with {item_core} or more)"));
    }

    /// Whether ids without pairs are left out.
    pub fn any(&self) -> bool {
        self.steps.len() > 1
    }

    /// Refuses filters that leave nothing.
    pub fn check(&self, pairs: usize) -> Result<()> {
        if pairs > 0 {
            return Ok(());
        }
        let error = InputError::new(format!("the filters leave nothing: {}", self.steps.join("; ")));
        let help = "lower `data.prepare.min_rating`, `data.prepare.user_core` or `data.prepare.item_core`";
        Err(error.help(help).into())
    }

    /// The note on the filters.
    pub fn note(&self, users: usize, items: usize) -> String {
        let (users, items) = (count(users, "user"), count(items, "item"));
        format!("filtered: {}; {users} and {items} remain", self.steps.join("; "))
    }
}
