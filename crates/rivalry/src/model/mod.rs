//! A trained model: named tensors, original ids, what is known of the users, and the config it was trained with.

use std::borrow::Cow;
use std::path::Path;

use crate::backbone::{Embeddings, Users};
use crate::config::Config;
use crate::data::{Dataset, IdMap, Interactions};
use crate::models::{Kind, ModelConfig};
use crate::sampler::TrainingSet;
use crate::scorer::{EmbeddingScorer, HistoryScorer, Scorer, with_prior};
use crate::tensors::{Tensors, broken};
use crate::{InputError, Result};

/// The version of the model file this code writes, and the newest it reads.
const FORMAT: u32 = 3;

/// The learned tables of a gradient model, among its tensors.
pub(crate) const LEARNED: &str = "learned";
/// What a graph backbone makes of them; without it they are scored as they are, or the graph is built again.
pub(crate) const PROPAGATED: &str = "propagated";

/// A trained model.
#[derive(Clone)]
pub struct Model {
    /// Original user ids.
    pub users: IdMap,
    /// Original item ids.
    pub items: IdMap,
    /// The training set.
    pub train: Interactions,
    /// What else is known of the users: the validation and test sets. It is not recommended again.
    pub held_out: Interactions,
    /// The validation set, which is part of `held_out`; `None` if the file is of a release that didn't write it.
    pub valid: Option<Interactions>,
    /// How it was trained; `config.model` is what it is.
    pub config: Config,
    /// What was learned.
    pub tensors: Tensors,
    /// The epoch it was saved in, counted from 1; none for a closed-form model.
    pub epoch: Option<usize>,
    /// The checksum of the data it was trained on.
    pub data_checksum: String,
}

impl<'a> From<&'a Model> for TrainingSet<'a> {
    fn from(model: &'a Model) -> Self {
        Self { interactions: &model.train, users: &model.users }
    }
}

impl Model {
    /// A model that was trained on this data set.
    pub fn new(dataset: &Dataset, config: Config, tensors: Tensors, epoch: Option<usize>) -> Self {
        let pairs = dataset.valid.pairs().chain(dataset.test.pairs());
        Self {
            users: dataset.users.clone(),
            items: dataset.items.clone(),
            train: dataset.train.clone(),
            held_out: Interactions::from_pairs(dataset.users.len(), dataset.items.len(), pairs),
            valid: Some(dataset.valid.clone()),
            config,
            tensors,
            epoch,
            data_checksum: dataset.checksum.clone(),
        }
    }

    /// What evaluation, recommendation and serving need of the model.
    ///
    /// # Errors
    /// If the tensors are not those of such a model.
    pub fn scorer(&self) -> Result<Box<dyn Scorer>> {
        match self.config.model.entry().build {
            Kind::ClosedForm(build) => build(self.config.model.params()).scorer(&self.tensors, &self.train),
            Kind::Gradient(_) => gradient_scorer(&self.config.model, &self.tensors, &self.train),
        }
    }

