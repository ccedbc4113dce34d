//! An app whose updates are signed, beside a node that knows nothing of signatures.

use launchway_testing::says::Fields;
use launchway_testing::wait::until;
use serde_json::json;

use super::{LIMIT, NEW, OLD, Upgrade};
use crate::packages::package;
use crate::signed::{CONFIGURATION, SignedApp};

const SIGNED: &str = "com.example.signed";

impl Upgrade {
    /// An update that awaits its signature is withdrawn for the old node: it neither fails on it nor offers it, and cannot
    /// publish it. When the update is signed, both offer it.
    pub async fn signatures(&self) {
        let (old, new) = (&self.apis[OLD], &self.apis[NEW]);
        let mut app = SignedApp::begin(new, SIGNED).await;
        let fields = json!({
            "bundleId": SIGNED, "platform": "android", "version": "1.0.1", "configuration": CONFIGURATION,
        });
        let waiting = new.publish(&package("index.html", b"waiting"), fields).await;
        assert_eq!(waiting["status"], "awaiting_signature", "{waiting}");
        let path = format!("/update?id={}", waiting.id());
        let seen = async || (old.get(&path).await.ok()["status"] == "withdrawn").then_some(());
        until(LIMIT, "the old node sees the update", seen).await;
        self.both_offer_of(SIGNED, CONFIGURATION, None).await;
        old.patch(&path, json!({"status": "published"})).await.refusal(400);
        old.get(&format!("/update?bundleId={SIGNED}")).await.ok();

        let wanted = json!({"bundleId": SIGNED, "role": app.role.to_string()});
        let made = new.post("/trust/drafts", wanted).await;
        assert!(made.status.is_success(), "{}", made.text());
        let query = format!("/trust/drafts?bundleId={SIGNED}&role={}", app.role);
        let draft = new.get(&query).await.ok();
        let signatures = app.developers.sign_draft(&app.role, draft.text("metadata"));
        let signed = json!({
            "bundleId": SIGNED, "role": app.role.to_string(), "version": draft["version"], "signatures": signatures,
        });
        let published = new.post("/trust/signatures", signed).await;
        assert!(published.status.is_success(), "{}", published.text());
        self.both_offer_of(SIGNED, CONFIGURATION, Some("1.0.1")).await;
        let node = &self.deployment.nodes[NEW];
        assert_eq!(app.fetched_version(node).await, app.developers.roles[&app.role].version);
    }
}
