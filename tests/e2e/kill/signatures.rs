//! Kills during publishes of signed updates.

use launchway_testing::says::Fields;
use reqwest::Method;

use super::{Change, Fate, Killer, fate};
use crate::api::Api;
use crate::packages::package;
use crate::signed::{CONFIGURATION, SignedApp};

const SIZE: usize = 200_000;

impl Killer {
    /// Kills until so many hit a publish before its response. Whatever the kill leaves is a set that fits together, with
    /// the update and the role's version or without both.
    pub(super) async fn signed_publishes(&mut self, wanted: u32) {
        let mut app = SignedApp::begin(&self.api, "com.example.signed").await;
        let (mut hit, mut number) = (0, 0);
        while hit < wanted {
            number += 2;
            hit += u32::from(self.signed_publish(&mut app, number).await != Fate::Answered);
            assert!(
                self.rounds < 500,
                "nearly every publish is answered before the kill: {}",
                self.summary()
            );
        }
        self.nothing_answered_is_lost().await;
    }

    /// Publishes the version before `number` undisturbed, and `number` under a kill.
    async fn signed_publish(&mut self, app: &mut SignedApp, number: u64) -> Fate {
        let (_, first) = self.signed_body(app, number - 1).await;
        let publish = async |api: &Api| api.post("/update", first).await.created();
        let (_, usual) = self.usual(publish).await;

        let (version, body) = self.signed_body(app, number).await;
        let before = app.developers.roles[&app.role].version - 1;
        let key = format!("signed-{number}");
        let change = Change {
            method: Method::POST,
            path: "/update",
            body: Some(body.clone()),
            idempotency_key: Some(&key),
        };
        let answer = self.kill_during(change, usual).await;
        let there = app.fetched_version(self.deployment.node()).await;
        assert!(there == before || there == before + 1, "version {there} after {before}");
        let fate = fate(answer.as_ref(), there > before);
        let question = format!("currentVersion=0.0.1&platform=android&configuration={CONFIGURATION}");
        let offer = self.api.check(app.bundle, &question).await;
        assert_eq!(offer["version"] == *version, there > before, "{offer}");

        let again = self.api.try_call(Method::POST, "/update", Some(body), Some(&key)).await;
        let again = again.unwrap().created();
        if let Some(answer) = &answer {
            assert_eq!(again, answer.json());
        }
        assert_eq!(app.fetched_version(self.deployment.node()).await, before + 1);
        let offer = self.api.check(app.bundle, &question).await;
        assert_eq!(offer.text("version"), version);
        self.answered.push(again);
        self.count("signed publish", fate);
        fate
    }

    /// The version of this number, and the request that publishes it.
    async fn signed_body(&mut self, app: &mut SignedApp, number: u64) -> (String, serde_json::Value) {
        let version = format!("1.{number}.0");
        let bytes = package("index.html", &self.dice.bytes(SIZE));
        let upload = self.api.upload(&bytes).await;
        let body = app.publication(&version, number, &bytes, &upload);
        (version, body)
    }
}
