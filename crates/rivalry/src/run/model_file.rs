//! The model file: all that is needed to recommend, with the original ids.

use std::path::Path;

use super::RunFolder;
use super::tensors::{Tensors, broken};
use crate::backbone::{self, Embeddings};
use crate::config::Config;
use crate::data::{Dataset, IdMap, Interactions};
use crate::train::Model;
use crate::{InputError, Result};

/// The version of the model file this code writes, and the newest it reads.
const FORMAT: u32 = 1;

/// A trained model as it lies on disk.
pub struct SavedModel {
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// What the model learned from.
    pub train: Interactions,
    /// What else is known of the users: the validation and test parts. Neither is recommended again.
    pub held_out: Interactions,
    /// How it was trained.
    pub config: Config,
    /// The learned tables.
    pub learned: Embeddings,
    /// The epoch it stands at, counted from 1.
    pub epoch: usize,
    /// The checksum of the data it was trained on.
    pub data_checksum: String,
}

/// What goes into a model file, wherever it lies.
struct Contents<'a> {
    model: &'a Model,
    users: &'a IdMap,
    items: &'a IdMap,
    train: &'a Interactions,
    held_out: &'a Interactions,
    config: &'a Config,
    epoch: usize,
    data_checksum: &'a str,
}

impl Contents<'_> {
    /// The learned tables, for other tools what the backbone makes of them, and all that belongs to them.
    fn tensors(&self) -> Tensors {
        let mut file = Tensors::default();
        let propagated = self.model.propagated().map(|tables| ("propagated", tables));
        for (name, tables) in [("learned", self.model.learned())].into_iter().chain(propagated) {
            file.put_matrix(&format!("{name}.users"), &tables.users);
            file.put_matrix(&format!("{name}.items"), &tables.items);
        }
        file.put_ids("ids.users", self.users);
        file.put_ids("ids.items", self.items);
        file.put_interactions("train", self.train);
        file.put_interactions("held_out", self.held_out);
        file.texts.extend([
            ("format".to_owned(), format!("rivalry-model {FORMAT}")),
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("config".to_owned(), self.config.to_toml()),
            ("epoch".to_owned(), self.epoch.to_string()),
            ("data_checksum".to_owned(), self.data_checksum.to_owned()),
        ]);
        file
    }
}

/// The validation and test parts together.
fn held_out(dataset: &Dataset) -> Interactions {
    let pairs = dataset.valid.pairs().chain(dataset.test.pairs());
    Interactions::from_pairs(dataset.users.len(), dataset.items.len(), pairs)
}

impl SavedModel {
    /// A model as it would lie on disk, without the disk.
    pub fn new(dataset: Dataset, config: Config, learned: Embeddings, epoch: usize) -> Self {
        let held_out = held_out(&dataset);
        let Dataset { users, items, train, checksum: data_checksum, .. } = dataset;
        Self { users, items, train, held_out, config, learned, epoch, data_checksum }
    }

    /// Writes the model of a run.
    pub(crate) fn write(
        path: &Path,
        model: &Model,
        epoch: usize,
        dataset: &Dataset,
        config: &Config,
    ) -> Result<()> {
        let Dataset { users, items, train, checksum: data_checksum, .. } = dataset;
        let held_out = &held_out(dataset);
        Contents { model, users, items, train, held_out, config, epoch, data_checksum }.tensors().write(path)
    }

    /// Writes a model file.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.tensors()?.write(path)
    }

    /// What a model file would hold.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.tensors()?.to_bytes();
        bytes.map_err(|e| InputError::new(format!("the model can't be written: {e}")).into())
    }

    fn tensors(&self) -> Result<Tensors> {
        let Self { users, items, train, held_out, config, epoch, data_checksum, .. } = self;
        let (model, epoch) = (&self.model()?, *epoch);
        Ok(Contents { model, users, items, train, held_out, config, epoch, data_checksum }.tensors())
    }

    /// Reads the model of a run's folder, or a model file.
    pub fn open(path: &Path) -> Result<Self> {
        if path.is_dir() { RunFolder::open(path)?.model() } else { Self::read(path) }
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_tensors(path, Tensors::read(path)?)
    }

    /// Reads what a model file held.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let path = Path::new("the saved model");
        Self::from_tensors(path, Tensors::parse(path, bytes)?)
    }

    fn from_tensors(path: &Path, mut file: Tensors) -> Result<Self> {
        check_format(path, file.texts.get("format"), "rivalry-model", FORMAT)?;
        let text = |key: &str| {
            file.texts.get(key).cloned().ok_or_else(|| broken(path, &format!("it doesn't say its '{key}'")))
        };
        let config = text("config")?.parse().map_err(|_| broken(path, "its config is not TOML"))?;
        let config = Config::from_layers(&[config])?;
        let epoch = text("epoch")?.parse().map_err(|_| broken(path, "its epoch is not a number"))?;
        let data_checksum = text("data_checksum")?;
        let learned = Embeddings {
            users: file.take_matrix(path, "learned.users")?,
            items: file.take_matrix(path, "learned.items")?,
        };
        let (users, items) = (file.take_ids(path, "ids.users")?, file.take_ids(path, "ids.items")?);
        let train = file.take_interactions(path, "train", items.len())?;
        let held_out = file.take_interactions(path, "held_out", items.len())?;
        let sizes = [learned.users.rows(), train.n_users(), held_out.n_users(), learned.items.rows()];
        let dim = learned.items.cols();
        if sizes != [users.len(), users.len(), users.len(), items.len()] || learned.users.cols() != dim {
            return Err(broken(path, "its tables and ids are of different sizes").into());
        }
        Ok(Self { users, items, train, held_out, config, learned, epoch, data_checksum })
    }

    /// The model, ready to score.
    pub fn model(&self) -> Result<Model> {
        let backbone = backbone::build(&self.config.backbone, &self.train)?;
        Ok(Model::new(backbone, self.config.model.score, self.learned.clone()))
    }
}

/// Checks a file's `name version`: a foreign file and one from a later release each get their own words.
pub(super) fn check_format(path: &Path, found: Option<&String>, name: &str, known: u32) -> Result<()> {
    let version =
        found.and_then(|text| text.strip_prefix(name)).and_then(|version| version.trim().parse::<u32>().ok());
    match version {
        Some(version) if version <= known => Ok(()),
        Some(version) => {
            Err(InputError::new(format!("made by a later release (format {version}, known up to {known})"))
                .file(path)
                .help("update rivalry")
                .into())
        }
        None => Err(broken(path, &format!("it doesn't call itself a {name}")).into()),
    }
}
