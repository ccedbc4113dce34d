//! The settings in the dashboard: each form does what the API does, and no secret is shown twice.

use launchway_domain::tenancy::Role;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Visit, visit, visit_of};
use crate::pages::{page, submit};
use crate::support::{Fields, PASSWORD, Says, TestApp};

async fn list(visit: &Visit<'_>, path: &str) -> serde_json::Value {
    visit.app.get(&visit.cookie, path).await.ok()
}

/// The content of an element that is shown once.
fn shown<'t>(html: &'t str, id: &str) -> &'t str {
    let opening = format!(r#"<code id="{id}">"#);
    html.split_once(&opening).unwrap().1.split_once("</code>").unwrap().0
}

#[tokio::test]
async fn a_variable_is_set_and_a_secret_never_shown() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let secret = "hunter2-is-a-secret";
    let fields = [("name", "TOKEN"), ("value", secret), ("visibility", "secret"), ("kind", "variable")];
    assert_eq!(visit.done("/env", &fields).await, "/env?done=variable-set");
    let fields = [
        ("name", "CONFIG"),
        ("value", "a\r\nb <i>"),
        ("visibility", "plain"),
        ("kind", "file"),
        ("path", "config.txt"),
        ("bundleId", "com.example.app"),
        ("configurations", "production, staging"),
        ("platforms", "ios"),
    ];
    visit.done("/env", &fields).await;
    let html = visit.html("/env").await;
    html.says("a\nb &#60;i&#62;");
    html.says("com.example.app, production, staging, iOS");
    let refused = visit.send("/env", &[("name", "1x"), ("value", secret)]).await;
    refused.is(400);
    refused.says(r#"id="name-wrong" role="alert">name must be"#);
    for html in [html, refused.text()] {
        html.lacks(secret);
    }
    let variables = list(&visit, "/env").await;
    let id = variables["items"][0].id();
    visit.confirmed(&format!("/env/{id}/delete"), &[]).await;
    assert_eq!(list(&visit, "/env").await["total"], 1);
}

