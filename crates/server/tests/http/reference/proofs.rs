//! Authentication (`docs/reference/callers.md`).

use launchway_domain::scope::Scope::{Admin, Build, Submit, Update};
use reqwest::Method;
use serde_json::json;

use super::Who::{Key, Session, Shows, Stranger};
use super::data::Data;
use super::{BAD_KEY, Error, Has, Is, Lacks, NO_PROOF, NONE, Names, Page, new_key, run};
use crate::support::{Answer, Fields, PASSWORD, Says, TestApp};

#[tokio::test]
async fn keys_and_sessions_follow_the_rules() {
    let data = Data::new().await;
    let scopes = "scopes must contain one or more of build, submit, update";
    let lacks_admin = Error(403, "API key does not have 'admin' scope");
    let rows = rows! {
        "session token: cookie": Session, "GET /auth/session" => Has(200, json!({"kind": "session"}));
        "API key: header Authorization: Bearer": Key(Build), "GET /auth/session" => Has(200, json!({"kind": "apiKey"}));
        "API key: Bearer": Shows("Basic YTpi"), "GET /build" => Error(401, NO_PROOF);
        "a name is entered": Session, "POST /api-keys", json!({"name": "", "scopes": ["build"]}) => Names(400, "name");
        "scopes are selected from `build`": Session, "POST /api-keys", new_key(&["build"])
            => Has(201, json!({"name": "CI", "scopes": ["build"]}));
        "`submit`": Session, "POST /api-keys", new_key(&["submit"]) => Has(201, json!({"scopes": ["submit"]}));
        "`update`": Session, "POST /api-keys", new_key(&["update"]) => Has(201, json!({"scopes": ["update"]}));
        "all three": Session, "POST /api-keys", new_key(&["build", "submit", "update"])
            => Has(201, json!({"scopes": ["build", "submit", "update"]}));
        "from `build`, `submit`, `update`": Session, "POST /api-keys", new_key(&["admin"]) => Error(400, scopes);
        "from `build`, `submit`, `update`": Session, "POST /api-keys", new_key(&["build", "deploy"])
            => Error(400, scopes);
        "scopes are selected": Session, "POST /api-keys", new_key(&[]) => Error(400, scopes);
        "the key value is displayed once": Session, "GET /api-keys?id={key}" => Lacks(200, &["key"]);
        "admin endpoints require a session": Session, "GET /env" => Page(json!({"total": 0}), 0);
        "admin endpoints require a session": Session, "GET /webhooks" => Page(json!({"total": 0}), 0);
        "or an admin-scoped key": Key(Admin), "GET /env" => Page(json!({"total": 0}), 0);
        "or an admin-scoped key": Key(Build), "GET /env" => lacks_admin.clone();
        "or an admin-scoped key": Key(Update), "GET /api-keys" => lacks_admin.clone();
        "or an admin-scoped key": Key(Submit), "GET /webhooks" => lacks_admin;
        "a key acts only in its organization": Stranger, "GET /update?id={update}"
            => Error(404, "No update has this id");
        "a key acts only in its organization": Stranger, "GET /api-keys?id={key}"
            => Error(404, "No API key has this id");
        "keys are revoked with DELETE /api-keys": Key(Admin), "DELETE /api-keys?id={key}"
            => Is(200, json!({"id": "{key}", "status": "revoked"}));
        "keys are revoked": Key(Admin), "GET /api-keys?id={key}" => Has(200, json!({"status": "revoked"}));
    };
    run(&data, rows).await;
}

/// `docs/reference/callers.md#session-cookie`
#[tokio::test]
async fn the_session_cookie_is_set_and_managed() {
    let data = Data::new().await;
    let request = data.app.request(Method::POST, "/auth/sign-in");
    let request = request.json(&json!({"email": "owner@example.com", "password": PASSWORD}));
    let answer = Answer::to(request).await;
    answer.ok();
    let cookie = answer.cookie();
    data.app.get(&cookie, "/build").await.ok();
    data.app.get("launchway=dead", "/build").await.refused(401, NO_PROOF);
}

/// `docs/reference/service.md#environments`
#[tokio::test]
async fn keys_of_one_environment_are_unknown_in_the_other() {
    let production = TestApp::start().await;
    let development = TestApp::with(settings!(environment = "development")).await;
    assert_ne!(production.origin, development.origin);
    for (name, at, elsewhere) in [("production", &production, &development), ("development", &development, &production)]
    {
        let (_, key) = at.org_with_key().await;
        let here = at.get(&key, "/auth/session").await.ok();
        assert_eq!(here["environment"], name);
        elsewhere.get(&key, "/auth/session").await.refused(401, BAD_KEY);
    }
}

/// The key is in the response to its creation, has the fixed prefix, works, and is shown nowhere else.
#[tokio::test]
async fn the_key_is_displayed_once() {
    let data = Data::new().await;
    let made = data.call(Session, Method::POST, "/api-keys", new_key(&["build"])).await.created();
    let key = made.text("key");
    assert!(key.starts_with("lw_"), "{key}");
    data.app.get(key, "/build").await.ok();
    let list = data.call(Session, Method::GET, "/api-keys?limit=100", NONE).await;
    list.ok();
    list.lacks(key);
}
