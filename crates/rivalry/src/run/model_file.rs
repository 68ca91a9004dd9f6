//! The model file: all that is needed to recommend, with the original ids.

use std::path::Path;

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

impl SavedModel {
    /// Writes a model with all that belongs to it: the learned tables and, for other tools, what the backbone makes of
    /// them.
    pub(crate) fn write(
        path: &Path,
        model: &Model,
        epoch: usize,
        dataset: &Dataset,
        config: &Config,
    ) -> Result<()> {
        let mut file = Tensors::default();
        let propagated = model.propagated().map(|tables| ("propagated", tables));
        for (name, tables) in [("learned", model.learned())].into_iter().chain(propagated) {
            file.put_matrix(&format!("{name}.users"), &tables.users);
            file.put_matrix(&format!("{name}.items"), &tables.items);
        }
        file.put_ids("ids.users", &dataset.users);
        file.put_ids("ids.items", &dataset.items);
        file.put_interactions("train", &dataset.train);
        let (n_users, n_items) = (dataset.users.len(), dataset.items.len());
        let held_out = dataset.valid.pairs().chain(dataset.test.pairs());
        file.put_interactions("held_out", &Interactions::from_pairs(n_users, n_items, held_out));
        file.texts.extend([
            ("format".to_owned(), format!("rivalry-model {FORMAT}")),
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("config".to_owned(), config.to_toml()),
            ("epoch".to_owned(), epoch.to_string()),
            ("data_checksum".to_owned(), dataset.checksum.clone()),
        ]);
        file.write(path)
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self> {
        let mut file = Tensors::read(path)?;
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
