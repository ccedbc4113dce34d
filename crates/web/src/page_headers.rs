//! The headers that protect a page.

use axum::http::{HeaderValue, header};
use axum::response::Response;

const CSP: &str =
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Sets the headers that prevent framing, sniffing and scripts, and that hide the URL from other sites. `no-referrer`
/// would make browsers send forms with `Origin: null`, which looks like another site.
pub fn protect(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
