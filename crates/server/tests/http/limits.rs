//! Rate limits of organizations: tiers, headers, windows, and which calls share a count
//! (`docs/reference/conventions.md#rate-limits`).

use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::{HOUR, MINUTE, SECOND};
use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, START, Setup, TestApp};

const HEADERS: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/// The three headers as numbers; `None` without any of them.
fn quota(answer: &Answer) -> Option<[i64; 3]> {
    let given = HEADERS.map(|name| answer.header(name));
    if given == ["", "", ""] {
        return None;
    }
    Some(given.map(|value| value.parse().unwrap_or_else(|_| panic!("{given:?} are whole numbers"))))
}

async fn list(app: &TestApp, key: &str) -> Answer {
    app.get(key, "/apps").await
}

async fn with_tier(app: &TestApp, tier: Tier) -> (OrgId, String) {
    let org = app.org(tier).await;
    let key = app.key(org, &Scope::ALL).await;
    (org, key)
}

#[tokio::test]
async fn each_tier_has_its_calls_a_minute() {
    let app = TestApp::start().await;
    let reset = (START + MINUTE) / SECOND;
    for (tier, limit) in [(Tier::Free, 60), (Tier::Pro, 300), (Tier::Enterprise, 1000)] {
        let (_, key) = with_tier(&app, tier).await;
        for left in (0..limit).rev() {
            let answer = list(&app, &key).await;
            assert_eq!((answer.status.as_u16(), quota(&answer)), (200, Some([limit, left, reset])));
        }
        for _ in 0..2 {
            let refused = list(&app, &key).await;
            refused.refused(429, "Too many requests. Try again in 60 seconds.");
            assert_eq!(quota(&refused), Some([limit, 0, reset]));
            assert_eq!(refused.header("retry-after"), "60");
        }
    }
}

/// "on every such response the three headers": whatever the result of a call with a key or session.
#[tokio::test]
async fn only_answers_to_a_key_or_session_have_the_headers() {
    let app = TestApp::start().await;
    let (org, key) = with_tier(&app, Tier::Enterprise).await;
    let weak = app.key(org, &[Scope::Submit]).await;
    let cookie = app.user(org, "member@example.com", Role::Member).await;
    let mut left = 1000;
    for (caller, method, path, body, status) in [
        (&key, Method::GET, "/apps", None, 200),
        (&key, Method::HEAD, "/apps", None, 200),
        (&key, Method::POST, "/api-keys", Some(json!({"name": "a", "scopes": ["build"]})), 201),
        (&key, Method::POST, "/api-keys", Some(json!({"name": "a", "scopes": ["admin"]})), 400),
        (&key, Method::POST, "/api-keys", Some(json!({"name": "x".repeat(1 << 20), "scopes": []})), 413),
        (&key, Method::GET, "/apps?limit=0", None, 400),
        (&key, Method::GET, "/apps?orgId=org_x", None, 403),
        (&key, Method::GET, "/apps?orgId=a&orgId=b", None, 400),
        (&weak, Method::GET, "/update", None, 403),
        (&key, Method::GET, "/update?id=x", None, 404),
        (&key, Method::DELETE, "/build?id=x", None, 404),
    ] {
        let answer = app.send(caller, method.clone(), path, body).await;
        left -= 1;
        assert_eq!(answer.status.as_u16(), status, "{method} {path}: {}", answer.text());
        assert_eq!(
            quota(&answer).map(|[limit, remaining, _]| (limit, remaining)),
            Some((1000, left)),
            "{method} {path}"
        );
    }
    for (method, path, status) in [
        (Method::GET, "/apps", 200),
        (Method::GET, "/env", 403),
        (Method::GET, "/update?id=x", 404),
        (Method::GET, "/auth/session", 200),
    ] {
        let answer = app.send(&cookie, method, path, ()).await;
        left -= 1;
        assert_eq!((answer.status.as_u16(), quota(&answer).map(|quota| quota[1])), (status, Some(left)), "{path}");
    }
    let sign_in = json!({"email": "member@example.com", "password": "wrong password"});
    for (caller, method, path, body, status) in [
        (None, Method::GET, "/apps", None, 401),
        (Some("lw_unknown"), Method::GET, "/apps", None, 401),
        (None, Method::GET, "/healthz", None, 200),
        (None, Method::GET, "/openapi.json", None, 200),
        (None, Method::GET, "/update/check/a?currentVersion=1", None, 200),
        (None, Method::POST, "/auth/sign-in", Some(sign_in), 401),
    ] {
        let answer = match caller {
            Some(caller) => app.send(caller, method, path, body).await,
            None => Answer::to(app.request(method, path).json(&body)).await,
        };
        assert_eq!((answer.status.as_u16(), quota(&answer)), (status, None), "{path}");
    }
    assert_eq!(quota(&list(&app, &key).await).unwrap()[1], left - 1, "and they count for nobody");
}

