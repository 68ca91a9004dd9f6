//! The models, their replacement, and the health of the server.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::json::Json;
use crate::models::{Reloaded, Slot};
use crate::served::Served;

/// The models of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelList {
    /// The models; the first one answers where no other is asked for and there is no A/B test.
    pub models: Vec<ModelInfo>,
    /// Whether feedback is stored.
    pub feedback: bool,
}

/// A model that is served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelInfo {
    /// The name.
    pub name: String,
    /// The XXH3-64 of the model file.
    pub checksum: String,
    /// What it is, such as `mf`.
    pub kind: String,
    /// The loss, if it was trained by gradients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// The epoch it was saved in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<usize>,
    /// The embedding dimension, if it has embeddings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dim: Option<usize>,
    /// The number of users.
    pub users: usize,
    /// The number of items.
    pub items: usize,
    /// The number of training interactions.
    pub interactions: usize,
    /// The checksum of the data it was trained on.
    pub data_checksum: String,
    /// The size of the model file in bytes.
    pub bytes: u64,
    /// When it was loaded.
    pub loaded: String,
    /// The share of users that it answers, if there is an A/B test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// How items are searched.
    pub search: SearchInfo,
    /// Whether it can answer `similar` for items.
    pub similar_items: bool,
    /// Whether it can answer `similar` for users.
    pub similar_users: bool,
    /// Why the file that is there now is not being served, if it isn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How items are searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchInfo {
    /// `exact` or `hnsw`.
    pub kind: String,
    /// The measured recall@20 of an approximate index against exact search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall_at_20: Option<f64>,
}

/// What became of each model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReloadResults {
    /// One for each model.
    pub models: Vec<ReloadResult>,
}

/// What became of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReloadResult {
    /// The name.
    pub name: String,
    /// `unchanged`, `swapped` or `refused`.
    pub result: String,
    /// The checksum of the model that answers now.
    pub checksum: String,
    /// Why the new one was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The state of the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
}

/// List the models
#[utoipa::path(
    get, path = "/api/models", tag = "operation",
    responses(
        (status = 200, body = ModelList), (status = 401, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn models(State(app): State<Arc<App>>) -> Json<ModelList> {
    let models = app.models.slots().iter().enumerate();
    let models = models.map(|(place, slot)| info(slot, &slot.current(), app.models.share(place)));
    Json(ModelList { models: models.collect(), feedback: app.feedback.is_some() })
}

fn info(slot: &Slot, served: &Served, share: Option<f64>) -> ModelInfo {
    let model = served.model();
    let scorer = served.ranker.scorer();
    ModelInfo {
        name: served.name.clone(),
        checksum: served.checksum.clone(),
        kind: model.config.model.name().to_owned(),
        loss: model.config.loss_name().map(str::to_owned),
        epoch: model.epoch,
        dim: scorer.embeddings().map(rivalry::backbone::Embeddings::dim),
        users: model.users.len(),
        items: model.items.len(),
        interactions: model.train.len(),
        data_checksum: model.data_checksum.clone(),
        bytes: served.stamp.len(),
        loaded: served.loaded.to_string(),
        share,
        search: SearchInfo {
            kind: if served.index.is_some() { "hnsw" } else { "exact" }.to_owned(),
            recall_at_20: served.index.as_ref().map(|index| index.recall_at_20),
        },
        similar_items: scorer.item_similarity().is_some(),
        similar_users: scorer.user_similarity().is_some(),
        error: slot.error(),
    }
}

/// Look for new models now
///
/// A model whose file has changed is loaded and takes the place of the old one. One that can't be loaded is refused, and
/// the old one stays.
#[utoipa::path(
    post, path = "/api/reload", tag = "operation",
    responses(
        (status = 200, body = ReloadResults), (status = 401, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn reload(State(app): State<Arc<App>>) -> ApiResult<Json<ReloadResults>> {
    let look = move || {
        let reload = |slot: &Slot| {
            let (result, error) = match app.reload(slot) {
                Reloaded::Unchanged => ("unchanged", None),
                Reloaded::Swapped(_) => ("swapped", None),
                Reloaded::Refused(error) => ("refused", Some(error)),
            };
            let checksum = slot.current().checksum.clone();
            ReloadResult { name: slot.name.clone(), result: result.to_owned(), checksum, error }
        };
        ReloadResults { models: app.models.slots().iter().map(reload).collect() }
    };
    let results = tokio::task::spawn_blocking(look).await;
    results.map(Json).map_err(|_| ApiError::internal("the models could not be looked at"))
}

/// Whether the process answers
#[utoipa::path(get, path = "/api/health/live", tag = "operation", responses((status = 200, body = Health)))]
pub(crate) async fn live() -> Json<Health> {
    Json(Health { status: "ok".to_owned() })
}

/// Whether requests can be answered: all models are loaded
#[utoipa::path(get, path = "/api/health/ready", tag = "operation", responses((status = 200, body = Health)))]
pub(crate) async fn ready() -> Json<Health> {
    // The server listens only after all models are loaded, and a model is only ever replaced by another.
    Json(Health { status: "ok".to_owned() })
}
