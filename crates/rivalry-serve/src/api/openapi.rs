//! The description of the interface.

use axum::http::header;
use axum::response::IntoResponse;
use utoipa::OpenApi;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};

use super::{explain, feedback, models, rank, recommend, search, similar};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Rivalry",
        description = "Recommendations of trained models. Every answer names the model and its checksum. Errors are JSON with a code, a message and a hint (`help`).",
        license(name = "MIT OR Apache-2.0"),
    ),
    paths(
        recommend::recommend_user, recommend::recommend_many, rank::rank, explain::explain,
        search::items, similar::items, search::users, search::user, similar::users,
        feedback::feedback, models::models, models::reload, models::live, models::ready, super::metrics,
    ),
    tags(
        (name = "recommend", description = "Lists for users"),
        (name = "explore", description = "Items, users, neighbours and reasons"),
        (name = "feedback", description = "What users did"),
        (name = "operation", description = "Models, health and metrics"),
    ),
)]
struct Document;

/// The OpenAPI document, as `/openapi.json` answers.
pub fn openapi() -> String {
    let mut document = Document::openapi();
    let key = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    document.components.get_or_insert_default().add_security_scheme("key", key);
    document.to_pretty_json().unwrap_or_default() + "\n"
}

/// The checked-in document: a test keeps it the same as what the code says.
const DOCUMENT: &str = include_str!("../../openapi.json");

pub(crate) async fn document() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}
