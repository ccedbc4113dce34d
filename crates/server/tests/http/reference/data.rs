//! The data of the table's rows: an organization with its callers, another one, updates of an app.

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Gets, Who};
use crate::support::{Answer, Fields, TestApp, package};

/// More keys than a page holds by default.
pub const KEYS: usize = 14;

/// A running service with everything that the rows name.
pub struct Data {
    pub app: TestApp,
    keys: Vec<(Scope, String)>,
    stranger: String,
    revoked: String,
    expired: String,
    cookie: String,
    /// The replacement for `{name}` in a row.
    words: Vec<(&'static str, String)>,
}

/// The native code of the installed app in the rows, and of the update that is incompatible with it.
pub fn document(camera: &str) -> Value {
    let hash = "0".repeat(64);
    json!({
        "alg": "lwfp-1", "framework": "nativescript", "native": hash, "platform": "ios",
        "plugins": {"@nativescript/camera": camera}, "resources": hash,
    })
}

impl Data {
    pub async fn new() -> Data {
        let app = TestApp::start().await;
        let org = app.org(Tier::Enterprise).await;
        let mut keys = Vec::new();
        for scope in Scope::ALL {
            keys.push((scope, app.key(org, &[scope]).await));
        }
        let (_, stranger) = app.org_with_key().await;
        let cookie = app.user(org, "owner@example.com", Role::Owner).await;
        // Later than the first: a session acts in the oldest one by default.
        app.advance(1);
        let second = app.org(Tier::Enterprise).await;
        app.join(second, "owner@example.com", Role::Owner).await;
        let admin = keys[3].1.clone();
        let make = async |fields: Value| app.post(&admin, "/api-keys", fields).await.created();
        let revoked = make(json!({"name": "old", "scopes": ["build", "submit", "update"]})).await;
        app.delete(&admin, &format!("/api-keys?id={}", revoked.id())).await.ok();
        let expiring = json!({"name": "short", "scopes": ["build", "submit", "update"], "expiresInDays": 1});
        let expired = make(expiring).await;
        app.advance(DAY);
        let mut spare = Value::Null;
        for _ in keys.len() + 2..KEYS {
            spare = make(json!({"name": "spare", "scopes": ["build"]})).await;
        }
        let mut words = vec![
            ("org", org.to_string()),
            ("second", second.to_string()),
            ("key", spare.id().to_owned()),
            ("revokedKey", revoked.id().to_owned()),
        ];
        words.extend(updates(&app, &keys[2].1, &stranger).await);
        Data {
            revoked: revoked.text("key").to_owned(),
            expired: expired.text("key").to_owned(),
            app,
            keys,
            stranger,
            cookie,
            words,
        }
    }

    pub fn key(&self, scope: Scope) -> &str {
        &self.keys.iter().find(|(of, _)| *of == scope).unwrap().1
    }

    pub async fn call(&self, who: Who, method: Method, path: &str, body: Value) -> Answer {
        let request = self.app.request(method, path);
        let request = match who {
            Who::Nobody => request,
            Who::Shows(authorization) => request.header("authorization", authorization),
            Who::Key(scope) => request.bearer_auth(self.key(scope)),
            Who::Stranger => request.bearer_auth(&self.stranger),
            Who::Revoked => request.bearer_auth(&self.revoked),
            Who::Expired => request.bearer_auth(&self.expired),
            Who::Session => request.header("cookie", &self.cookie).header("origin", &self.app.origin),
        };
        let request = if body.is_null() { request } else { request.json(&body) };
        Answer::to(request).await
    }

    /// The text with every `{name}` replaced.
    pub fn filled(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), word))
    }

    pub fn filled_body(&self, body: Value) -> Value {
        serde_json::from_str(&self.filled(&body.to_string())).unwrap()
    }

    pub fn filled_gets(&self, gets: Gets) -> Gets {
        match gets {
            Gets::Is(status, json) => Gets::Is(status, self.filled_body(json)),
            Gets::Has(status, json) => Gets::Has(status, self.filled_body(json)),
            other => other,
        }
    }
}

/// Publishes what the rows on the check need; returns the words for rows on `/update`.
async fn updates(app: &TestApp, key: &str, stranger: &str) -> Vec<(&'static str, String)> {
    for platform in ["ios", "android", "visionos"] {
        app.published(key, json!({"platform": platform, "version": "1.2.0", "buildNumber": 5})).await;
    }
    let native = async |version: &str, camera: &str| {
        let of = "com.example.native";
        app.published(
            key,
            json!({"bundleId": of, "platform": "ios", "version": version, "buildNumber": 1, "fingerprint": document(camera)}),
        )
        .await
    };
    let installed = native("1.0.0", "4.5.0").await;
    native("1.1.0", "5.0.0").await;
    let production = json!({
        "bundleId": "com.example.target", "platform": "ios", "version": "1.1.0", "buildNumber": 1,
        "configuration": "production", "releaseNotes": "Better", "fingerprint": document("4.5.0"),
    });
    let update = app.published(key, production).await;
    app.published(stranger, json!({"bundleId": "com.stranger.app", "platform": "ios", "version": "1.0.0"})).await;
    vec![
        ("upload", app.upload(key, &package("index.html", b"x")).await),
        ("update", update.id().to_owned()),
        ("hash", installed.text("fingerprint").to_owned()),
    ]
}
