//! The paths, one file per group.

pub(crate) mod explain;
pub(crate) mod feedback;
mod ids;
pub(crate) mod lists;
pub(crate) mod models;
pub(crate) mod openapi;
mod page;
pub(crate) mod rank;
pub(crate) mod recommend;
pub(crate) mod search;
pub(crate) mod similar;
pub(crate) mod types;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};

use crate::app::App;
use crate::error::ApiError;
use crate::guard::guard;

/// All paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/recommend", post(recommend::recommend_many))
        .route("/api/recommend/{user}", get(recommend::recommend_user))
        .route("/api/rank", post(rank::rank))
        .route("/api/explain", post(explain::explain))
        .route("/api/items", get(search::items))
        .route("/api/items/{item}/similar", get(similar::items))
        .route("/api/users", get(search::users))
        .route("/api/users/{user}", get(search::user))
        .route("/api/users/{user}/similar", get(similar::users))
        .route("/api/models", get(models::models))
        .route("/api/reload", post(models::reload))
        .route("/api/feedback", post(feedback::feedback))
        .route("/api/health/live", get(models::live))
        .route("/api/health/ready", get(models::ready))
        .route("/metrics", get(metrics))
        .route("/openapi.json", get(openapi::document))
        .merge(page::router())
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(app.options.limits.max_body))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

async fn unknown_path() -> ApiError {
    ApiError::unknown("unknown_path", "there is nothing at this path", "the paths are described at /docs")
}

async fn wrong_method() -> ApiError {
    let message = "method not allowed for this path";
    let status = StatusCode::METHOD_NOT_ALLOWED;
    ApiError::new(status, "wrong_method", message, "the paths and their methods are described at /docs")
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", tag = "operation", responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], app.metrics.text())
}