#[tokio::test]
async fn a_webhook_is_made_changed_tested_and_deleted() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let fields =
        [("name", "Chat"), ("url", "https://93.184.216.34/hook"), ("events", "build.failed"), ("type", "generic")];
    let made = visit.send("/webhooks", &fields).await;
    made.is(201);
    let text = made.text();
    let secret = shown(&text, "secret").to_owned();
    assert!(secret.starts_with("whsec_"), "{secret}");
    let record = list(&visit, "/webhooks").await["items"][0].clone();
    let path = format!("/webhooks/{}", record.id());
    let html = visit.html(&path).await;
    html.says(r#"value="build.failed" checked"#);
    html.lacks(&secret);

    visit.done(&format!("{path}/test"), &[]).await;
    let deliveries = list(&visit, &format!("/webhooks/deliveries?id={}", record.id())).await;
    let delivery = deliveries["items"][0].id();
    assert!(visit.html(&path).await.contains("&#34;type&#34;:&#34;webhook.test&#34;"));
    visit.done(&format!("{path}/deliveries/{delivery}"), &[]).await;
    assert_eq!(list(&visit, &format!("/webhooks/deliveries?id={}", record.id())).await["total"], 2);

    let rotated = visit.confirm(&format!("{path}/rotate"), &[]).await.text();
    assert!(shown(&rotated, "secret").starts_with("whsec_") && shown(&rotated, "secret") != secret);
    let fields = [
        ("name", "<b>Chat</b>"),
        ("url", "https://93.184.216.34/hook"),
        ("events", "*"),
        ("events", "build.failed"),
        ("type", "slack"),
        ("bundleIds", "com.example.app"),
    ];
    let changed = visit.revised(&path, &path, &fields).await;
    assert_eq!(visit.leads(&changed, &path), format!("{path}?done=webhook-changed"));
    visit.confirmed(&format!("{path}/status"), &[("status", "disabled")]).await;
    let now = list(&visit, "/webhooks").await["items"][0].clone();
    now.has(json!({"events": ["*"], "type": "slack", "status": "disabled", "bundleIds": ["com.example.app"]}));
    let html = visit.html(&path).await;
    html.says("&#60;b&#62;Chat");
    html.lacks("<b>Chat");
    let refused = visit.send(&path, &[("name", "x"), ("url", "http://127.0.0.1/"), ("events", "*")]).await;
    refused.is(400);
    refused.says(r#"id="url-wrong""#);
    visit.confirmed(&format!("{path}/delete"), &[]).await;
    visit.page(&path).await.is(404);
}

#[tokio::test]
async fn somebody_is_invited_gets_a_role_and_goes() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    let made = visit.send("/invitations", &[("email", "bob@example.com"), ("role", "member")]).await;
    made.is(201);
    let text = made.text();
    let link = shown(&text, "link").strip_prefix(&app.origin).unwrap().to_owned();
    assert!(!visit.html("/members").await.contains(&link));
    let token = link.split_once("token=").unwrap().1;
    let joined = submit(&app, "/invite", "", &[("token", token), ("password", PASSWORD)]).await;
    let bob = joined.cookie();
    let members = page(&app, &format!("/o/{}/members", visit.org), &bob).await.text();
    members.says("bob@example.com <span class=\"quiet\">(you)");
    members.lacks("Invite somebody");

    let all = list(&visit, "/orgs/members").await;
    let find = |email: &str| all["items"].as_array().unwrap().iter().find(|member| member["email"] == email).cloned();
    let id = find("bob@example.com").unwrap().id().to_owned();
    visit.confirmed(&format!("/members/{id}/role"), &[("role", "admin")]).await;
    page(&app, &format!("/o/{}/env", visit.org), &bob).await.is(200);
    visit.confirmed(&format!("/members/{id}/remove"), &[]).await;
    page(&app, &format!("/o/{}/members", visit.org), &bob).await.is(404);

    // The last owner cannot be removed.
    let me = visit.caller().await;
    let last = visit.confirm(&format!("/members/{me}/remove"), &[]).await;
    assert!(last.status == StatusCode::BAD_REQUEST && last.text().contains("needs an owner"), "{}", last.text());
    let renamed = visit.revised("/members", "/name", &[("name", "New & Co")]).await;
    visit.leads(&renamed, "/name");
    assert!(visit.html("/members").await.contains("New &#38; Co"));
}

#[tokio::test]
async fn an_invitation_is_taken_back() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let made = visit.send("/invitations", &[("email", "bob@example.com")]).await.text();
    let link = shown(&made, "link").strip_prefix(&app.origin).unwrap().to_owned();
    let id = list(&visit, "/orgs/invitations").await["items"][0].id().to_owned();
    visit.confirmed(&format!("/invitations/{id}/delete"), &[]).await;
    page(&app, &link, "").await.is(401);
    // An admin cannot create owners.
    visit.send("/invitations", &[("email", "eve@example.com"), ("role", "owner")]).await.is(403);
}

