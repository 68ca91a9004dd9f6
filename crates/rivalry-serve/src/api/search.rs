//! Finding items and users, and what is known of a user.

use std::sync::Arc;

use axum::extract::State;
use rivalry::ranker::Filter;

use super::lists::Window;
use super::types::{FoundItems, FoundUsers, Page, ScoredItem, Search, UserHistory};
use crate::app::App;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::{ApiPath, ApiQuery};
use crate::json::Json;
use crate::served::Served;

/// Find items by id or title
#[utoipa::path(
    get, path = "/api/items", tag = "explore", params(Search),
    responses(
        (status = 200, body = FoundItems),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn items(
    State(app): State<Arc<App>>,
    ApiQuery(search): ApiQuery<Search>,
) -> ApiResult<Json<FoundItems>> {
    let window = Window::new(&app, search.n, 0)?;
    let served = app.models.choose(search.model.as_deref(), None)?.served;
    let work = {
        let app = Arc::clone(&app);
        move || {
            let wanted = search.q.to_lowercase();
            let matches = |text: &str| text.to_lowercase().contains(&wanted);
            let found = served.popular(&[]).filter(|&(item, _)| {
                let id = served.items().original(item);
                wanted.is_empty() || matches(id) || app.titles.title(id).is_some_and(matches)
            });
            // An item of exactly this id comes first.
            let exact = served.items().dense(&search.q);
            let first = exact.map(|item| (item, served.counts[item as usize] as f32));
            let rest = found.filter(|&(item, _)| Some(item) != exact);
            let list = first.into_iter().chain(rest).take(window.n);
            Ok(FoundItems { model: served.tag(), items: app.items(&served, list) })
        }
    };
    Ok(Json(app.compute.run(work).await?))
}

/// Find users by id
#[utoipa::path(
    get, path = "/api/users", tag = "explore", params(Search),
    responses(
        (status = 200, body = FoundUsers),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn users(
    State(app): State<Arc<App>>,
    ApiQuery(search): ApiQuery<Search>,
) -> ApiResult<Json<FoundUsers>> {
    let window = Window::new(&app, search.n, 0)?;
    let served = app.models.choose(search.model.as_deref(), None)?.served;
    let work = move || {
        let wanted = search.q.to_lowercase();
        let exact = served.users().dense(&search.q).map(|_| &*search.q);
        let rest =
            served.users().iter().filter(|id| Some(*id) != exact && id.to_lowercase().contains(&wanted));
        let users = exact.into_iter().chain(rest).take(window.n).map(str::to_owned).collect();
        Ok(FoundUsers { model: served.tag(), users })
    };
    Ok(Json(app.compute.run(work).await?))
}

/// What is known of a user
///
/// `n` and `offset` select among the training items, those with the highest scores first.
#[utoipa::path(
    get, path = "/api/users/{user}", tag = "explore",
    params(("user" = String, Path, description = "The user's original id"), Page),
    responses(
        (status = 200, body = UserHistory),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn user(
    State(app): State<Arc<App>>,
    ApiPath(user): ApiPath<String>,
    ApiQuery(page): ApiQuery<Page>,
) -> ApiResult<Json<UserHistory>> {
    let window = Window::new(&app, page.n, page.offset)?;
    let chosen = app.models.choose(page.model.as_deref(), Some(&user))?;
    let dense = chosen.served.user_id(&user)?;
    let work = {
        let app = Arc::clone(&app);
        move || {
            let served = &chosen.served;
            let known = |items: &[u32]| scored(&app, served, dense, items, window);
            let model = served.model();
            Ok(UserHistory {
                model: served.tag(),
                arm: chosen.arm.clone(),
                train: known(model.train.items_of(dense))?,
                held_out: known(model.held_out.items_of(dense))?,
                feedback: app.seen.of(&user),
                user,
            })
        }
    };
    Ok(Json(app.compute.run(work).await?))
}

/// Items of a user with the model's scores, the highest first.
fn scored(
    app: &App,
    served: &Served,
    user: u32,
    items: &[u32],
    window: Window,
) -> ApiResult<Vec<ScoredItem>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let filter = Filter { allow: Some(items), ..Filter::NONE };
    let lists = served.ranker.recommend(&[user], window.end(), &filter)?;
    Ok(app.items(served, lists.list(0).skip(window.offset)))
}
