//! What every request goes through: key, limits, timeout, headers, metrics.

use std::collections::HashMap;
use std::future::Future;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::app::App;
use crate::error::{ApiError, ApiResult};

/// The address of the client, as a request carries it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Client(pub IpAddr);

/// Headers of all answers. Scripts and styles are the server's own; pictures may be those of the items.
const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https: http: data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Paths that need no key: the page itself, the API's description, and what a load balancer asks.
const OPEN: [&str; 8] = [
    "/",
    "/style.css",
    "/app.js",
    "/docs",
    "/docs.js",
    "/openapi.json",
    "/api/health/live",
    "/api/health/ready",
];

/// Answers a request, within all limits.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let path = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let counted = Counted::new(&app);
    let admitted = app.admit(&path, &request, counted.others);
    let mut response = match admitted {
        Err(refused) => refused.into_response(),
        Ok(()) => {
            let answer = CatchPanic(Box::pin(next.run(request)));
            match tokio::time::timeout(app.options.limits.request_timeout, answer).await {
                Ok(Some(response)) => response,
                Ok(None) => ApiError::internal("the server failed at this request").into_response(),
                Err(_) => ApiError::timeout().into_response(),
            }
        }
    };
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    if response.status() == StatusCode::REQUEST_TIMEOUT {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    app.metrics.answered(&path, response.status().as_u16(), start.elapsed());
    response
}

impl App {
    fn admit(&self, path: &str, request: &Request, others: i64) -> ApiResult<()> {
        // A load balancer must get its answer from a server that is busy, too.
        if path.starts_with("/api/health/") {
            return Ok(());
        }
        if others >= self.options.limits.max_requests as i64 {
            return Err(ApiError::busy("as many requests are in progress as this server takes"));
        }
        let client = request.extensions().get::<Client>();
        if let (Some(rate), Some(Client(address))) = (&self.rate, client)
            && !rate.admit(*address, Instant::now())
        {
            let message = "this address sends more requests than the server allows";
            let status = StatusCode::TOO_MANY_REQUESTS;
            return Err(ApiError::new(
                status,
                "too_many_requests",
                message,
                "send fewer, or try again later",
            ));
        }
        match &self.key {
            Some(key) if !OPEN.contains(&path) => key.check(request),
            _ => Ok(()),
        }
    }
}

/// A request in progress.
struct Counted<'a> {
    app: &'a App,
    /// How many others there are.
    others: i64,
}

impl<'a> Counted<'a> {
    fn new(app: &'a App) -> Self {
        Self { app, others: app.metrics.request_started() }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.app.metrics.request_ended();
    }
}

/// The API key.
pub(crate) struct KeyCheck {
    digest: [u8; 32],
}

impl KeyCheck {
    pub fn new(key: &str) -> Self {
        Self { digest: Sha256::digest(key.as_bytes()).into() }
    }

    /// Compares digests in constant time: neither the content of a wrong key nor its length shows.
    fn check(&self, request: &Request) -> ApiResult<()> {
        let headers = request.headers();
        let bearer = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        let bearer = bearer.and_then(|value| value.strip_prefix(b"Bearer "));
        let given = bearer.or_else(|| headers.get("x-api-key").map(HeaderValue::as_bytes));
        let digest: [u8; 32] = Sha256::digest(given.unwrap_or_default()).into();
        if given.is_some() && bool::from(digest.ct_eq(&self.digest)) {
            return Ok(());
        }
        let message = if given.is_some() { "this is not the API key" } else { "the API key is missing" };
        let help = "send the header 'Authorization: Bearer KEY' or 'X-API-Key: KEY'";
        Err(ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", message, help))
    }
}

/// Requests per second and address: a bucket for each, which fills at that rate and holds one second's worth.
pub(crate) struct RateLimit {
    rate: f64,
    buckets: Mutex<HashMap<IpAddr, (f64, Instant)>>,
}

/// Addresses remembered at most; those whose buckets are full are forgotten first.
const ADDRESSES: usize = 10_000;

impl RateLimit {
    pub fn new(rate: f64) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    fn admit(&self, address: IpAddr, now: Instant) -> bool {
        let full = self.rate.max(1.0);
        let refilled = |(tokens, at): (f64, Instant)| {
            (tokens + now.duration_since(at).as_secs_f64() * self.rate).min(full)
        };
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= ADDRESSES {
            buckets.retain(|_, bucket| refilled(*bucket) < full);
            if buckets.len() >= ADDRESSES {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(address).or_insert((full, now));
        let tokens = refilled(*bucket);
        let admitted = tokens >= 1.0;
        *bucket = (if admitted { tokens - 1.0 } else { tokens }, now);
        admitted
    }
}

/// A future whose panic is its result.
struct CatchPanic<F>(Pin<Box<F>>);

impl<F: Future> Future for CatchPanic<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context))) {
            Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_bucket_holds_one_second_and_refills() {
        let limit = RateLimit::new(4.0);
        let (a, b) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([127, 0, 0, 2]));
        let start = Instant::now();
        let admitted = |address, after| limit.admit(address, start + Duration::from_millis(after));
        assert_eq!((0..6).filter(|_| admitted(a, 0)).count(), 4);
        assert!(admitted(b, 0), "another address has its own");
        assert!(!admitted(a, 200) && admitted(a, 260) && !admitted(a, 300));
        assert_eq!((0..9).filter(|_| admitted(a, 5000)).count(), 4);
    }

    #[test]
    fn memory_for_addresses_is_bounded() {
        let limit = RateLimit::new(1.0);
        let now = Instant::now();
        for n in 0..3 * ADDRESSES as u32 {
            limit.admit(IpAddr::from(n.to_be_bytes()), now);
        }
        assert!(limit.buckets.lock().unwrap().len() <= ADDRESSES);
    }
}
