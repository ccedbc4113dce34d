//! Developers who sign the updates of their app, and what they publish.

use launchway_developers::{Developers, Release, role_of};
use serde_json::{Value, json};

use super::{BUNDLE, Stage};
use crate::support::Fields;

impl Stage {
    /// Developers of the app, who began its trust with a role for each of these configurations.
    pub async fn developers(&self, configurations: &[&str]) -> Developers {
        let roles: Vec<_> = configurations.iter().map(|name| role_of(name)).collect();
        let mut developers = Developers::new(BUNDLE, &self.new_online_key().await, &roles);
        self.change_trust(developers.first_trust(self.app.clock.now())).await;
        developers
    }

    /// A new key of the server, which the next root may name, in PEM.
    pub async fn new_online_key(&self) -> String {
        let made = self.post(&self.key, "/trust/online-key", json!({"bundleId": BUNDLE})).await;
        assert!(made.status.is_success(), "{}", made.text());
        made.json().text("publicKey").to_owned()
    }

    /// Sends new roots or roles, which must be accepted.
    pub async fn change_trust(&self, change: Value) {
        let changed = self.post(&self.key, "/trust", change).await;
        assert!(changed.status.is_success(), "{}", changed.text());
    }

    /// Sends new roots and roles that were made from what the server has now. They must be accepted.
    pub async fn send_signed(&self, roots: &[&str], roles: &[(&str, &str)]) {
        let trust = self.get(&self.key, &format!("/trust?bundleId={BUNDLE}")).await.ok();
        let roles: serde_json::Map<_, _> =
            roles.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect();
        let change = json!({"bundleId": BUNDLE, "basedOn": trust["snapshot"], "roots": roots, "roles": roles});
        self.change_trust(change).await;
    }

    /// Signs and publishes a release: the update.
    pub async fn release(&self, developers: &mut Developers, release: &Release<'_>) -> Value {
        let upload = self.upload(&self.key, release.package).await;
        let body = developers.publication(release, &upload, self.app.clock.now());
        self.post(&self.key, "/update", body).await.created()
    }
}
