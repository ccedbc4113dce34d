//! An app whose developers sign its updates, and a new client of it.

use launchway_developers::{Developers, Release, role_of};
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::{EpochMs, from_iso};
use launchway_testing::says::Fields;
use launchway_testing::server_process::ServerProcess;
use launchway_trust::UpdateRole;
use launchway_trust::client::Client;
use launchway_trust::metadata::Metadata;
use serde_json::{Value, json};

use crate::api::Api;

/// The only configuration of the app.
pub const CONFIGURATION: &str = "production";

/// The app, with its developers.
pub struct SignedApp {
    pub bundle: &'static str,
    pub role: UpdateRole,
    pub developers: Developers,
    /// The server's time when it began.
    now: EpochMs,
}

impl SignedApp {
    /// Begins the trust of an app.
    pub async fn begin(api: &Api, bundle: &'static str) -> SignedApp {
        let made = api.post("/trust/online-key", json!({"bundleId": bundle})).await;
        assert!(made.status.is_success(), "{}", made.text());
        let (key, role) = (made.json(), role_of(CONFIGURATION));
        let mut developers = Developers::new(bundle, key.text("publicKey"), std::slice::from_ref(&role));
        let now = from_iso(key.text("createdAt")).expect("a time");
        let begun = api.post("/trust", developers.first_trust(now)).await;
        assert!(begun.status.is_success(), "{}", begun.text());
        SignedApp {
            bundle,
            role,
            developers,
            now,
        }
    }

    /// `POST /update` of a version, signed. The upload holds the package.
    pub fn publication(&mut self, version: &str, build: u64, package: &[u8], upload_id: &str) -> Value {
        let release = Release {
            role: &self.role,
            platform: Platform::Android,
            version,
            build,
            package,
        };
        self.developers.publication(&release, upload_id, self.now)
    }

    /// Signs and publishes a version: the record.
    pub async fn publish(&mut self, api: &Api, version: &str, build: u64, package: &[u8]) -> Value {
        let upload = api.upload(package).await;
        let body = self.publication(version, build, package, &upload);
        api.post("/update", body).await.created()
    }

    /// Revokes a package.
    pub async fn revoke(&mut self, api: &Api, package: &[u8]) {
        let trust = api.get(&format!("/trust?bundleId={}", self.bundle)).await.ok();
        let signed = self.developers.revoke(&self.role, package, self.now);
        let roles = json!({self.role.to_string(): signed});
        let change = json!({"bundleId": self.bundle, "roles": roles, "basedOn": trust["snapshot"]});
        let changed = api.post("/trust", change).await;
        assert!(changed.status.is_success(), "{}", changed.text());
    }

    /// The version of the role that a new client gets, file by file. Everything down to it must be valid.
    pub async fn fetched_version(&self, server: &ServerProcess) -> u64 {
        let identity = &self.developers.identity;
        let configuration = Configuration::parse(CONFIGURATION).unwrap();
        let carried = self.developers.trust_file();
        let mut client = Client::open(&carried, &identity.bundle_id, Some(&configuration), None).unwrap();
        let phone = Api::new(server, "");
        let mut refresh = client.refresh(self.now);
        while let Some(request) = refresh.next_request().unwrap() {
            let file = format!("{}/tuf/{}/{request}", server.origin(), self.bundle);
            let answer = phone.get(&file).await;
            if answer.status == 404 {
                refresh.report_missing().unwrap();
            } else {
                answer.is(200);
                refresh.take(&answer.bytes).unwrap();
            }
        }
        let role = client.metadata().role(&self.role.to_string());
        role.map_or(0, Metadata::version)
    }
}