#[tokio::test]
async fn a_window_is_a_minute_and_a_clock_jump_locks_nobody_out() {
    let app = TestApp::start().await;
    let (_, key) = with_tier(&app, Tier::Free).await;
    let exhaust = async || while list(&app, &key).await.status == 200 {};
    app.advance(20 * SECOND + 500);
    let first = list(&app, &key).await;
    assert_eq!(quota(&first).unwrap()[2], (START + MINUTE) / SECOND, "whole seconds, the window's end");
    exhaust().await;
    for (millis, wait) in [(0, 40), (499, 40), (1, 39), (37_999, 2), (1, 1), (999, 1)] {
        app.advance(millis);
        let refused = list(&app, &key).await;
        assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, wait.to_string().as_str()));
    }
    for jump in [1, HOUR, -HOUR, 24 * HOUR, -24 * HOUR] {
        app.advance(jump);
        let answer = list(&app, &key).await;
        assert_eq!((answer.status.as_u16(), quota(&answer).unwrap()[1]), (200, 59), "{jump}");
        exhaust().await;
    }
}

#[tokio::test]
async fn a_refused_call_does_nothing() {
    let app = TestApp::start().await;
    let (_, key) = with_tier(&app, Tier::Free).await;
    while list(&app, &key).await.status == 200 {}
    app.post(&key, "/apps", json!({"bundleId": "com.example.app"})).await.is(429);
    // The order of checks: the limit comes before errors of the call itself.
    for path in ["/apps?orgId=org_x", "/apps?limit=0", "/update?id=x"] {
        assert_eq!(app.get(&key, path).await.status, 429, "{path}");
    }
    app.get("lw_unknown", "/apps").await.refused(401, "Invalid or expired API key");
    app.advance(MINUTE);
    assert_eq!(list(&app, &key).await.ok()["total"], 0);
}

#[tokio::test]
async fn callers_of_one_organization_share_its_count() {
    let app = TestApp::start().await;
    let (org, key) = with_tier(&app, Tier::Free).await;
    let second = app.key(org, &[Scope::Build]).await;
    let cookie = app.user(org, "member@example.com", Role::Member).await;
    let (other_org, other) = with_tier(&app, Tier::Pro).await;
    let both = app.user(other_org, "other@example.com", Role::Owner).await;
    let left = |answer: Answer| quota(&answer).unwrap()[1];
    assert_eq!(left(list(&app, &key).await), 59);
    assert_eq!(left(list(&app, &second).await), 58);
    assert_eq!(left(app.get(&cookie, "/apps").await), 57);
    assert_eq!(left(app.get(&cookie, &format!("/apps?orgId={org}")).await), 56);
    assert_eq!(left(app.get(&key, &format!("/apps?orgId={other_org}")).await), 55, "counted for its own");
    assert_eq!(left(list(&app, &other).await), 299);
    assert_eq!(left(app.get(&both, "/apps").await), 298);
    while list(&app, &key).await.status == 200 {}
    list(&app, &second).await.is(429);
    app.get(&cookie, "/apps").await.is(429);
    assert_eq!(left(list(&app, &other).await), 297);
}

/// `docs/reference/conventions.md#several-nodes` allows an overshoot; here the nodes share every single count.
#[tokio::test]
async fn nodes_of_one_database_share_the_count() {
    let one = TestApp::with(Setup::on_postgres()).await;
    let other = one.another_node().await;
    let (_, key) = with_tier(&one, Tier::Free).await;
    let calls = (0..100).map(|number| list(if number % 2 == 0 { &one } else { &other }, &key));
    let answers = futures::future::join_all(calls).await;
    let served: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    let mut left: Vec<_> = served.iter().map(|answer| quota(answer).unwrap()[1]).collect();
    left.sort_unstable();
    assert_eq!(left, (0..60).collect::<Vec<_>>(), "overshoot 0");
    assert!(answers.iter().all(|answer| [200, 429].contains(&answer.status.as_u16())));
    // A node whose clock is late at the change of the minute neither gets nor grants a second count.
    one.advance(MINUTE);
    let turns = [&one, &other].into_iter().cycle().take(100);
    let mut served = 0;
    for node in turns {
        served += i32::from(list(node, &key).await.status == 200);
    }
    assert_eq!(served, 60);
}
