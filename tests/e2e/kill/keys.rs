//! Kills around the creation and the revocation of API keys.

use launchway_testing::answer::Answer;
use launchway_testing::says::Fields;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Change, Killer, fate};
use crate::api::Api;

impl Killer {
    /// A kill around the creation of a key.
    pub(super) async fn key_creation(&mut self) {
        let name = format!("created-{}", self.rounds);
        let body = |name: &str| json!({"name": name, "scopes": ["update"]});
        let (_, usual) = self
            .usual(async |api| api.post("/api-keys", body("usual")).await.created())
            .await;
        let change = Change {
            method: Method::POST,
            path: "/api-keys",
            body: Some(body(&name)),
            idempotency_key: Some(&name),
        };
        let answer = self.kill_during(change, usual).await;
        let there = self.keys_named(&name).await;
        assert!(there.len() < 2, "made twice: {there:?}");
        let fate = fate(answer.as_ref(), !there.is_empty());
        if let Some(answer) = &answer {
            assert_eq!(self.call_with(answer.json().text("key")).await.status, 200);
        }

        let again = self
            .api
            .try_call(Method::POST, "/api-keys", Some(body(&name)), Some(&name))
            .await;
        let again = again.unwrap().created();
        match there.first() {
            // The secret is not shown a second time, whether or not the first response arrived.
            Some(made) => assert_eq!((&again["id"], again.get("key")), (&made["id"], None)),
            None => assert_eq!(self.call_with(again.text("key")).await.status, 200),
        }
        assert_eq!(self.keys_named(&name).await.len(), 1);
        self.count("key", fate);
    }

    /// A kill around the revocation of a key.
    pub(super) async fn revocation(&mut self) {
        let (_, usual) = {
            let path = key_path(&self.new_key("usual").await);
            self.usual(async |api| api.delete(&path).await.ok()).await
        };
        let name = format!("revoked-{}", self.rounds);
        let made = self.new_key(&name).await;
        let (path, secret) = (key_path(&made), made.text("key"));
        let change = Change {
            method: Method::DELETE,
            path: &path,
            body: None,
            idempotency_key: None,
        };
        let answer = self.kill_during(change, usual).await;
        let status = self.keys_named(&name).await[0]["status"].clone();
        let works = self.call_with(secret).await.status == 200;
        assert_eq!(status, if works { "active" } else { "revoked" });
        let fate = fate(answer.as_ref(), !works);
        assert_eq!(self.api.delete(&path).await.ok()["status"], "revoked");
        self.call_with(secret).await.refusal(401);
        self.count("revocation", fate);
    }

    async fn new_key(&self, name: &str) -> Value {
        let body = json!({"name": name, "scopes": ["update"]});
        self.api.post("/api-keys", body).await.created()
    }

    async fn keys_named(&self, name: &str) -> Vec<Value> {
        let page = self.api.get("/api-keys?limit=100").await.ok();
        let mut keys = page["items"].as_array().unwrap().clone();
        keys.retain(|key| key["name"] == name);
        keys
    }

    async fn call_with(&self, key: &str) -> Answer {
        Api::new(self.deployment.node(), key).get("/update").await
    }
}

fn key_path(key: &Value) -> String {
    format!("/api-keys?id={}", key.id())
}
