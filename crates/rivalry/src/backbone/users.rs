//! What the embedding of a user is.

/// What the embedding of a user is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Users {
    /// A row of the user table.
    #[default]
    Table,
    /// The mean of the embeddings of the user's items minus the mean over all items, plus this weight times a row of the
    /// user table. A weight of zero means that there is no such table.
    Items {
        /// The weight of the row of the user table.
        user_weight: f32,
    },
}

impl Users {
    /// The rows of the user table for so many users.
    pub fn table_rows(self, n_users: usize) -> usize {
        match self {
            Self::Items { user_weight: 0.0 } => 0,
            _ => n_users,
        }
    }
}
