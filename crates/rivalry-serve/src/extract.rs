//! Parts of a request, with errors of our own kind.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Json, Path, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// The variable parts of the path.
pub(crate) struct ApiPath<T>(pub T);

/// The part of the address after the question mark.
pub(crate) struct ApiQuery<T>(pub T);

/// A body of JSON.
pub(crate) struct ApiJson<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for ApiPath<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(value)| Self(value)).map_err(|fault: PathRejection| {
            let help = "write the id in UTF-8 with everything but letters and digits as %XX";
            ApiError::new(StatusCode::BAD_REQUEST, "bad_path", fault.body_text(), help)
        })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for ApiQuery<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<T>::from_request_parts(parts, state).await;
        query.map(|Query(value)| Self(value)).map_err(|fault: QueryRejection| {
            let help = "the parameters are described at /docs";
            ApiError::new(StatusCode::BAD_REQUEST, "bad_query", plain(&fault.body_text()), help)
        })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for ApiJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let body = Json::<T>::from_request(request, state).await;
        body.map(|Json(value)| Self(value)).map_err(|fault| match fault {
            JsonRejection::JsonDataError(fault) => {
                ApiError::invalid(plain(&fault.body_text()), "the fields are described at /docs")
            }
            JsonRejection::JsonSyntaxError(fault) => {
                let help = "send one JSON object in UTF-8";
                ApiError::new(StatusCode::BAD_REQUEST, "bad_json", fault.body_text(), help)
            }
            JsonRejection::MissingJsonContentType(fault) => {
                let help = "send the header 'Content-Type: application/json'";
                ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", fault.body_text(), help)
            }
            other if other.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                let message = "the body is larger than this server takes";
                let help = "send several smaller requests";
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, help)
            }
            other => {
                let help = "send it again";
                ApiError::new(StatusCode::BAD_REQUEST, "bad_body", other.body_text(), help)
            }
        })
    }
}

/// The fault without the words of the parsers: `users[0]: found a boolean, expected text`.
fn plain(text: &str) -> String {
    let text =
        text.strip_prefix("Failed to deserialize the JSON body into the target type: ").unwrap_or(text);
    let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(text);
    let text = text.rsplit_once(" at line ").map_or(text, |(text, _)| text);
    let whole = "expected a whole number";
    [
        ("expected i64", whole),
        ("expected usize", whole),
        ("expected a string", "expected text"),
        ("invalid type: ", "found "),
    ]
    .iter()
    .fold(text.to_owned(), |text, (words, plain)| text.replace(words, plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_parsers_are_replaced() {
        let text = "Failed to deserialize the JSON body into the target type: events[0].timestamp: invalid type: \
                    string \"now\", expected i64 at line 1 column 13";
        assert_eq!(plain(text), "events[0].timestamp: found string \"now\", expected a whole number");
    }
}
