//! The data that the rows of the table use: an organization with its callers, another one, updates of an app.

use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use launchway_server::ops::accounts;
use launchway_server::ops::write::Write;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Gets, Who};
use crate::support::{Answer, Fields, TestApp, package};

/// More keys than a page holds unless told.
pub const KEYS: usize = 14;

/// A running service with everything that rows name.
pub struct Stage {
    pub app: TestApp,
    keys: Vec<(Scope, String)>,
    stranger: String,
    revoked: String,
    expired: String,
    cookie: String,
    /// What `{name}` in a row stands for.
    words: Vec<(&'static str, String)>,
}

/// The native code of the installed app in the rows, and of the update that fits it not.
pub fn document(camera: &str) -> Value {
    let hash = "0".repeat(64);
    json!({
        "alg": "lwfp-1", "framework": "nativescript", "native": hash, "platform": "ios",
        "plugins": {"@nativescript/camera": camera}, "resources": hash,
    })
}

impl Stage {
    pub async fn set() -> Stage {
        let app = TestApp::start().await;
        let org = app.org(Tier::Enterprise).await;
        let mut keys = Vec::new();
        for scope in Scope::ALL {
            keys.push((scope, app.key(org, &[scope]).await));
        }
        let (_, stranger) = app.org_with_key().await;
        let cookie = app.user(org, "owner@example.com", Role::Owner).await;
        let second = join_second(&app, &cookie).await;
        let admin = keys[3].1.clone();
        let make = async |fields: Value| app.post(&admin, "/api-keys", fields).await.created();
        let text = |json: &Value, field: &str| json[field].as_str().unwrap().to_owned();
        let revoked = make(json!({"name": "old", "scopes": ["build", "submit", "update"]})).await;
        let path = format!("/api-keys?id={}", text(&revoked, "id"));
        app.delete(&admin, &path).await.ok();
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
            ("key", text(&spare, "id")),
            ("revokedKey", text(&revoked, "id")),
        ];
        words.extend(updates(&app, &keys[2].1, &stranger).await);
        Stage {
            revoked: text(&revoked, "key"),
            expired: text(&expired, "key"),
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
            Who::Session => request
                .header("cookie", &self.cookie)
                .header("origin", &self.app.origin),
        };
        let request = if body.is_null() { request } else { request.json(&body) };
        Answer::to(request).await
    }

    /// The text with every `{name}` replaced.
    pub fn filled(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (name, word)| {
            text.replace(&format!("{{{name}}}"), word)
        })
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

/// Makes the signed-in user an owner of a second organization.
async fn join_second(app: &TestApp, cookie: &str) -> OrgId {
    let session = app.get(cookie, "/auth/session").await.ok();
    let user = session["user"].id().parse().unwrap();
    // Later than the first: the oldest is the one a session acts in unless told.
    app.advance(1);
    let second = app.org(Tier::Enterprise).await;
    let actor = launchway_domain::actor::Actor::Operator;
    let mut write = Write::open(&app.app, second, actor, None).await.unwrap();
    let user = app_user(&mut write, user).await;
    accounts::join(&mut write, second, &user, Role::Owner).await.unwrap();
    write.commit().await.unwrap();
    second
}

async fn app_user(write: &mut Write<'_>, id: launchway_domain::id::UserId) -> launchway_domain::org::User {
    write.system("a test names a user").user(id).await.unwrap().unwrap()
}

/// Publishes what the rows on the check ask for; gives the words for rows on `/update`.
async fn updates(app: &TestApp, key: &str, stranger: &str) -> Vec<(&'static str, String)> {
    let fields = |bundle: &str, platform: &str, version: &str, build: i64| {
        let (bundle, build) = (("bundleId", json!(bundle)), ("buildNumber", json!(build)));
        let fields = [
            bundle,
            ("platform", json!(platform)),
            ("version", json!(version)),
            build,
        ];
        Value::from_iter(fields.map(|(name, value)| (name.to_owned(), value)))
    };
    let with = |mut fields: Value, name: &str, value: Value| {
        fields[name] = value;
        fields
    };
    for platform in ["ios", "android", "visionos"] {
        app.published(key, fields("com.example.app", platform, "1.2.0", 5))
            .await;
    }
    let installed = app
        .published(
            key,
            with(
                fields("com.example.native", "ios", "1.0.0", 1),
                "fingerprint",
                document("4.5.0"),
            ),
        )
        .await;
    app.published(
        key,
        with(
            fields("com.example.native", "ios", "1.1.0", 1),
            "fingerprint",
            document("5.0.0"),
        ),
    )
    .await;
    let production = with(
        fields("com.example.target", "ios", "1.1.0", 1),
        "configuration",
        json!("production"),
    );
    let production = with(production, "releaseNotes", json!("Better"));
    let production = with(production, "fingerprint", document("4.5.0"));
    let update = app.published(key, production).await;
    app.published(stranger, fields("com.stranger.app", "ios", "1.0.0", 1))
        .await;
    let upload = app.upload(key, &package("index.html", b"x")).await;
    let text = |json: &Value, field: &str| json[field].as_str().unwrap().to_owned();
    vec![
        ("upload", upload),
        ("update", text(&update, "id")),
        ("hash", text(&installed, "fingerprint")),
    ]
}
