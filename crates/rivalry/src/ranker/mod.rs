//! Recommendations from a trained model: a [`Ranker`] scores, filters and ranks.

mod candidates;
pub(crate) mod check;
mod explain;
mod known;
mod lists;
#[cfg(test)]
mod tests;
mod top_k;

pub(crate) use self::candidates::{Candidates, Mask};
pub use self::explain::{Contribution, Explanation, Rival, Rivals, RivalsOf};
pub use self::known::Known;
pub use self::lists::RankedLists;
pub use self::top_k::QUERIES;
use self::top_k::{Ranking, top_k};
use crate::Matrix;
use crate::data::Interactions;
use crate::memory::MemoryLimit;
use crate::model::Model;
use crate::scorer::{Query, Scorer};
use crate::tensors::Tensors;
use crate::{InputError, Result};

/// Recommends items to known and to new users, and finds similar items and users.
///
/// A list has exactly `n` items after filtering, unless fewer candidates are left. Of equal scores the lower dense id
/// comes first. Lists are the same bits for any number of threads, and for one user the same as in a batch.
///
/// ```
/// use rivalry::config::{Config, source_layer};
/// use rivalry::ranker::{Filter, Ranker};
/// use rivalry::train::{self, Fitted, NoCheckpoints, NoObserver};
/// let config = Config::from_layers(&[source_layer("synthetic"), "model.type = 'popularity'".parse().unwrap()])?;
/// let data = rivalry::data::load(&config.data, &Default::default(), &mut |_| {})?;
/// let Fitted::Done(fit) = train::fit(&data, &config, None, &mut NoCheckpoints, &mut NoObserver)? else { panic!() };
/// let ranker = Ranker::new(fit.into_model(&data, config))?;
/// let lists = ranker.recommend(&[7], 10, &Filter::default())?;
/// assert_eq!(lists.items(0).len(), 10);
/// # Ok::<(), rivalry::Error>(())
/// ```
pub struct Ranker {
    model: Model,
    scorer: Box<dyn Scorer>,
    memory: MemoryLimit,
}

/// Which items may be recommended. The default leaves out what the model knows of the user.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    /// The items known of a user that are left out. For a new user these are the items of the history, unless it is
    /// [`Known::Nothing`].
    pub known: Known,
    /// Leave out these items too, one row per list.
    pub exclude: Option<&'a Interactions>,
    /// Recommend only these items: ascending, each once.
    pub allow: Option<&'a [u32]>,
    /// Never recommend these items: ascending.
    pub deny: &'a [u32],
}

impl Default for Filter<'_> {
    fn default() -> Self {
        Self { known: Known::All, exclude: None, allow: None, deny: &[] }
    }
}

impl Filter<'_> {
    /// Every item is a candidate.
    pub const NONE: Filter<'static> = Filter { known: Known::Nothing, exclude: None, allow: None, deny: &[] };
}

/// Users or items, to find their neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Users.
    Users,
    /// Items.
    Items,
}

impl Ranker {
    /// A ranker of a trained model.
    ///
    /// # Errors
    /// If the tensors are not those of such a model.
    pub fn new(model: Model) -> Result<Self> {
        let scorer = model.scorer()?;
        Ok(Self { model, scorer, memory: MemoryLimit::default() })
    }

    /// The same ranker with a memory limit: lists that would not fit are refused.
    #[must_use]
    pub fn with_memory_limit(self, memory: MemoryLimit) -> Self {
        Self { memory, ..self }
    }

