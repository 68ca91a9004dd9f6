//! Recommendations to known and new users.

use std::sync::Arc;

use axum::extract::State;

use super::lists::Window;
use super::types::{Lists, Page, RecommendRequest, Recommendations};
use crate::app::App;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{ApiJson, ApiPath, ApiQuery};
use crate::json::Json;
use crate::models::Chosen;
use crate::recommend::{Wanted, for_items};

/// Recommend items to a user
///
/// A user without history gets the most popular items, and `source` says so. Items that the model knows of the user, and
/// those of the user's feedback, are left out.
#[utoipa::path(
    get, path = "/api/recommend/{user}", tag = "recommend",
    params(("user" = String, Path, description = "The user's original id"), Page),
    responses(
        (status = 200, body = Recommendations),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 422, body = ErrorBody), (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn recommend_user(
    State(app): State<Arc<App>>,
    ApiPath(user): ApiPath<String>,
    ApiQuery(page): ApiQuery<Page>,
) -> ApiResult<Json<Recommendations>> {
    let window = Window::new(&app, page.n, page.offset)?;
    let chosen = app.models.choose(page.model.as_deref(), Some(&user))?;
    let made = app.for_user(&chosen.served, &user, window.end()).await?;
    Ok(Json(app.answer(&chosen, Some(user), made, window)))
}

/// Recommend items to many users, or to a user that the model has never seen
///
/// Give either `users`, or `items`: the history of a new user (fold-in).
#[utoipa::path(
    post, path = "/api/recommend", tag = "recommend", request_body = RecommendRequest,
    responses(
        (status = 200, body = Lists),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody),
    ),
)]
pub(crate) async fn recommend_many(
    State(app): State<Arc<App>>,
    ApiJson(request): ApiJson<RecommendRequest>,
) -> ApiResult<Json<Lists>> {
    let window = Window::new(&app, request.n, request.offset)?;
    app.check_batch(request.exclude.len(), "excluded items")?;
    app.check_batch(request.include.as_ref().map_or(0, Vec::len), "included items")?;
    let RecommendRequest { users, items, include, exclude, model, .. } = request;
    let name = model.as_deref();
    match (users, items) {
        (Some(users), None) => {
            app.check_batch(users.len(), "users")?;
            // Each user's model, as it is now: one swapped while this request is answered is not mixed in.
            let choose = |user: String| Ok((app.models.choose(name, Some(&user))?, user));
            let chosen = users.into_iter().map(choose).collect::<ApiResult<Vec<(Chosen, String)>>>()?;
            let for_users = {
                let app = Arc::clone(&app);
                move || app.for_users(chosen, &Wanted { window, include, exclude })
            };
            Ok(Json(Lists { lists: app.compute.run(for_users).await? }))
        }
        (None, Some(items)) => {
            app.check_batch(items.len(), "items")?;
            let chosen = app.models.choose(name, None)?;
            let for_items = {
                let app = Arc::clone(&app);
                move || {
                    let made = for_items(&chosen.served, &items, &Wanted { window, include, exclude })?;
                    Ok(app.answer(&chosen, None, made, window))
                }
            };
            Ok(Json(Lists { lists: vec![app.compute.run(for_items).await?] }))
        }
        _ => {
            let message = "either 'users' or 'items' must be given, and not both";
            Err(ApiError::invalid(message, r#"for example {"users": ["7"]} or {"items": ["12", "40"]}"#))
        }
    }
}
