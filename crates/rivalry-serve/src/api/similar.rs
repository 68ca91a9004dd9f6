//! Neighbours of items and users.

use std::sync::Arc;

use axum::extract::State;
use rivalry::ranker::{Filter, Side};

use super::lists::Window;
use super::types::{Page, ScoredUser, SimilarItems, SimilarUsers};
use crate::app::App;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::{ApiPath, ApiQuery};
use crate::json::Json;
use crate::served::{List, Served};

/// Items most similar to an item
///
/// For models that define a similarity; others answer 422.
#[utoipa::path(
    get, path = "/api/items/{item}/similar", tag = "explore",
    params(("item" = String, Path, description = "The item's original id"), Page),
    responses(
        (status = 200, body = SimilarItems),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn items(
    State(app): State<Arc<App>>,
    ApiPath(item): ApiPath<String>,
    ApiQuery(page): ApiQuery<Page>,
) -> ApiResult<Json<SimilarItems>> {
    let window = Window::new(&app, page.n, page.offset)?;
    let served = app.models.choose(page.model.as_deref(), None)?.served;
    let item = served.item_id(&item)?;
    let work = {
        let served = Arc::clone(&served);
        move || neighbours(&served, Side::Items, item, window)
    };
    let list = app.compute.run(work).await?;
    Ok(Json(SimilarItems {
        model: served.tag(),
        item: app.item(&served, (item, 1.0)),
        similar: app.items(&served, list),
    }))
}

/// Users most similar to a user
///
/// For models that define a similarity; others answer 422.
#[utoipa::path(
    get, path = "/api/users/{user}/similar", tag = "explore",
    params(("user" = String, Path, description = "The user's original id"), Page),
    responses(
        (status = 200, body = SimilarUsers),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn users(
    State(app): State<Arc<App>>,
    ApiPath(user): ApiPath<String>,
    ApiQuery(page): ApiQuery<Page>,
) -> ApiResult<Json<SimilarUsers>> {
    let window = Window::new(&app, page.n, page.offset)?;
    let served = app.models.choose(page.model.as_deref(), Some(&user))?.served;
    let dense = served.user_id(&user)?;
    let work = {
        let served = Arc::clone(&served);
        move || neighbours(&served, Side::Users, dense, window)
    };
    let list = app.compute.run(work).await?;
    let scored = |(user, score)| ScoredUser {
        user: served.users().original(user).to_owned(),
        score,
        items: served.model().train.items_of(user).len(),
    };
    Ok(Json(SimilarUsers { model: served.tag(), user, similar: list.into_iter().map(scored).collect() }))
}

fn neighbours(served: &Served, side: Side, id: u32, window: Window) -> ApiResult<List> {
    let lists = served.ranker.similar(side, &[id], window.end(), &Filter::default())?;
    Ok(lists.list(0).skip(window.offset).collect())
}
