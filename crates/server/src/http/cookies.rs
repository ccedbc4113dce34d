//! The session cookie (contract part 2).

use axum::http::{HeaderMap, HeaderValue, header};
use launchway_domain::id::OrgId;
use launchway_domain::time::{DAY, SECOND};

use crate::app::App;

/// As long as browsers keep a cookie at most: the server ends sessions that are idle, however long the cookie stays.
const COOKIE_LIFE: i64 = 400 * DAY;
/// Which organization was looked at last.
const LAST_ORG: &str = "launchway-org";

/// The cookie's name: `__Host-` where https protects it, plain on http.
pub fn name(app: &App) -> &'static str {
    if app.is_https() {
        "__Host-launchway"
    } else {
        "launchway"
    }
}

/// The session token that a request carries.
pub fn session_token<'h>(app: &App, headers: &'h HeaderMap) -> Option<&'h str> {
    value(headers, name(app))
}

/// The organization whose pages the browser looked at last.
pub fn last_org(headers: &HeaderMap) -> Option<&str> {
    value(headers, LAST_ORG)
}

fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(given, value)| *given == name && !value.is_empty())
        .map(|(_, value)| value)
}

/// The header that remembers whose pages the browser looks at. It proves nothing.
pub fn remember_org(app: &App, org: OrgId) -> HeaderValue {
    build(app, LAST_ORG, &org.to_string(), COOKIE_LIFE / SECOND)
}

/// The header that signs a browser in.
pub fn sign_in(app: &App, token: &str) -> HeaderValue {
    build(app, name(app), token, COOKIE_LIFE / SECOND)
}

/// The header that signs a browser out.
pub fn sign_out(app: &App) -> HeaderValue {
    build(app, name(app), "", 0)
}

/// The token of a sign-in that went to the provider.
pub fn provider_token<'h>(app: &App, headers: &'h HeaderMap) -> Option<&'h str> {
    value(headers, provider_name(app))
}

/// The header that lets a browser come back from the provider within ten minutes; an empty token clears it.
pub fn to_provider(app: &App, token: &str) -> HeaderValue {
    build(app, provider_name(app), token, if token.is_empty() { 0 } else { 600 })
}

fn provider_name(app: &App) -> &'static str {
    if app.is_https() {
        "__Host-launchway-provider"
    } else {
        "launchway-provider"
    }
}

fn build(app: &App, name: &str, value: &str, seconds: i64) -> HeaderValue {
    let secure = if app.is_https() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    // Tokens and ids are ASCII: always a valid header value.
    HeaderValue::from_str(&text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
