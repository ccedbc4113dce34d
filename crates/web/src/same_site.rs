//! Whether a request comes from this server's own pages.

use axum::http::{HeaderMap, HeaderValue, header};
use launchway_ops::app::App;

/// The message for a form that did not come from its own page.
pub const FOREIGN_FORM: &str = "This form was sent from another site";

/// Whether the browser reports that another site caused the request.
pub fn is_from_another_site(app: &App, headers: &HeaderMap) -> bool {
    let says = headers.contains_key("sec-fetch-site") || headers.contains_key(header::ORIGIN);
    says && !is_from_own_pages(app, headers)
}

/// A change made with a cookie must come from the same origin: either `Sec-Fetch-Site` says so, or `Origin` is the
/// public URL or the requested host. A browser sends at least one of the two with every change.
pub fn is_from_own_pages(app: &App, headers: &HeaderMap) -> bool {
    match (headers.get("sec-fetch-site"), headers.get(header::ORIGIN)) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => {
            let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
            let asked = origin
                .to_str()
                .ok()
                .and_then(|origin| origin.split_once("://"))
                .map(|(_, host)| host.as_bytes());
            origin.as_bytes() == app.public_url.as_bytes() || (asked.is_some() && asked == host)
        }
        (None, None) => false,
    }
}
