//! The session cookie (`docs/reference/callers.md#session-cookie`).

use axum::http::{HeaderMap, HeaderValue, header};
use launchway_domain::id::OrgId;
use launchway_domain::org::SESSION_LIFE;
use launchway_domain::time::{DAY, SECOND};
use launchway_ops::app::App;
use launchway_ops::known_devices;
use launchway_ops::sessions::SignedIn;

/// The longest lifetime that browsers allow for a cookie.
const COOKIE_LIFE: i64 = 400 * DAY;
/// Users that one browser can be a known device of at a time.
const MAX_KNOWN_DEVICES: usize = 16;
/// The organization that was shown last.
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

/// The organization whose pages the browser showed last.
pub fn last_org(headers: &HeaderMap) -> Option<&str> {
    value(headers, LAST_ORG)
}

fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    all(headers).find(|(given, _)| *given == name).map(|(_, value)| value)
}

/// The cookies of a request that are not empty.
fn all(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter();
    lines
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(_, value)| !value.is_empty())
}

/// The users that a browser claims to have signed in before, each with the proof that makes it a known device.
pub fn devices(app: &App, headers: &HeaderMap) -> Vec<(String, String)> {
    let of_user = |(name, value): (&str, &str)| {
        let user = name.strip_prefix(device_prefix(app))?;
        Some((user.to_owned(), value.to_owned()))
    };
    all(headers).filter_map(of_user).take(MAX_KNOWN_DEVICES).collect()
}

/// The name of the cookie of a known device ends with the user's id, because several users may share a browser.
fn device_prefix(app: &App) -> &'static str {
    if app.is_https() {
        "__Host-launchway-device-"
    } else {
        "launchway-device-"
    }
}

/// The header that remembers the organization of the current page. It proves nothing.
pub fn remember_org(app: &App, org: OrgId) -> HeaderValue {
    build(app, LAST_ORG, &org.to_string(), COOKIE_LIFE / SECOND)
}

/// Signs a browser in, and makes it a known device of the user.
pub fn sign_in(app: &App, signed_in: &SignedIn, headers: &mut HeaderMap) {
    let session = build(app, name(app), &signed_in.token, SESSION_LIFE / SECOND);
    headers.append(header::SET_COOKIE, session);
    let device = format!("{}{}", device_prefix(app), signed_in.user.id);
    let device = build(app, &device, &signed_in.device, known_devices::LIFE / SECOND);
    headers.append(header::SET_COOKIE, device);
}

/// The header that signs a browser out.
pub fn sign_out(app: &App) -> HeaderValue {
    build(app, name(app), "", 0)
}

/// The token of a sign-in that was sent to the provider.
pub fn provider_token<'h>(app: &App, headers: &'h HeaderMap) -> Option<&'h str> {
    value(headers, provider_name(app))
}

/// The header that lets a browser return from the provider within ten minutes; an empty token clears it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_however_the_browser_sends_it() {
        let cases: [(&[&[u8]], Option<&str>); 17] = [
            (&[b"launchway=a"], Some("a")),
            (&[b"x=b; launchway=a; y=c"], Some("a")),
            (&[b"x=b;launchway=a;y=c"], Some("a")),
            (&[b"x=b", b"launchway=a"], Some("a")),
            (&[b" launchway=a ;"], Some("a")),
            (&[b"launchway=a=b=="], Some("a=b==")),
            (&[b"launchway=\"a\""], Some("\"a\"")),
            (&[b"launchway=%61"], Some("%61")),
            (&[b"launchway=a; launchway=b"], Some("a")),
            (&[b"launchway=; launchway=b"], Some("b")),
            (&[b"y=\xff", b"launchway=a"], Some("a")),
            (&[b"launchway=a\xff"], None),
            (&[b"launchway=", b"launchway", b"=launchway"], None),
            (&[b"Launchway=a; xlaunchway=a; launchwayx=a"], None),
            (&[b"launchway =a"], None),
            (&[b";;; ; =; ==;"], None),
            (&[], None),
        ];
        for (lines, expected) in cases {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::COOKIE, HeaderValue::from_bytes(line).unwrap());
            }
            assert_eq!(value(&headers, "launchway"), expected, "{headers:?}");
        }
    }
}
