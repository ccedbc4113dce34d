//! A change made with a cookie must come from the same origin, by `Origin` or `Sec-Fetch-Site`
//! (`docs/reference/callers.md#changes-made-with-a-cookie`).

use launchway_domain::tenancy::Role;
use reqwest::Method;
use serde_json::json;

use super::{EMAIL, credentials, post};
use crate::support::{Answer, PASSWORD, TestApp};

const PUBLIC: &str = "https://launchway.example";

async fn behind_a_proxy() -> TestApp {
    TestApp::with(settings!(public_url = PUBLIC)).await
}

/// What a browser may say about the origin of a request, and whether it is this server's own page.
fn said(app: &TestApp) -> Vec<(Vec<(&'static str, String)>, bool)> {
    let host = app.origin.strip_prefix("http://").unwrap();
    let texts = [
        (vec![("origin", app.origin.clone())], true),
        (vec![("origin", PUBLIC.to_owned())], true),
        (vec![("sec-fetch-site", "same-origin".to_owned())], true),
        (vec![("sec-fetch-site", "same-origin".to_owned()), ("origin", PUBLIC.to_owned())], true),
        (vec![("origin", "null".to_owned())], false),
        (vec![("origin", format!("http://evil.{host}"))], false),
        (vec![("origin", format!("{PUBLIC}.evil.example"))], false),
        (vec![("origin", format!("{PUBLIC}:8443"))], false),
        (vec![("origin", String::new())], false),
        (vec![("sec-fetch-site", "same-site".to_owned())], false),
        (vec![("sec-fetch-site", "cross-site".to_owned())], false),
        (vec![("sec-fetch-site", "none".to_owned())], false),
        // If both are present, the one that no script can set counts.
        (vec![("sec-fetch-site", "cross-site".to_owned()), ("origin", PUBLIC.to_owned())], false),
    ];
    texts.into()
}

#[tokio::test]
async fn a_change_with_a_cookie_comes_from_the_own_pages() {
    let app = behind_a_proxy().await;
    let (_, cookie) = app.org_with_user(EMAIL, Role::Owner).await;
    let mut cases = said(&app);
    cases.push((Vec::new(), false));
    for (headers, own) in cases {
        let ask = async |method: Method| {
            let mut request = app.request(method, "/apps").header("cookie", &cookie);
            for (name, value) in &headers {
                request = request.header(*name, value);
            }
            Answer::to(request.json(&json!({"bundleId": ""}))).await
        };
        let answer = ask(Method::POST).await;
        if own {
            assert_eq!(answer.status.as_u16(), 400, "{headers:?}: {}", answer.text());
        } else {
            answer.refused(403, "A change made with a session must come from the dashboard's own pages");
        }
        // Reading changes nothing, and the browser keeps other sites from seeing it.
        ask(Method::GET).await.ok();
    }
    let list = app.get(&cookie, "/apps").await.ok();
    assert_eq!(list["total"], 0);
}

#[tokio::test]
async fn another_site_signs_nobody_in() {
    let app = behind_a_proxy().await;
    app.org_with_user(EMAIL, Role::Owner).await;
    for (headers, own) in said(&app) {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &headers).await;
        if own {
            answer.ok();
        } else {
            answer.refused(403, "Sign in on this server's own pages");
            assert_eq!(answer.header("set-cookie"), "");
        }
    }
    // A program that is not a browser sends neither, and has no cookie to abuse.
    post(&app, "/auth/sign-in", credentials(EMAIL, PASSWORD), &[]).await.ok();
}

#[tokio::test]
async fn a_change_with_a_cookie_is_json() {
    let (app, _, cookie) = TestApp::with_user(EMAIL, Role::Owner).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let request = app
            .request(Method::POST, "/apps")
            .header("cookie", &cookie)
            .header("origin", &app.origin)
            .header("content-type", kind)
            .body(r#"{"bundleId": "com.example.app"}"#);
        Answer::to(request).await.refused(400, "Content-Type must be application/json");
    }
}

#[tokio::test]
async fn a_key_may_come_from_anywhere() {
    let (app, key) = TestApp::with_key().await;
    let request = app
        .request(Method::POST, "/apps")
        .bearer_auth(&key)
        .header("origin", "https://ci.example")
        .header("sec-fetch-site", "cross-site")
        .json(&json!({"bundleId": "com.example.app"}));
    Answer::to(request).await.created();
}
