//! Matrix factorisation: the learned tables are scored as they are.

use super::{Backbone, Build, DIM, Embeddings, Entry, POPULARITY_WEIGHT, SCORE, Users};

pub(crate) const MF: Entry = Entry {
    name: "mf",
    summary: "matrix factorisation: one embedding for each user and item",
    params: &[DIM, SCORE, POPULARITY_WEIGHT],
    build: Build { backbone: |_, _| Box::new(Mf), extra_tables: 0, users: |_| Users::Table },
};

pub(super) struct Mf;

impl Backbone for Mf {
    fn is_identity(&self) -> bool {
        true
    }

    fn forward(&mut self, learned: &Embeddings, scored: &mut Embeddings) {
        scored.clone_from(learned);
    }

    fn backward(&mut self, _: &mut Embeddings) {}
}