    /// Writes a model file.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.to_tensors().write(path)
    }

    /// The content of a model file.
    ///
    /// # Errors
    /// If the model can't be serialised.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let bytes = self.to_tensors().to_bytes();
        bytes.map_err(|e| InputError::new(format!("the model can't be written: {e}")).into())
    }

    fn to_tensors(&self) -> Tensors {
        let mut file = self.tensors.clone();
        file.put_ids("ids.users", &self.users);
        file.put_ids("ids.items", &self.items);
        file.put_interactions("train", &self.train);
        file.put_interactions("held_out", &self.held_out);
        self.valid.iter().for_each(|valid| file.put_interactions("valid", valid));
        file.texts.extend([
            ("format".to_owned(), format!("rivalry-model {FORMAT}")),
            ("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("config".to_owned(), self.config.to_toml()),
            ("data_checksum".to_owned(), self.data_checksum.clone()),
        ]);
        file.texts.extend(self.epoch.map(|epoch| ("epoch".to_owned(), epoch.to_string())));
        file
    }

    /// Reads a model file.
    ///
    /// # Errors
    /// If there is no such file, or it is not a whole model file.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::from_tensors(Tensors::read(path)?).map_err(|fault| fault.file(path))?)
    }

    /// Reads the content of a model file.
    ///
    /// # Errors
    /// If it is not that of a whole model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self::from_tensors(Tensors::parse(bytes)?)?)
    }

    fn from_tensors(mut file: Tensors) -> Result<Self, InputError> {
        file.check_format("rivalry-model", FORMAT)?;
        let text = |key: &str| file.texts.get(key).ok_or_else(|| broken(&format!("it lacks its '{key}'")));
        let config = text("config")?.parse().map_err(|_| broken("its config is not TOML"))?;
        let config =
            Config::from_layers(&[config]).map_err(|fault| broken(&format!("its config: {fault}")))?;
        let epoch = match file.texts.get("epoch") {
            Some(epoch) => Some(epoch.parse().map_err(|_| broken("its epoch is not a number"))?),
            None => None,
        };
        let data_checksum = text("data_checksum")?.clone();
        let (users, items) = (file.get_ids("ids.users")?, file.get_ids("ids.items")?);
        let train = file.get_interactions("train", items.len())?;
        let held_out = file.get_interactions("held_out", items.len())?;
        let valid = match file.has_interactions("valid") {
            true => Some(file.get_interactions("valid", items.len())?),
            false => None,
        };
        if [&train, &held_out].into_iter().chain(&valid).any(|table| table.n_users() != users.len()) {
            return Err(broken("its tables and ids are of different sizes"));
        }
        let common = ["ids.", "train.", "held_out.", "valid."];
        let tensors = file.split_off(|name| !common.iter().any(|prefix| name.starts_with(prefix)));
        let model = Self { users, items, train, held_out, valid, config, tensors, epoch, data_checksum };
        model.check_sizes()?;
        Ok(model)
    }

    fn check_sizes(&self) -> Result<(), InputError> {
        if self.config.model.is_gradient() {
            let learned = self.tensors.get_embeddings(LEARNED)?;
            let users = self.config.model.users().table_rows(self.users.len());
            if (learned.users.rows(), learned.items.rows()) != (users, self.items.len()) {
                return Err(broken("its tables and ids are of different sizes"));
            }
        }
        Ok(())
    }
}

/// The scorer of a model that was trained by gradients.
///
/// # Errors
/// If the tensors are not those of such a model.
pub(crate) fn gradient_scorer(
    model: &ModelConfig,
    tensors: &Tensors,
    train: &Interactions,
) -> Result<Box<dyn Scorer>> {
    let scorer = embedding_scorer(model, tensors, train)?;
    Ok(with_prior(scorer, model.popularity_prior(train).as_deref()))
}

/// The scorer of what a model has learned by gradients: its embeddings, without a popularity prior.
///
/// # Errors
/// If the tensors are not those of such a model.
pub(crate) fn embedding_scorer(
    model: &ModelConfig,
    tensors: &Tensors,
    train: &Interactions,
) -> Result<Box<dyn Scorer>> {
    let scorer = EmbeddingScorer::new(propagated(model, tensors, train)?, model.score().unwrap_or_default());
    Ok(match model.users() {
        Users::Table => Box::new(scorer),
        Users::Items { user_weight } => {
            Box::new(HistoryScorer::new(scorer, user_weight, Cow::Owned(train.clone())))
        }
    })
}

/// What the backbone makes of the learned tables.
fn propagated(model: &ModelConfig, tensors: &Tensors, train: &Interactions) -> Result<Embeddings> {
    if let Ok(propagated) = tensors.get_embeddings(PROPAGATED) {
        return Ok(propagated);
    }
    let learned = tensors.get_embeddings(LEARNED)?;
    match model.backbone(train) {
        Some(mut backbone) if !backbone.is_identity() => {
            let mut propagated = learned.clone();
            backbone.forward(&learned, &mut propagated);
            Ok(propagated)
        }
        _ => Ok(learned),
    }
}
