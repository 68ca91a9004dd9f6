//! Matrix factorisation: the learned tables are scored as they are.

use super::{Backbone, Embeddings, Entry};

pub(super) const MF: Entry = Entry {
    name: "mf",
    summary: "matrix factorisation: one embedding for each user and item",
    params: &[],
    build: |_, _| Box::new(Mf),
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
