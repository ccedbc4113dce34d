//! `/trust`: what the server accepts of an app's developers (`docs/reference/trust.md#accepting-metadata`).

mod accepting;
mod drafts;
mod publishing;
mod reset;
mod strangers;

use std::collections::BTreeSet;

use launchway_developers::{Developers, Release, role_of};
use launchway_domain::platform::Platform;
use serde_json::{Value, json};

use crate::stage::{BUNDLE, Stage};
use crate::support::{Answer, Fields, NOBODY, package};

/// An app whose developers sign updates for production.
struct Scene {
    stage: Stage,
    developers: Developers,
}

/// A package that shows this text.
fn page(text: &str) -> Vec<u8> {
    package("index.html", text.as_bytes())
}

impl Scene {
    async fn new() -> Scene {
        Scene::on(Stage::new().await).await
    }

    async fn on(stage: Stage) -> Scene {
        let developers = stage.developers(&["production"]).await;
        Scene { stage, developers }
    }

    /// The trust of the app as the API shows it.
    async fn trust(&self) -> Value {
        self.stage.get(&self.stage.key, &format!("/trust?bundleId={BUNDLE}")).await.ok()
    }

    /// `POST /trust` from what the server has now.
    async fn send(&self, roots: &[String], roles: &[(&str, String)]) -> Answer {
        self.send_as(&self.stage.key, roots, roles).await
    }

    async fn send_as(&self, caller: &str, roots: &[String], roles: &[(&str, String)]) -> Answer {
        let roles: serde_json::Map<_, _> =
            roles.iter().map(|(name, text)| ((*name).to_owned(), Value::from(text.as_str()))).collect();
        let basis = self.trust().await["snapshot"].clone();
        let body = json!({"bundleId": BUNDLE, "basedOn": basis, "roots": roots, "roles": roles});
        self.stage.post(caller, "/trust", body).await
    }

    /// The version of a role as the API shows it.
    async fn version(&self, role: &str) -> Value {
        let trust = self.trust().await;
        let roles = trust["roles"].as_array().unwrap();
        roles.iter().find(|view| view["role"] == role).map_or(Value::Null, |view| view["version"].clone())
    }

    /// Publishes a package for production without a signature.
    async fn publish_unsigned(&self, build: u64, text: &str) -> Answer {
        let upload = self.stage.upload(&self.stage.key, &page(text)).await;
        let body = json!({
            "uploadId": upload, "bundleId": BUNDLE, "platform": "android", "version": "1.0.1",
            "buildNumber": build, "configuration": "production",
        });
        self.stage.post(&self.stage.key, "/update", body).await
    }

    /// Signs and publishes a package for production.
    async fn publish_signed(&mut self, build: u64, text: &str) -> Answer {
        let body = self.publication(build, text).await;
        self.stage.post(&self.stage.key, "/update", body).await
    }

    /// `POST /update` of a signed package for production.
    async fn publication(&mut self, build: u64, text: &str) -> Value {
        let (role, package) = (role_of("production"), page(text));
        let upload = self.stage.upload(&self.stage.key, &package).await;
        let platform = Platform::Android;
        let release = Release { role: &role, platform, version: "1.0.1", build, package: &package };
        self.developers.publication(&release, &upload, self.stage.app.clock.now())
    }

    /// The draft of production with its metadata.
    async fn draft(&self) -> Value {
        self.stage.get(&self.stage.key, &format!("/trust/drafts?bundleId={BUNDLE}&role=c-production")).await.ok()
    }

    /// All signatures of production's keys over its draft: the body of `POST /trust/signatures`.
    async fn signatures(&mut self) -> Value {
        let draft = self.draft().await;
        let signatures = self.developers.sign_draft(&role_of("production"), draft.text("metadata"));
        json!({
            "bundleId": BUNDLE, "role": "c-production", "version": draft["version"], "signatures": signatures,
        })
    }

    /// What the check offers to an app of production.
    async fn offered(&self) -> Value {
        let query = "currentVersion=1.0.0&platform=android&configuration=production&deviceId=a";
        self.stage.checked(BUNDLE, query).await["id"].clone()
    }

