//! A model as it is served.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use rivalry::data::{IdMap, Interactions};
use rivalry::files::checksum::checksum;
use rivalry::memory::MemoryLimit;
use rivalry::model::Model;
use rivalry::ranker::{Filter, Known, Ranker};
use rivalry::{Error, InputError, Result};
use rivalry_runs::inspect::{ReferenceBatch, Slate};
use rivalry_runs::run::model_file;

use crate::compute::UserTask;
use crate::file_stamp::FileStamp;
use crate::index::Index;

/// The error where there is no model file.
fn no_model(path: &Path) -> Error {
    let folder = path.parent().unwrap_or(path);
    let best = folder.join("best");
    let help = match model_file(&best).is_file() {
        true => format!("did you mean {}?", best.display()),
        false => "give the folder of a run, such as runs/auto-log/best, or a model file".to_owned(),
    };
    InputError::new("there is no model").file(path).help(help).into()
}

/// Items with scores, best first.
pub(crate) type List = Vec<(u32, f32)>;

/// A model in memory. It never changes: a new one takes its place.
pub(crate) struct Served {
    /// The name that requests call it by.
    pub name: String,
    /// The XXH3-64 of the model file.
    pub checksum: String,
    /// The file that it was read from, as it was then.
    pub stamp: FileStamp,
    /// When it was loaded.
    pub loaded: jiff::Timestamp,
    pub ranker: Ranker,
    /// The number of training interactions of each item.
    pub counts: Vec<u32>,
    /// All items, the most popular first.
    popular: Vec<u32>,
    pub index: Option<Index>,
    reference: OnceLock<Option<ReferenceBatch>>,
}

impl Served {
    /// Reads the model of a run folder or a model file.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn load(name: &str, path: &Path, approximate_from: Option<usize>) -> Result<Self> {
        let path = model_file(path);
        let failed = |e: std::io::Error| match e.kind() {
            std::io::ErrorKind::NotFound => no_model(&path),
            _ => Error::io("read", &path, e),
        };
        // First, so that a change while the file is read is seen as one.
        let stamp = FileStamp::of(&path).map_err(failed)?;
        // The file, its tensors, and the tables made of them.
        MemoryLimit::default().require(stamp.len().saturating_mul(4), "loading this model")?;
        let bytes = std::fs::read(&path).map_err(failed)?;
        let checksum = checksum(&bytes);
        let model = Model::from_bytes(&bytes).map_err(|error| match error {
            Error::Input(error) => error.file(&path).into(),
            other => other,
        })?;
        drop(bytes);
        let ranker = Ranker::new(model)?.compact();
        let counts = ranker.model().train.item_counts();
        let mut popular: Vec<u32> = (0..counts.len() as u32).collect();
        // Stable: of equal counts the lower dense id comes first.
        popular.sort_by_key(|&item| std::cmp::Reverse(counts[item as usize]));
        let index = approximate_from
            .filter(|&from| counts.len() >= from)
            .map(|_| Index::build(&ranker))
            .transpose()?
            .flatten();
        // The first lookup builds the indexes of the ids: not while a request waits.
        let _ = (ranker.model().users.dense(""), ranker.model().items.dense(""));
        Ok(Self {
            name: name.to_owned(),
            checksum,
            stamp,
            loaded: jiff::Timestamp::now(),
            ranker,
            counts,
            popular,
            index,
            reference: OnceLock::new(),
        })
    }

    pub fn model(&self) -> &Model {
        self.ranker.model()
    }

    pub fn users(&self) -> &IdMap {
        &self.model().users
    }

    pub fn items(&self) -> &IdMap {
        &self.model().items
    }

    /// The dense ids, ascending and each once, of those items that the model knows.
    pub fn known_items<S: AsRef<str>>(&self, items: &[S]) -> Vec<u32> {
        let mut known: Vec<u32> = items.iter().filter_map(|item| self.items().dense(item.as_ref())).collect();
        known.sort_unstable();
        known.dedup();
        known
    }

    /// One history, as the library takes it.
    pub fn history(&self, items: &[u32]) -> Interactions {
        Interactions::from_pairs(1, self.items().len(), items.iter().map(|&item| (0, item)))
    }

    /// The lists of known users.
    pub fn rank_users(&self, tasks: &[&UserTask], allowed: &Allowed) -> Result<Vec<List>> {
        if let (Some(index), true) = (&self.index, allowed.is_everything()) {
            return tasks.iter().map(|task| index.user(&self.ranker, task)).collect();
        }
        if tasks.is_empty() || allowed.is_nothing() {
            return Ok(vec![Vec::new(); tasks.len()]);
        }
        let users: Vec<u32> = tasks.iter().map(|task| task.user).collect();
        let longest = tasks.iter().map(|task| task.n).max().unwrap_or_default();
        let excluded =
            (0..).zip(tasks).flat_map(|(list, task)| task.exclude.iter().map(move |&item| (list, item)));
        let exclude = Interactions::from_pairs(tasks.len(), self.items().len(), excluded);
        let filter = Filter {
            known: Known::All,
            exclude: (!exclude.is_empty()).then_some(&exclude),
            allow: allowed.allow.as_deref(),
            deny: &allowed.deny,
        };
        let lists = self.ranker.recommend(&users, longest, &filter)?;
        // The first items of a longer list are the shorter list.
        let cut = |(list, task): (usize, &&UserTask)| lists.list(list).take(task.n).collect();
        Ok(tasks.iter().enumerate().map(cut).collect())
    }

    /// The most popular items that are not among these; the score is the number of interactions.
    pub fn popular<'a>(&'a self, left_out: &'a [u32]) -> impl Iterator<Item = (u32, f32)> + 'a {
        let kept = self.popular.iter().filter(|item| left_out.binary_search(item).is_err());
        kept.map(|&item| (item, self.counts[item as usize] as f32))
    }

    /// How contested a user's item is, and the temperature that the loss gives the pair; `None` if the loss has none.
    pub fn slate(&self, user: u32, item: u32) -> Option<Slate> {
        let embeddings = self.ranker.scorer().embeddings()?;
        let reference = self.reference.get_or_init(|| ReferenceBatch::new(self.model(), embeddings).ok());
        reference.as_ref()?.pair(self.model(), embeddings, (user, item)).ok()
    }
}

/// The items that a request allows, as a model knows them.
#[derive(Default)]
pub(crate) struct Allowed {
    /// Only these; ascending.
    pub allow: Option<Vec<u32>>,
    /// Not these; ascending.
    pub deny: Vec<u32>,
}

impl Allowed {
    pub fn of(served: &Served, include: Option<&[String]>, exclude: &[String]) -> Self {
        Self { allow: include.map(|items| served.known_items(items)), deny: served.known_items(exclude) }
    }

    pub fn allows(&self, item: u32) -> bool {
        let allowed = self.allow.as_ref().is_none_or(|allow| allow.binary_search(&item).is_ok());
        allowed && self.deny.binary_search(&item).is_err()
    }

    pub fn is_nothing(&self) -> bool {
        self.allow.as_ref().is_some_and(Vec::is_empty)
    }

    fn is_everything(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }
}

/// A model that was loaded, and who may still be using it.
pub(crate) type Shared = Arc<Served>;
