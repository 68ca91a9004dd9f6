//! Errors as answers: a status, a code for programs, a sentence and a way out for people.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::Json;

/// An error as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The error.
    pub error: ErrorDetail,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorDetail {
    /// A stable name, such as `unknown_item`.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// An error on its way to the client.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    code: &'static str,
    message: String,
    help: String,
}

pub(crate) type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { status, code, message: message.into(), help: help.into() }
    }

    /// A request that is understood and can't be answered as it is.
    pub fn invalid(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request", message, help)
    }

    /// Something that doesn't exist; the code names its kind.
    pub fn unknown(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message, help)
    }

    /// More requests than the server takes.
    pub fn busy(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message, "try again in a second")
    }

    /// A request that took too long.
    pub fn timeout() -> Self {
        let message = "the request took too long to arrive or to answer";
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message, "send it at once, or ask for less")
    }

    /// A fault of the server.
    pub fn internal(message: impl Into<String>) -> Self {
        let help = "please report it, with the request";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_error", message, help)
    }
}

/// What the library refuses is a fault of the request; a fault of the model is the server's.
impl From<rivalry::Error> for ApiError {
    fn from(error: rivalry::Error) -> Self {
        match error {
            rivalry::Error::Input(error) => {
                let text = error.to_string();
                let (message, help) = text.split_once("\n  help: ").unwrap_or((&text, "check the request"));
                Self::invalid(message, help)
            }
            other => Self::internal(other.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Self { status, code, message, help } = self;
        let body = ErrorBody { error: ErrorDetail { code: code.to_owned(), message, help } };
        let mut response = (status, Json(body)).into_response();
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
