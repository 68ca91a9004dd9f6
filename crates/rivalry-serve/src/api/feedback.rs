//! What users did.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ids;
use crate::app::App;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::ApiJson;
use crate::feedback::Record;
use crate::json::Json;

/// The longest id or name of an event, in bytes.
const LONGEST: usize = 512;

/// An event: a user did something with an item.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Event {
    /// The user's id.
    #[schema(value_type = ids::Id)]
    #[serde(deserialize_with = "ids::one")]
    pub user: String,
    /// The item's id; the model need not know it.
    #[schema(value_type = ids::Id)]
    #[serde(deserialize_with = "ids::one")]
    pub item: String,
    /// When it happened, in seconds since 1970; now, if it is not given.
    #[schema(minimum = 0, maximum = 253_402_300_799_i64)]
    pub timestamp: Option<i64>,
    /// What happened. Without `--positive-events`, these count as interactions: click, view, play, read, like, save, share,
    /// add-to-cart, buy, purchase; any other event is stored and changes no list.
    #[schema(max_length = 512)]
    pub event: Option<String>,
}

/// One event, or several.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    /// The events.
    pub events: Vec<Event>,
}

/// How many events were stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stored {
    /// The number of events; they are on the disk.
    pub stored: usize,
    /// How many of them count as interactions.
    pub positive: usize,
}

/// Store what users did
///
/// Interactions (events without a name, or with one of the names of `--positive-events`) are appended to the feedback log,
/// which `rivalry train --data` reads, and their items are left out of the users' next lists. All other events, such as
/// impressions and dislikes, are stored in a file beside it and change no list. Both are on the disk (fdatasync) when this
/// is answered.
#[utoipa::path(
    post, path = "/api/feedback", tag = "feedback", request_body = FeedbackRequest,
    responses(
        (status = 200, body = Stored),
        (status = 400, body = ErrorBody), (status = 401, body = ErrorBody), (status = 404, body = ErrorBody),
        (status = 413, body = ErrorBody), (status = 415, body = ErrorBody), (status = 422, body = ErrorBody),
        (status = 429, body = ErrorBody), (status = 503, body = ErrorBody), (status = 507, body = ErrorBody),
    ),
)]
pub(crate) async fn feedback(
    State(app): State<Arc<App>>,
    ApiJson(request): ApiJson<FeedbackRequest>,
) -> ApiResult<Json<Stored>> {
    let Some(log) = &app.feedback else {
        let message = "this server stores no feedback";
        let help = "its operator must start it with --feedback FILE";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "no_feedback", message, help));
    };
    app.check_batch(request.events.len(), "events")?;
    let records: Vec<Record> =
        request.events.into_iter().map(|event| app.record(event)).collect::<ApiResult<_>>()?;
    if records.is_empty() {
        return Err(ApiError::invalid(
            "there are no events",
            r#"for example {"events": [{"user": "7", "item": "12"}]}"#,
        ));
    }
    let stored = records.len();
    let positive = log.append(records).await?;
    for record in &positive {
        app.seen.add(&record.user, &record.item);
    }
    Ok(Json(Stored { stored, positive: positive.len() }))
}

impl App {
    fn record(&self, event: Event) -> ApiResult<Record> {
        let Event { user, item, timestamp, event } = event;
        for (name, text) in [("user", &user), ("item", &item)] {
            // Readers of tables trim blanks, so that such an id would be another one there.
            if text.is_empty() || text.len() > LONGEST || text.trim() != text {
                let message =
                    format!("'{name}' is empty, longer than {LONGEST} bytes, or starts or ends with a blank");
                return Err(ApiError::invalid(message, "send the id as it is in the data"));
            }
        }
        if event.as_ref().is_some_and(|event| event.len() > LONGEST) {
            return Err(ApiError::invalid("'event' is too long", format!("send at most {LONGEST} bytes")));
        }
        let now =
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().cast_signed());
        // Year 9999, as in dates that are written out.
        let timestamp = timestamp.unwrap_or(now);
        if !(0..=253_402_300_799).contains(&timestamp) {
            let help = "send seconds since 1970, not milliseconds, or leave it out";
            return Err(ApiError::invalid(format!("'timestamp' is {timestamp}"), help));
        }
        let chosen = self.models.choose(None, Some(&user))?;
        let (model, checksum) = (chosen.served.name.clone(), chosen.served.checksum.clone());
        Ok(Record { user, item, timestamp, event, model, checksum, arm: chosen.arm })
    }
}
