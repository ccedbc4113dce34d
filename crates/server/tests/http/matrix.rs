//! Every endpoint × every kind of caller, from the router's own list: a new endpoint cannot be forgotten.

mod callers;
mod foreign;
mod order;
mod table;

use std::collections::BTreeSet;

use crate::support::{Fields, TestApp};
use callers::refusal;
use launchway_domain::time::MINUTE;
use launchway_web::router;
use table::{ROWS, row_of};

/// The endpoint that ends the session of its caller.
const SIGN_OUT: &str = "/auth/sign-out";
/// The endpoints that read what belongs to one resource or app, and so have no list without its id.
const NEED_ID: [&str; 10] = [
    "GET /webhooks/deliveries",
    "GET /build/plan",
    "GET /fingerprints",
    "GET /fingerprints/diff",
    "GET /fingerprints/latest",
    "GET /build/log",
    "GET /build/log/stream",
    "GET /update/package",
    "GET /trust",
    "GET /trust/drafts",
];

/// The endpoint that creates something without a body.
const NEEDS_NOTHING: &str = "POST /runners/tokens";

#[test]
fn the_reference_and_the_router_have_the_same_endpoints() {
    let routed = router::lines().into_iter().map(|line| {
        let row = row_of(&line.method, &line.path);
        row.line
    });
    let listed: BTreeSet<_> = ROWS.iter().map(|row| row.line).collect();
    assert_eq!(routed.collect::<BTreeSet<_>>(), listed);
    assert_eq!(listed.len(), ROWS.len(), "a row stands twice");
}

/// Who has access (`docs/reference/callers.md#scopes-and-endpoints`), and the exact refusals of the others
/// (`docs/reference/conventions.md#fixed-messages`).
#[tokio::test]
async fn every_endpoint_lets_in_whom_the_reference_says() {
    let app = TestApp::start().await;
    let callers = callers::all(&app).await;
    let mut lines = router::lines();
    lines.sort_by_key(|line| line.path == SIGN_OUT);
    let mut wrong = Vec::new();
    for line in &lines {
        let row = row_of(&line.method, &line.path);
        // A minute for each, so that no tier's limit is reached.
        app.advance(MINUTE);
        for caller in &callers {
            let path = line.path.replace("{bundleId}", "com.example.app");
            // The check requires its version; all other endpoints ignore unknown parameters.
            let path = format!("{path}?currentVersion=1.0.0{}", caller.query);
            let answer = caller.send(&app, &line.method, &path, None).await;
            let expected = match refusal(row.door, &line.method, &caller.who) {
                Some((status, message)) => (status, Some(message)),
                // Without body and id every change is malformed, except the one that needs neither.
                None if NEED_ID.contains(&row.line) => (400, None),
                None if row.line == NEEDS_NOTHING => (201, None),
                None if line.method == "GET" || line.path == SIGN_OUT => (200, None),
                None => (400, None),
            };
            let told = expected.1.as_ref().map(|_| answer.json().text("message").to_owned());
            if (answer.status.as_u16(), told) != expected {
                let (status, text) = (answer.status, answer.text());
                wrong.push(format!("{} as {}: {status} {text}, not {expected:?}", row.line, caller.name));
            }
            assert_eq!(answer.headers.get_all("x-request-id").iter().count(), 1);
        }
    }
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
}