    /// The same ranker without what only training, saving and verification need: about half the memory. The
    /// [tensors](Model::tensors) of the model are gone, and reference scores are computed from the scored embeddings.
    #[must_use]
    pub fn compact(mut self) -> Self {
        self.model.tensors = Tensors::default();
        self.scorer.drop_reference();
        self
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The model's scorer.
    pub fn scorer(&self) -> &dyn Scorer {
        &*self.scorer
    }

    /// The `n` best items of each of these users.
    ///
    /// # Errors
    /// If a user doesn't exist, `n` is 0, the filter doesn't fit, or a score is NaN.
    pub fn recommend(&self, users: &[u32], n: usize, filter: &Filter<'_>) -> Result<RankedLists> {
        check::ids("user", users, self.scorer.n_users())?;
        let mut candidates = self.candidates(users.len(), filter)?;
        for mask in filter.known.masks(&self.model, users)? {
            candidates = candidates.without(mask);
        }
        check::memory(users.len(), n.min(candidates.len()), self.memory)?;
        rank(&*self.scorer, &self.scorer.query(users), users, &candidates, n)
    }

    /// The `n` best items of users that the model has never seen, from the items of each. These are left out.
    ///
    /// # Errors
    /// As [`recommend`](Self::recommend), and if the histories are not of the model's items.
    pub fn recommend_new(
        &self,
        histories: &Interactions,
        n: usize,
        filter: &Filter<'_>,
    ) -> Result<RankedLists> {
        self.check_items(histories)?;
        let mut candidates = self.candidates(histories.n_users(), filter)?;
        if filter.known != Known::Nothing {
            candidates = candidates.without(Mask::OfList(histories));
        }
        let ids: Vec<u32> = (0..histories.n_users() as u32).collect();
        rank(&*self.scorer, &self.scorer.fold_in(histories), &ids, &candidates, n)
    }

    /// The `n` best items for these query vectors, as [`Scorer::fold_in`] makes them for models with embeddings.
    ///
    /// # Errors
    /// As [`recommend`](Self::recommend), and if the model has no embeddings or they have another dimension.
    pub fn recommend_vectors(&self, vectors: Matrix, n: usize, filter: &Filter<'_>) -> Result<RankedLists> {
        let dim = self.embeddings()?.dim();
        if vectors.cols() != dim {
            let what = format!("the vectors have {} numbers, and embeddings have {dim}", vectors.cols());
            return Err(InputError::new(what).into());
        }
        let candidates = self.candidates(vectors.rows(), filter)?;
        let ids: Vec<u32> = (0..vectors.rows() as u32).collect();
        rank(&*self.scorer, &Query::Vectors(vectors), &ids, &candidates, n)
    }

    /// The `n` nearest neighbours of each of these items or users, without the item or user itself.
    ///
    /// # Errors
    /// If one doesn't exist, among those allowed either, `n` is 0, or the model defines no similarity.
    pub fn similar(&self, side: Side, ids: &[u32], n: usize, filter: &Filter<'_>) -> Result<RankedLists> {
        let (scorer, kind) = match side {
            Side::Users => (self.scorer.user_similarity(), "user"),
            Side::Items => (self.scorer.item_similarity(), "item"),
        };
        let Some(scorer) = scorer else {
            let what = format!("{} defines no similarity of {kind}s", self.model.config.model.name());
            return Err(InputError::new(what).help("use a model with embeddings, such as mf").into());
        };
        check::ids(kind, ids, scorer.n_users())?;
        check::ids(kind, filter.allow.unwrap_or_default(), scorer.n_items())?;
        let mut candidates = Candidates::all(scorer.n_items()).allow(filter.allow).deny(filter.deny);
        if filter.known != Known::Nothing {
            candidates = candidates.without(Mask::Itself(ids));
        }
        rank(scorer, &scorer.query(ids), ids, &candidates, n)
    }

    /// The model's embeddings.
    ///
    /// # Errors
    /// If it has none.
    pub fn embeddings(&self) -> Result<&crate::backbone::Embeddings> {
        self.scorer.embeddings().ok_or_else(|| {
            InputError::new(format!("{} has no embeddings", self.model.config.model.name()))
                .help("use a model with embeddings, such as mf")
                .into()
        })
    }

    fn candidates<'a>(&self, lists: usize, filter: &Filter<'a>) -> Result<Candidates<'a>> {
        let n_items = self.scorer.n_items();
        if let Some(allow) = filter.allow {
            check::ids("item", allow, n_items)?;
        }
        let candidates = Candidates::all(n_items).allow(filter.allow).deny(filter.deny);
        match filter.exclude {
            None => Ok(candidates),
            Some(exclude) if exclude.n_users() == lists => Ok(candidates.without(Mask::OfList(exclude))),
            Some(exclude) => {
                let what =
                    format!("there are {lists} lists, but {} rows of items to exclude", exclude.n_users());
                Err(InputError::new(what).into())
            }
        }
    }

    fn check_items(&self, histories: &Interactions) -> Result<()> {
        let (given, known) = (histories.n_items(), self.scorer.n_items());
        if given == known {
            return Ok(());
        }
        Err(InputError::new(format!("the histories are of {given} items, and the model has {known}")).into())
    }
}

/// The `n` best candidates of each query, or fewer where there are fewer.
pub(crate) fn rank(
    scorer: &dyn Scorer,
    query: &Query,
    ids: &[u32],
    candidates: &Candidates<'_>,
    n: usize,
) -> Result<RankedLists> {
    if n == 0 {
        check::list_length(0, scorer.n_items())?;
    }
    let k = n.min(candidates.len());
    top_k(&Ranking { scorer, candidates }, query, ids, k)
}
