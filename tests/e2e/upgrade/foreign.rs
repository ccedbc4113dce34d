//! Updates for clients of other services, and reports that the released program does not know, beside a node that runs it.

use std::time::Duration;

use launchway_testing::says::Fields;
use launchway_testing::wait::{until, until_paced};
use serde_json::{Value, json};

use super::{LIMIT, NEW, OLD, Upgrade};
use crate::packages::package;

const FOREIGN: &str = "com.example.foreign";
/// The job that numbers runs every minute, and calls are limited.
const PAUSE: Duration = Duration::from_secs(2);
const CONFIGURATION: &str = "Production";

impl Upgrade {
    /// The released program shows an update for other clients as withdrawn, offers and changes none, and goes on. Where both could
    /// be offered, both programs offer the archive below it.
    pub async fn foreign_updates(&self) {
        let (old, new) = (&self.apis[OLD], &self.apis[NEW]);
        let fields = |version: &str, more: Value| {
            let mut fields = json!({
                "bundleId": FOREIGN, "platform": "android", "version": version, "configuration": CONFIGURATION,
            });
            fields
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            fields
        };
        let archive = |body: &str| package("index.html", body.as_bytes());
        old.publish(&archive("both"), fields("1.0.1", json!({}))).await;
        self.both_offer_of(FOREIGN, CONFIGURATION, Some("1.0.1")).await;

        let bundle = new
            .publish(&archive("CodePush"), fields("1.0.2", json!({"format": "codepush"})))
            .await;
        let ranged = json!({"format": "codepush", "binaryRange": "^2.0.0"});
        let ranged = new.publish(&archive("of newer apps"), fields("1.0.3", ranged)).await;
        let back = fields("1.0.4", json!({"kind": "embedded", "buildNumber": "1"}));
        let back = new.post("/update", back).await.created();
        for update in [&bundle, &ranged, &back] {
            assert_eq!(update["status"], "published", "{update}");
            let path = format!("/update?id={}", update.id());
            let seen = async || (old.get(&path).await.ok()["status"] == "withdrawn").then_some(());
            until(LIMIT, "the old node sees the update", seen).await;
            old.patch(&path, json!({"status": "published"})).await.refusal(400);
            assert_eq!(new.get(&path).await.ok()["status"], "published");
        }
        old.get(&format!("/update?bundleId={FOREIGN}")).await.ok();
        self.both_offer_of(FOREIGN, CONFIGURATION, Some("1.0.1")).await;
        // What the released program publishes later is numbered, so that other clients know what is newer.
        let late = old.publish(&archive("later"), fields("1.0.5", json!({}))).await;
        self.both_offer_of(FOREIGN, CONFIGURATION, Some("1.0.5")).await;
        let path = format!("/update?id={}", late.id());
        let numbered = async || new.get(&path).await.ok()["sequence"].as_u64();
        let (sequence, _) = until_paced(PAUSE, LIMIT * 2, "the update is numbered", numbered).await;
        let others = [&bundle, &ranged, &back].map(|update| update["sequence"].as_u64());
        assert!(
            others.into_iter().all(|other| other < Some(sequence)),
            "{others:?} {sequence}"
        );
    }

    /// The released program refuses a crash, so that a phone drops it; the present one counts it.
    pub async fn crashes(&self) {
        let question = format!("currentVersion=1.0.0&platform=android&configuration={CONFIGURATION}&deviceId=crashed");
        let offer = self.apis[OLD].check(FOREIGN, &question).await;
        let event = json!({
            "type": "crash", "updateId": offer["id"], "at": "2026-11-20T10:00:00.000Z", "reason": "Error: lost",
            "stack": "Error: lost\n at start (app.js:1:1)",
        });
        let body = json!({"reportToken": offer["reportToken"], "events": [event]});
        let path = format!("/update/report/{FOREIGN}");
        self.apis[OLD].post(&path, body.clone()).await.refusal(400);
        assert_eq!(self.apis[NEW].post(&path, body).await.ok()["counted"], 1);
        let path = format!("/update?id={}", offer.id());
        self.apis[OLD].get(&path).await.ok();
        let crashes = &self.apis[NEW].get(&path).await.ok()["reports"]["crashes"];
        assert_eq!(crashes.as_array().map(Vec::len), Some(1), "{crashes}");
    }
}