    /// The updates that the draft of production publishes, in no order.
    async fn drafted(&self) -> BTreeSet<String> {
        self.draft().await["updateIds"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    }

    async fn status(&self, update: &Value) -> Value {
        self.stage.get(&self.stage.key, &format!("/update?id={}", update.id())).await.ok()["status"].clone()
    }

    /// The kinds of events so far, sorted: those of one moment are in no order.
    async fn events(&self) -> Vec<String> {
        let mut kinds: Vec<_> = self.stage.events(self.stage.org).await.into_iter().map(|(kind, _)| kind).collect();
        kinds.sort();
        kinds
    }

    /// The actions in the audit log.
    async fn actions(&self) -> Vec<String> {
        self.stage.audit(self.stage.org).await.into_iter().map(|line| line.action).collect()
    }
}

#[tokio::test]
async fn an_app_without_a_root_has_no_trust() {
    let stage = Stage::new().await;
    let nothing = json!({
        "bundleId": BUNDLE, "repository": null, "snapshot": null, "onlineKey": null, "pendingOnlineKey": null,
        "roles": [], "drafts": [], "otherFormatsAllowed": false,
    });
    assert_eq!(stage.get(&stage.key, &format!("/trust?bundleId={BUNDLE}")).await.ok(), nothing);
    let made = stage.post(&stage.key, "/trust/online-key", json!({"bundleId": BUNDLE})).await.created();
    let read = stage.get(&stage.key, &format!("/trust?bundleId={BUNDLE}")).await.ok();
    assert_eq!(read["pendingOnlineKey"], made);
    let next = stage.post(&stage.key, "/trust/online-key", json!({"bundleId": BUNDLE})).await.created();
    let read = stage.get(&stage.key, &format!("/trust?bundleId={BUNDLE}")).await.ok();
    assert_eq!((&read["pendingOnlineKey"], &read["onlineKey"]), (&next, &Value::Null), "the second replaces the first");
    assert_ne!(next["keyId"], made["keyId"]);
    let drafts = stage.get(&stage.key, &format!("/trust/drafts?bundleId={BUNDLE}")).await.ok();
    assert_eq!((&drafts["items"], &drafts["total"]), (&json!([]), &json!(0)));
    let list = format!("/trust/drafts?bundleId={BUNDLE}");
    let page = stage.get(&stage.key, &format!("{list}&limit=101&offset=5")).await.ok();
    assert_eq!((&page["limit"], &page["offset"]), (&json!(100), &json!(5)));
    stage.get(&stage.key, &format!("{list}&limit=0")).await.refused(400, "limit must be a whole number from 1");
    stage.get(&stage.key, &format!("{list}&offset=x")).await.refused(400, "offset must be a whole number from 0");
    stage.get(&stage.key, "/trust?bundleId=no%20spaces").await.is(400);
    for path in ["/trust", "/trust/drafts"] {
        stage.get(&stage.key, path).await.refused(400, "bundleId is required");
        stage.get(NOBODY, &format!("{path}?bundleId={BUNDLE}")).await.is(401);
    }
}

#[tokio::test]
async fn the_first_root_begins_a_repository() {
    let scene = Scene::new().await;
    let trust = scene.trust().await;
    assert_eq!(trust["repository"], scene.developers.identity.repository.to_string());
    assert_eq!((&trust["pendingOnlineKey"], &trust["drafts"]), (&Value::Null, &json!([])));
    let online = trust["onlineKey"].text("keyId").to_owned();
    assert_eq!(online, scene.developers.online.id());
    let roles: Vec<_> = trust["roles"].as_array().unwrap().iter().map(|role| role.text("role").to_owned()).collect();
    assert_eq!(roles, ["root", "timestamp", "snapshot", "targets", "c-production"]);
    for role in trust["roles"].as_array().unwrap() {
        assert_eq!((&role["expired"], &role["threshold"]), (&json!(false), &json!(1)), "{role}");
        assert_eq!(role["keys"][0]["signed"], true, "{role}");
        let of_server = matches!(role.text("role"), "timestamp" | "snapshot");
        assert_eq!(role["keys"][0]["keyId"] == online.as_str(), of_server, "{role}");
        assert_eq!(role["version"] == 1, !of_server, "{role}");
    }
    assert_eq!(trust["roles"][2]["version"], trust["snapshot"]);
    assert_eq!(scene.actions().await.last().map(String::as_str), Some("trust.init"));
    assert!(scene.actions().await.iter().any(|action| action == "secret.open"), "the key was opened to sign");
    let (kind, data) = scene.stage.events(scene.stage.org).await.pop().unwrap();
    let versions = json!({"root": 1, "targets": 1, "c-production": 1});
    assert_eq!((kind.as_str(), &data["versions"], data.text("bundleId")), ("trust.changed", &versions, BUNDLE));
}