#[tokio::test]
async fn a_password_is_changed_and_other_sessions_end() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Member).await;
    let email = format!("member@{}.example", visit.org);
    let other = app.sign_in(&email).await;
    let path = "/profile/password";
    for (current, new, words) in [
        ("wrong password!", "another good one", r#"id="current-wrong" role="alert">current password is wrong"#),
        (PASSWORD, "short", r#"id="password-wrong" role="alert">password must have at least 12"#),
    ] {
        let refused = visit.send(path, &[("current", current), ("password", new)]).await;
        refused.is(400);
        let text = refused.text();
        text.says(words);
        text.lacks(&format!("value=\"{current}"));
    }
    let done = visit.send(path, &[("current", PASSWORD), ("password", "another good one")]).await;
    done.is(303);
    let fresh = done.cookie();
    let at = format!("/o/{}/profile", visit.org);
    for (cookie, status) in [(&fresh, 200), (&other, 303), (&visit.cookie, 303)] {
        page(&app, &at, cookie).await.is(status);
    }
    submit(&app, "/", "", &[("email", &email), ("password", "another good one")]).await.is(303);
    let audit = app.audit(visit.org).await;
    assert!(audit.iter().any(|row| row.action == "user.change_password"));
}

#[tokio::test]
async fn a_session_is_ended() {
    let app = TestApp::start().await;
    let (ours, theirs) = (visit(&app, Role::Member).await, visit(&app, Role::Member).await);
    let other = app.sign_in(&format!("member@{}.example", ours.org)).await;
    let session = app.get(&other, "/auth/session").await.ok();
    let path = format!("/profile/sessions/{}/revoke", session.id());
    theirs.send(&path, &[]).await.is(404);
    ours.done(&path, &[]).await;
    let at = format!("/o/{}/profile", ours.org);
    page(&app, &at, &other).await.is(303);
    page(&app, &at, &ours.cookie).await.is(200);
}

#[tokio::test]
async fn apps_runners_usage_and_audit_are_shown() {
    let (app, org, key) = TestApp::with_org().await;
    let visit = visit_of(&app, org, Role::Owner).await;
    visit.done("/apps", &[("bundleId", "com.example.shop"), ("name", "Shop <b>")]).await;
    assert!(visit.html("/apps").await.contains("Shop &#60;b&#62;"));
    visit.send("/apps", &[("bundleId", "no id")]).await.says(r#"id="bundleId-wrong""#);
    let id = list(&visit, "/apps").await["items"][0].id().to_owned();
    visit.confirmed(&format!("/apps/{id}/delete"), &[]).await;

    let made = visit.send("/runners", &[]).await;
    made.is(201);
    let text = made.text();
    let command = shown(&text, "command");
    assert!(command.ends_with(&format!("launchway runner --url {}", app.origin)), "{command}");
    let runner = app.runner(&key, &["os=linux"]).await;
    assert!(visit.html("/runners").await.contains("os=linux"));
    visit.confirmed(&format!("/runners/{}/revoke", runner.id), &[]).await;
    assert!(visit.html("/runners").await.contains("Revoked"));

    app.published(&key, json!({"version": "1.0.1"})).await;
    let usage = visit.html("/usage").await;
    usage.says("2026-11");
    usage.says("up to 1000 API calls a minute");
    let audit = visit.html("/audit?action=runner.revoke").await;
    audit.says("1–1 of 1");
    audit.says(&runner.id);
    // The page names who did it.
    let who = format!(">owner@{}.example</a></td>", visit.org);
    audit.says(&who);
    visit.html("/audit?action=update.publish").await.says("key test");
}

#[tokio::test]
async fn a_credential_is_kept_and_deleted() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let send = async |file: &[u8], password: &str| {
        const BOUNDARY: &str = "----boundary";
        let mut body = Vec::new();
        for (name, value) in [("token", visit.token.as_str()), ("kind", "android_keystore"), ("password", password)] {
            let part = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(part.as_bytes());
        }
        let head = "Content-Disposition: form-data; name=\"content\"; filename=\"rsa.jks\"";
        body.extend_from_slice(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(file);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let request = app
            .request(Method::POST, &format!("{}/o/{}/credentials", app.origin, visit.org))
            .header("content-type", format!("multipart/form-data; boundary={BOUNDARY}"))
            .header("origin", &app.origin)
            .header("cookie", &visit.cookie);
        crate::support::Answer::to(request.body(body)).await
    };
    let keystore = include_bytes!("../../../../credentials/tests/fixtures/rsa.jks");
    let refused = send(keystore, "wrong-secret").await;
    refused.is(400);
    refused.lacks("wrong-secret");
    send(b"", "store-secret").await.says("content is missing: choose a file");
    send(keystore, "store-secret").await.is(303);
    let html = visit.html("/credentials").await;
    html.says("Android keystore");
    html.lacks("store-secret");
    let id = list(&visit, "/credentials").await["items"][0].id().to_owned();
    visit.confirmed(&format!("/credentials/{id}/delete"), &[]).await;
    assert_eq!(list(&visit, "/credentials").await["total"], 0);
}
