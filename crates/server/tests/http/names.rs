//! `/names`: what people call the things whose ids other responses contain (`docs/reference/conventions.md#names-beside-ids`).

use launchway_domain::scope::Scope;
use launchway_domain::tenancy::Role;
use serde_json::{Value, json};

use crate::support::{Fields, TestApp};

async fn id_in(app: &TestApp, key: &str, list: &str) -> String {
    app.get(key, list).await.ok()["items"][0].id().to_owned()
}

async fn names(app: &TestApp, key: &str, ids: &[&str]) -> Value {
    app.get(key, &format!("/names?ids={}", ids.join(","))).await.ok()["names"].clone()
}

#[tokio::test]
async fn ids_have_names_inside_their_organization_only() {
    for app in TestApp::on_both().await {
        let (org, key) = app.org_with_key().await;
        let ada = app.user(org, "ada@example.com", Role::Owner).await;
        app.keystore(&key).await;
        let token = app.post(&key, "/runners/tokens", ()).await.created();
        app.enroll(token.text("token"), &["os=linux"]).await;
        let user = app.get(&ada, "/auth/session").await.ok()["user"].id().to_owned();
        let mut expected = json!({(user.clone()): "ada@example.com"});
        let mut ids = vec![user];
        for list in ["/api-keys", "/credentials", "/runners"] {
            let id = id_in(&app, &key, list).await;
            expected[&id] = app.get(&key, list).await.ok()["items"][0]["name"].clone();
            ids.push(id);
        }
        let mut asked: Vec<&str> = ids.iter().map(String::as_str).collect();
        asked.extend(["service", "key_", "update_01h455vb4pex5vsknk084sn02q", "", asked[0]]);
        // Whoever sees an id may know what it stands for: keys of any scope, and members of any role.
        let narrow = app.key(org, &[Scope::Update]).await;
        let member = app.user(org, "bob@example.com", Role::Member).await;
        for caller in [&key, &narrow, &ada, &member] {
            assert_eq!(names(&app, caller, &asked).await, expected);
        }
        assert_eq!(app.get(&key, "/names").await.ok(), json!({"names": {}}));
        let (_, stranger) = app.org_with_key().await;
        assert_eq!(names(&app, &stranger, &asked).await, json!({}));
    }
}

#[tokio::test]
async fn at_most_a_hundred_ids_are_named_at_once() {
    let (app, _, key) = TestApp::with_org().await;
    let id = id_in(&app, &key, "/api-keys").await;
    let mut asked = vec![id.as_str(); 100];
    assert_eq!(names(&app, &key, &asked).await.as_object().map(serde_json::Map::len), Some(1));
    asked.push("x");
    let answer = app.get(&key, &format!("/names?ids={}", asked.join(","))).await;
    answer.refused(400, "ids must be at most 100 ids, separated by commas");
    app.get(&key, "/names?ids=x&ids=y").await.refused(400, "ids is given twice");
}
