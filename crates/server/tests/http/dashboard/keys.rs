//! API keys in the dashboard.

use launchway_domain::tenancy::Role;
use serde_json::json;

use super::visit;
use crate::support::{Fields, Says, TestApp};

#[tokio::test]
async fn a_key_is_made_shown_once_and_revoked() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Admin).await;
    let made = visit
        .send("/api-keys", &[("name", "CI"), ("scopes", "build"), ("scopes", "update"), ("expiresInDays", "30")])
        .await;
    made.is(201);
    let text = made.text();
    let start = text.find(r#"<code id="key">lw_"#).unwrap() + r#"<code id="key">"#.len();
    let key = &text[start..start + 49];
    app.get(key, "/update").await.ok();
    text.says(&format!("launchway login --url {}", app.origin));
    let page = visit.html("/api-keys").await;
    page.says(&format!(r#"name="token" value="{}""#, visit.token));
    page.lacks(key);
    let list = app.get(&visit.cookie, "/api-keys").await.ok();
    let record = &list["items"][0];
    record.has(json!({"scopes": ["build", "update"], "expiresAt": "2026-12-20T10:00:00.000Z"}));

    let path = format!("/api-keys/{}/revoke", record.id());
    let next = visit.confirmed(&path, &[]).await;
    assert_eq!(next, "/api-keys?done=key-revoked");
    assert!(visit.html(&next).await.contains("The key is revoked."));
    app.get(key, "/update").await.refused(401, "Invalid or expired API key");
    let audit: Vec<String> = app.audit(visit.org).await.into_iter().map(|row| row.action).collect();
    assert!(audit.contains(&"key.create".to_owned()) && audit.contains(&"key.revoke".to_owned()), "{audit:?}");
}

#[tokio::test]
async fn a_refused_key_keeps_what_was_typed_at_the_field() {
    let app = TestApp::start().await;
    let visit = visit(&app, Role::Owner).await;
    let long = "n".repeat(101);
    let refused = visit.send("/api-keys", &[("name", &long), ("scopes", "build")]).await;
    refused.is(400);
    let text = refused.text();
    text.says(&format!(r#"value="{long}""#));
    text.says(r#"id="name-wrong" role="alert">name must have 1 to 100"#);
    for (scope, ticked) in [("build", true), ("submit", false)] {
        assert_eq!(text.contains(&format!(r#"value="{scope}" checked"#)), ticked, "{scope}");
    }
    for (field, value) in [("expiresInDays", "soon"), ("expiresInDays", "0"), ("scopes", "admin")] {
        let refused = visit.send("/api-keys", &[("name", "x"), ("scopes", "build"), (field, value)]).await;
        assert_eq!(refused.status.as_u16(), 400, "{field}={value}");
        assert!(refused.text().contains(&format!("{field} must")), "{field}={value}: {}", refused.text());
    }
}
