//! The static files of the pages, embedded in the program. Their URLs contain a hash of all of them, so browsers may cache
//! them for a year, and a script may import another one.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use launchway_ops::api_error::ApiError;
use sha2::{Digest, Sha256};

/// One file.
struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
    /// Such as `/assets/0123456789abcdef/launchway.css`.
    url: String,
}

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

const FILES: [(&str, &str, &str); 6] = [
    ("launchway.css", CSS, include_str!("../../assets/launchway.css")),
    ("icon.svg", SVG, include_str!("../../assets/icon.svg")),
    ("dashboard.js", SCRIPT, include_str!("../../assets/dashboard.js")),
    ("live.js", SCRIPT, include_str!("../../assets/live.js")),
    ("log.js", SCRIPT, include_str!("../../assets/log.js")),
    ("htmx.min.js", SCRIPT, include_str!("../../assets/vendor/htmx.min.js")),
];

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let all = FILES
        .iter()
        .fold(Sha256::new(), |hash, (_, _, text)| hash.chain_update(text));
    let hash = hex::encode(&all.finalize()[..8]);
    let asset = |(name, kind, text)| Asset {
        name,
        kind,
        text,
        url: format!("/assets/{hash}/{name}"),
    };
    FILES.map(asset).into()
});

/// The URL of a file; empty for an unknown name, which a test rules out.
pub fn url(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    asset.map_or("", |asset| &asset.url)
}

/// Serves the URLs that [`url`] returns, and no other.
pub async fn serve(Path((hash, name)): Path<(String, String)>) -> Result<Response, ApiError> {
    let wanted = format!("/assets/{hash}/{name}");
    let asset = ASSETS
        .iter()
        .find(|asset| asset.url == wanted)
        .ok_or(ApiError::NoSuchPath)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind)),
        (
            header::CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        ),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    Ok((headers, asset.text).into_response())
}
