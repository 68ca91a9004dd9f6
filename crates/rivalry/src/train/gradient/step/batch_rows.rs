//! Which rows of the scored tables the pairs of a batch use.

use super::Batch;

/// The rows of a batch, in tables of all rows or of those of the batch alone.
#[derive(Default)]
pub(super) struct BatchRows {
    /// The users of the batch, ascending and each once.
    pub distinct_users: Vec<u32>,
    /// The rows of these users in the tables of all users of this process.
    pub table_rows: Vec<u32>,
    /// Whether the scored tables hold the rows of the batch alone.
    pub gathered: bool,
    /// For each pair the row of its user.
    pub users: Vec<u32>,
    /// For each pair the row of its positive item.
    pub items: Vec<u32>,
}

impl BatchRows {
    /// Finds the rows of a batch; tables of all users start with this one. Items keep their numbers until the scorer, which
    /// knows all items of the step, renumbers them.
    pub fn set(&mut self, batch: Batch<'_>, first_user: u32, gathered: bool) {
        self.gathered = gathered;
        self.distinct_users.clear();
        self.distinct_users.extend_from_slice(batch.users);
        self.distinct_users.sort_unstable();
        self.distinct_users.dedup();
        self.table_rows.clear();
        self.table_rows.extend(self.distinct_users.iter().map(|user| user - first_user));
        self.users.clear();
        self.users.extend_from_slice(batch.users);
        for user in &mut self.users {
            *user = match gathered {
                true => self.distinct_users.partition_point(|other| *other < *user) as u32,
                false => *user - first_user,
            };
        }
        self.items.clear();
        self.items.extend_from_slice(batch.items);
    }
}
