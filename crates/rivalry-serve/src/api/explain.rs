//! Why an item is recommended, and what it competes with.

use std::sync::Arc;

use axum::extract::State;
use rivalry::ranker::{Filter, Rival, RivalsOf};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lists::Window;
use super::types::{ModelTag, ScoredItem};
use crate::app::App;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::ApiJson;
use crate::json::Json;
use crate::recommend::Who;
use crate::served::{Served, Shared};

/// A request to explain a recommendation.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// The user, by original id.
    pub user: Option<String>,
    /// The items of a user that the model has never seen; not together with `user`.
    pub items: Option<Vec<String>>,
    /// The recommended item.
    pub item: String,
    /// The number of items in each part of the answer.
    #[serde(default = "ten")]
    #[schema(minimum = 1, default = 10)]
    pub n: usize,
    /// The model, by name.
    pub model: Option<String>,
}

fn ten() -> usize {
    10
}

/// Why an item is recommended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// The model.
    pub model: ModelTag,
    /// The item with the score that the model gives it for this user.
    pub item: ScoredItem,
    /// The score for a new user with the same history, which the contributions explain.
    pub fold_in_score: f32,
    /// What items of the history contribute to that score, the largest first. With embeddings, all of them together add
    /// up to it; for other models a contribution is what the score loses without the item.
    pub because: Vec<ScoredItem>,
    /// The items with the highest scores for the user besides this one.
    pub hardest: Vec<RivalItem>,
    /// The items most similar to this one, if the model defines a similarity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<Vec<RivalItem>>,
    /// How the loss sees the pair; for losses of the softmax family and users that the model was trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slate: Option<PairSlate>,
}

/// An item that competes with a recommended one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RivalItem {
    /// The item with its score for the user.
    #[serde(flatten)]
    pub item: ScoredItem,
    /// Its similarity to the recommended item, if the model defines one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f32>,
}

/// A pair as the loss sees it, with negatives sampled as in training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PairSlate {
    /// The loss.
    pub loss: String,
    /// The temperature of this pair.
    pub temperature: f64,
    /// The base temperature of the loss.
    pub base_temperature: f64,
    /// How contested the pair is, from 0 to 1.
    pub competition: f64,
    /// The hardest negatives, with κ and their share of the gradient.
    pub negatives: Vec<SlateItem>,
}

/// A negative of a slate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SlateItem {
    /// The original id.
    pub item: String,
    /// The title, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its score for the user.
    pub score: f64,
    /// Its similarity to the recommended item.
    pub similarity: f64,
    /// Its scale κ; one if the loss has none.
    pub kappa: f64,
    /// Its share of the gradient of the pair.
    pub share: f64,
}

/// Explain a recommendation
///
/// Which of the user's items speak for it, and which items it competes with.
#[utoipa::path(
    post, path = "/api/explain", tag = "explore", request_body = ExplainRequest,
    responses(
        (status = 200, body = Explanation),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    ApiJson(request): ApiJson<ExplainRequest>,
) -> ApiResult<Json<Explanation>> {
    let ExplainRequest { user, items, item, n, model } = request;
    let Window { n, .. } = Window::new(&app, n, 0)?;
    app.check_batch(items.as_ref().map_or(0, Vec::len), "items")?;
    let served = app.models.choose(model.as_deref(), user.as_deref())?.served;
    let item = served.item_id(&item)?;
    let who = match (&user, &items) {
        (Some(user), None) => {
            served.user_id(user)?;
            Who::find(&app, &served, user)
        }
        (None, Some(items)) => Who::New { history: served.known_items(items) },
        _ => {
            let message = "either 'user' or 'items' must be given, and not both";
            return Err(ApiError::invalid(message, r#"for example {"user": "7", "item": "12"}"#));
        }
    };
    let work = {
        let app = Arc::clone(&app);
        move || app.explained(&served, &who, item, n)
    };
    Ok(Json(app.compute.run(work).await?))
}

impl App {
    fn explained(&self, served: &Shared, who: &Who, item: u32, n: usize) -> ApiResult<Explanation> {
        let ranker = &served.ranker;
        let (history, filter) = match who {
            Who::Known { user, .. } => (served.model().train.items_of(*user), Filter::default()),
            Who::New { history } if !history.is_empty() => (&history[..], Filter::default()),
            _ => {
                let message = "the user has no history, so there is nothing to explain by";
                return Err(ApiError::invalid(message, "ask for a user with history, or give 'items'"));
            }
        };
        let explained = ranker.explain(history, item)?;
        let new = served.history(history);
        let rivals_of = match who {
            Who::Known { user, .. } => RivalsOf::User(*user),
            _ => RivalsOf::History(&new),
        };
        let rivals = ranker.rivals(rivals_of, item, n, &filter)?;
        let score = match who {
            Who::Known { user, .. } => {
                let allow = Some(&[item][..]);
                ranker.recommend(&[*user], 1, &Filter { allow, ..Filter::NONE })?.scores(0)[0]
            }
            _ => explained.score,
        };
        let because = explained.contributions.iter().take(n).map(|part| (part.item, part.contribution));
        let rival = |rival: &Rival| RivalItem {
            item: self.item(served, (rival.item, rival.score)),
            similarity: rival.similarity,
        };
        Ok(Explanation {
            model: served.tag(),
            item: self.item(served, (item, score)),
            fold_in_score: explained.score,
            because: self.items(served, because),
            hardest: rivals.hardest.iter().map(rival).collect(),
            similar: rivals.similar.map(|similar| similar.iter().map(rival).collect()),
            slate: match who {
                Who::Known { user, .. } => self.slate(served, *user, item, n),
                _ => None,
            },
        })
    }

    fn slate(&self, served: &Served, user: u32, item: u32, n: usize) -> Option<PairSlate> {
        let loss = &served.model().config.gradient.as_ref()?.loss;
        let found = served.slate(user, item)?;
        Some(PairSlate {
            loss: loss.name().to_owned(),
            temperature: found.temperature,
            base_temperature: loss.build().diagnostics()?.tau(),
            competition: found.competition,
            negatives: (found.negatives.into_iter().take(n))
                .map(|negative| SlateItem {
                    title: self.titles.title(&negative.item).map(str::to_owned),
                    item: negative.item,
                    score: negative.score,
                    similarity: negative.similarity,
                    kappa: negative.kappa,
                    share: negative.this_loss,
                })
                .collect(),
        })
    }
}
