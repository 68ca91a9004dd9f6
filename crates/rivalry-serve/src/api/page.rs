//! The page, and a page of the interface: files in the program, no build step, no network.

use std::sync::Arc;

use axum::Router;
use axum::http::header;
use axum::routing::get;

use crate::app::App;

const FILES: [(&str, &str, &str); 5] = [
    ("/", "text/html; charset=utf-8", include_str!("../page/index.html")),
    ("/style.css", "text/css; charset=utf-8", include_str!("../page/style.css")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("../page/app.js")),
    ("/docs", "text/html; charset=utf-8", include_str!("../page/docs.html")),
    ("/docs.js", "text/javascript; charset=utf-8", include_str!("../page/docs.js")),
];

pub(super) fn router() -> Router<Arc<App>> {
    FILES.into_iter().fold(Router::new(), |router, (path, kind, text)| {
        router.route(path, get(move || async move { ([(header::CONTENT_TYPE, kind)], text) }))
    })
}
