//! Kills during publishes and during changes of published updates.

use launchway_testing::says::Fields;
use reqwest::Method;
use serde_json::{Value, json};

use super::{Change, Fate, Killer, fate};
use crate::api::Api;
use crate::packages::{package, sha256};

const SIZE: usize = 200_000;

impl Killer {
    /// A kill between upload and response of a publish, or right after the response.
    pub(super) async fn publish(&mut self) -> Fate {
        let round = self.rounds;
        let bytes = package("index.html", &self.dice.bytes(SIZE));
        let usual = body(&self.api.upload(&bytes).await, &format!("com.example.usual{round}"));
        let usual = async |api: &Api| api.post("/update", usual).await.created();
        let (_, usual) = self.usual(usual).await;

        let bundle = format!("com.example.kill{round}");
        let bytes = package("index.html", &self.dice.bytes(SIZE));
        let body = body(&self.api.upload(&bytes).await, &bundle);
        let key = format!("publish-{round}");
        let change = || Change {
            method: Method::POST,
            path: "/update",
            body: Some(body.clone()),
            idempotency_key: Some(&key),
        };
        let answer = self.kill_during(change(), usual).await;
        let there = self.updates_of(&bundle).await;
        let fate = fate(answer.as_ref(), !there.is_empty());
        self.offered_whole_or_not_at_all(&bundle, there.first(), &bytes).await;

        // The caller, who cannot know, retries: no remnant occupies the identity, and nothing happens twice.
        let again = self
            .api
            .try_call(Method::POST, "/update", Some(body.clone()), Some(&key))
            .await;
        let again = again.unwrap().created();
        if let Some(first) = there.first() {
            assert_eq!(again["id"], first["id"], "published twice");
        }
        if let Some(answer) = &answer {
            assert_eq!(again, answer.json());
        }
        assert_eq!(self.updates_of(&bundle).await.len(), 1);
        self.offered_whole_or_not_at_all(&bundle, Some(&again), &bytes).await;
        self.answered.push(again);
        self.count("publish", fate);
        fate
    }

    /// A kill around a change of several fields.
    pub(super) async fn patch(&mut self) {
        let round = self.rounds;
        let bundle = format!("com.example.patch{round}");
        let bytes = package("index.html", &self.dice.bytes(SIZE));
        let before = publish(&self.api, &bytes, &bundle).await;
        let path = format!("/update?id={}", before.id());
        let first = json!({"releaseNotes": "first"});
        let (before, usual) = self.usual(async |api| api.patch(&path, first).await.ok()).await;

        let body = json!({"status": "paused", "rollout": 50, "mandatory": true, "releaseNotes": "second"});
        let change = Change {
            method: Method::PATCH,
            path: &path,
            body: Some(body.clone()),
            idempotency_key: None,
        };
        let answer = self.kill_during(change, usual).await;
        let mut after = before.clone();
        for (field, value) in body.as_object().unwrap() {
            after[field] = value.clone();
        }
        let now = self.update(&before).await;
        assert!(now == before || now == after, "changed by half: {now}");
        let offered = Some(&now).filter(|now| now["status"] == "published");
        self.offered_whole_or_not_at_all(&bundle, offered, &bytes).await;
        let fate = fate(answer.as_ref(), now == after);
        let again = self.api.patch(&path, body).await.ok();
        assert_eq!(again, after);
        self.answered.push(again);
        self.count("change", fate);
    }

    /// After everything: each confirmed update is as in its response.
    pub(super) async fn nothing_answered_is_lost(&self) {
        for known in &self.answered {
            assert_eq!(&self.update(known).await, known);
        }
    }

    async fn updates_of(&self, bundle: &str) -> Vec<Value> {
        let page = self.api.get(&format!("/update?bundleId={bundle}")).await.ok();
        page["items"].as_array().unwrap().clone()
    }

    /// The current update, without the fields that only this response has.
    async fn update(&self, known: &Value) -> Value {
        let path = format!("/update?id={}", known.id());
        let mut update = self.api.get(&path).await.ok();
        for counted in ["reports", "callers", "foreignIds"] {
            update.as_object_mut().unwrap().remove(counted);
        }
        update
    }

    /// The check offers the update with all its bytes, or nothing if there is none.
    async fn offered_whole_or_not_at_all(&self, bundle: &str, update: Option<&Value>, bytes: &[u8]) {
        let offer = self
            .api
            .check(bundle, "currentVersion=0.0.1&platform=android&currentUpdateId=none")
            .await;
        let Some(update) = update else {
            assert_eq!(offer["updateAvailable"], false, "{offer}");
            return;
        };
        assert_eq!(
            (&offer["id"], &offer["sha256"]),
            (&update["id"], &update["sha256"]),
            "{offer}"
        );
        let got = self.api.download(&offer).await;
        assert_eq!(json!(sha256(&got)), offer["sha256"]);
        assert!(got == bytes, "other bytes are offered");
    }
}

fn body(upload: &str, bundle: &str) -> Value {
    json!({"uploadId": upload, "bundleId": bundle, "platform": "android", "version": "1.0.0", "buildNumber": "1"})
}

async fn publish(api: &Api, bytes: &[u8], bundle: &str) -> Value {
    let body = body(&api.upload(bytes).await, bundle);
    api.post("/update", body).await.created()
}
