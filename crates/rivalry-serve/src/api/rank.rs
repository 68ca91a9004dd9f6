//! Ordering given candidates.

use std::sync::Arc;

use axum::extract::State;
use rivalry::ranker::Filter;

use super::lists::{Made, Window};
use super::types::{RankRequest, Ranked, Source};
use crate::app::App;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::ApiJson;
use crate::json::Json;
use crate::recommend::Who;
use crate::served::{List, Served};

/// Order given candidates for a user
///
/// Every candidate that the model knows is in the answer, also seen ones.
#[utoipa::path(
    post, path = "/api/rank", tag = "recommend", request_body = RankRequest,
    responses(
        (status = 200, body = Ranked),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn rank(
    State(app): State<Arc<App>>,
    ApiJson(request): ApiJson<RankRequest>,
) -> ApiResult<Json<Ranked>> {
    let RankRequest { user, items, candidates, model } = request;
    app.check_batch(candidates.len(), "candidates")?;
    app.check_batch(items.as_ref().map_or(0, Vec::len), "items")?;
    if user.is_some() == items.is_some() {
        let message = "either 'user' or 'items' must be given, and not both";
        return Err(ApiError::invalid(message, r#"for example {"user": "7", "candidates": ["12", "40"]}"#));
    }
    let chosen = app.models.choose(model.as_deref(), user.as_deref())?;
    let work = {
        let app = Arc::clone(&app);
        move || {
            let served = &chosen.served;
            let who = match (&user, items) {
                (Some(user), _) => Who::find(&app, served, user),
                (None, items) => match served.known_items(&items.unwrap_or_default()) {
                    history if history.is_empty() => Who::Nobody {
                        note: "the model knows none of the items: the order is that of popularity",
                    },
                    history => Who::New { history },
                },
            };
            let allow = served.known_items(&candidates);
            let unknown =
                candidates.into_iter().filter(|item| served.items().dense(item).is_none()).collect();
            let window = Window { n: allow.len(), offset: 0 };
            let made = order(served, &who, &allow)?;
            Ok(Ranked { list: app.answer(&chosen, user, made, window), unknown })
        }
    };
    Ok(Json(app.compute.run(work).await?))
}

fn order(served: &Served, who: &Who, allow: &[u32]) -> ApiResult<Made> {
    let n = allow.len();
    let filter = Filter { allow: Some(allow), ..Filter::NONE };
    let made = |source: Source, list: List| Made { source, note: None, list };
    Ok(match who {
        Who::Known { .. } if n == 0 => made(Source::Model, Vec::new()),
        Who::New { .. } if n == 0 => made(Source::FoldIn, Vec::new()),
        Who::Known { user, .. } => {
            made(Source::Model, served.ranker.recommend(&[*user], n, &filter)?.list(0).collect())
        }
        Who::New { history } => {
            let lists = served.ranker.recommend_new(&served.history(history), n, &filter)?;
            made(Source::FoldIn, lists.list(0).collect())
        }
        Who::Nobody { note } => {
            let list = served.popular(&[]).filter(|(item, _)| allow.binary_search(item).is_ok()).collect();
            Made { note: Some((*note).to_owned()), ..made(Source::Popularity, list) }
        }
    })
}
