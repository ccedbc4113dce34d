//! Work that is done on one node and seen, or continued, on the other.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_testing::answer::Answer;
use launchway_testing::postgres::Postgres;
use launchway_testing::wait::until;
use reqwest::Method;
use serde_json::{Value, json};

use super::{BUNDLE, LIMIT, NEW, OLD, Upgrade};
use crate::api::Api;
use crate::packages::{package, sha256};
use crate::projects::root;

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field} in {value}"))
}

impl Upgrade {
    fn of(&self, node: usize) -> &Api {
        &self.apis[node]
    }

    /// Shared preparations.
    pub async fn set_up(&self) {
        let file = fs::read_to_string(root().join("crates/credentials/tests/fixtures/service-account.json")).unwrap();
        let account = file.replace("https://oauth2.googleapis.com", &self.simulator.address);
        let body = json!({"kind": "google_service_account", "content": BASE64_STANDARD.encode(account)});
        self.of(OLD).post("/credentials", body).await.created();
    }

    pub async fn publish(&self, node: usize, configuration: &str, version: &str, bytes: &[u8]) -> Value {
        let fields = json!({
            "bundleId": BUNDLE, "platform": "android", "version": version, "configuration": configuration,
        });
        self.of(node).publish(bytes, fields).await
    }

    /// Publishes, pauses, resumes, narrows and withdraws, alternating between the nodes.
    pub async fn updates(&self, actor: usize, other: usize) {
        let configuration = format!("by-{actor}");
        let bytes = package("index.html", configuration.as_bytes());
        // Announced and sent on one node, published on the other.
        let upload = self.of(actor).upload(&bytes).await;
        let fields = json!({
            "uploadId": upload, "bundleId": BUNDLE, "platform": "android", "version": "1.0.1", "configuration": configuration,
            "fingerprint": "ab".repeat(32), "rollout": 100, "releaseNotes": "Both see it.",
        });
        let update = self.of(other).post("/update", fields).await.created();
        let path = format!("/update?id={}", text(&update, "id"));
        self.of(actor).get(&path).await.ok();
        // A phone that sends no fingerprint is not refused for it.
        self.both_offer(&configuration, Some("1.0.1")).await;
        for (node, change, offered) in [
            (actor, json!({"status": "paused"}), None),
            (other, json!({"status": "published"}), Some("1.0.1")),
            (actor, json!({"rollout": 0}), None),
            (other, json!({"rollout": 100, "mandatory": true}), Some("1.0.1")),
        ] {
            self.of(node).patch(&path, change).await.ok();
            self.both_offer(&configuration, offered).await;
        }
        let newer = self.publish(actor, &configuration, "1.0.2", &bytes).await;
        self.both_offer(&configuration, Some("1.0.2")).await;
        let newer = format!("/update?id={}", text(&newer, "id"));
        let withdrawn = json!({"status": "withdrawn"});
        self.of(other).patch(&newer, withdrawn).await.ok();
        self.both_offer(&configuration, Some("1.0.1")).await;
        self.of(actor).delete(&newer).await.ok();
        let promoted = json!({
            "sourceUpdateId": text(&update, "id"), "bundleId": BUNDLE, "platform": "android", "version": "1.0.1",
            "configuration": format!("promoted-{actor}"),
        });
        self.of(other).post("/update", promoted).await.created();
        self.both_offer(&format!("promoted-{actor}"), Some("1.0.1")).await;
    }

    /// The released program knows no update that awaits its signature: it neither offers nor changes it, and may delete it.
    /// The rows are set by hand, so that nothing here needs keys.
    pub async fn waits(&self) {
        let configuration = "waiting";
        let bytes = package("index.html", configuration.as_bytes());
        let first = self.publish(NEW, configuration, "1.0.1", &bytes).await;
        let second = self.publish(NEW, configuration, "1.0.2", &bytes).await;
        let paths = [&first, &second].map(|update| format!("/update?id={}", text(update, "id")));
        let wait = format!(
            "UPDATE updates SET status = 'withdrawn', awaiting_since = created_at, trust_role = 'c-waiting' \
             WHERE configuration = '{configuration}'"
        );
        Postgres::shared().run_sql(&self.database, &wait).unwrap();
        // Another update of the app has both nodes read its updates again.
        self.publish(OLD, "beside", "1.0.1", &bytes).await;
        self.both_offer("beside", Some("1.0.1")).await;
        self.both_offer(configuration, None).await;
        for (node, status) in [(OLD, "withdrawn"), (NEW, "awaiting_signature")] {
            for path in &paths {
                assert_eq!(self.of(node).get(path).await.ok()["status"], status);
                let published = json!({"status": "published"});
                assert_eq!(self.of(node).patch(path, published).await.status, 400);
            }
        }
        // A change that the released program takes does not end the wait.
        let notes = json!({"releaseNotes": "by the released program"});
        self.of(OLD).patch(&paths[0], notes).await.ok();
        assert_eq!(self.of(NEW).get(&paths[0]).await.ok()["status"], "awaiting_signature");
        for (node, path) in [(OLD, &paths[0]), (NEW, &paths[1])] {
            self.of(node).delete(path).await.ok();
        }
        self.both_offer(configuration, None).await;
    }

    /// A device checks with one node, reports to the other, and repeats that to the first. It counts once, unless the released
    /// program gets the repetition: it does not know the devices that the present one counted.
    pub async fn reports(&self, actor: usize, other: usize) {
        let again = u64::from(actor == OLD);
        let question = format!("currentVersion=1.0.0&platform=android&configuration=by-{actor}");
        for device in 0..20 {
            let offer = self
                .of(actor)
                .check(BUNDLE, &format!("{question}&deviceId=d{device}"))
                .await;
            let event = json!({"type": "installed", "updateId": offer["id"], "at": "2026-11-20T10:00:00.000Z"});
            let body = json!({"reportToken": offer["reportToken"], "events": [event]});
            for (node, counted) in [(other, 1), (actor, again)] {
                let answer = self
                    .of(node)
                    .post(&format!("/update/report/{BUNDLE}"), body.clone())
                    .await;
                assert_eq!(answer.ok()["counted"], counted);
            }
        }
        let offer = self.of(other).check(BUNDLE, &format!("{question}&deviceId=d0")).await;
        for api in &self.apis {
            let shown = api.get(&format!("/update?id={}", text(&offer, "id"))).await.ok();
            assert_eq!(shown["reports"]["installed"], 20 * (1 + again));
        }
    }

    /// A build queued on one node, leased and logged on the other, finished on the first; and one that is canceled.
    pub async fn builds(&self, actor: usize, other: usize) {
        let token = self.of(actor).post("/runners/tokens", json!({})).await.created();
        let enroll = json!({"name": "mac-mini-1", "labels": ["os=linux"], "slots": 2, "version": "0.1.0"});
        let deployment = &self.deployment;
        let at = |node: usize, key: &str| Api::new(&deployment.nodes[node], key);
        let runner = at(other, text(&token, "token"))
            .post("/runner/enrol", enroll)
            .await
            .created();
        let runner = [0, 1].map(|node| at(node, text(&runner, "token")));
        for canceled in [false, true] {
            let queued = self.queue(actor).await;
            let id = text(&queued, "id");
            let asked = json!({"labels": ["os=linux"], "version": "0.1.0", "waitSeconds": 30});
            let lease = runner[other].post("/runner/lease", asked).await.ok()["lease"].clone();
            assert_eq!(text(&lease, "buildId"), id);
            let tell = |more: Value| {
                let mut body = json!({"buildId": id, "attempt": 1});
                more.as_object()
                    .unwrap()
                    .iter()
                    .for_each(|(name, value)| body[name] = value.clone());
                body
            };
            let mut logged = 0;
            for node in [other, actor] {
                let path = format!("/runner/log?id={id}&attempt=1&offset={logged}");
                let request = runner[node].request(Method::POST, &path);
                let sent = request
                    .header("content-type", "application/octet-stream")
                    .body("a line\n")
                    .send()
                    .await;
                assert_eq!(sent.unwrap().status(), 200);
                logged += 7;
            }
            if canceled {
                self.of(other)
                    .post(&format!("/build/cancel?id={id}"), json!({}))
                    .await
                    .ok();
            }
            let going = runner[actor]
                .post("/runner/renew", tell(json!({"phases": []})))
                .await
                .ok();
            assert_eq!(going["cancel"], canceled);
            let mut artifacts = Vec::new();
            if !canceled {
                let bytes = package("a.txt", b"what was built");
                let told =
                    json!({"kind": "web", "name": "deployment.zip", "size": bytes.len(), "sha256": sha256(&bytes)});
                let target = runner[other].post("/runner/artifacts", tell(told)).await.created();
                assert_eq!(runner[other].send(&target, bytes).await.status, 200);
                artifacts.push(text(&target, "id").to_owned());
            }
            let status = if canceled { "canceled" } else { "success" };
            let end = json!({
                "status": status, "error": null, "phases": [], "artifacts": artifacts, "logSize": logged, "fingerprint": null,
            });
            runner[actor].post("/runner/finish", tell(end)).await.ok();
            for api in &self.apis {
                let shown = api.get(&format!("/build?id={id}")).await.ok();
                assert_eq!((text(&shown, "status"), &shown["logSize"]), (status, &json!(logged)));
                assert_eq!(shown["artifacts"].as_array().unwrap().len(), artifacts.len());
                let log: Answer = api.get(&format!("/build/log?id={id}")).await;
                assert!(log.text().contains("a line\na line"), "{}", log.text());
            }
            let again = self
                .of(other)
                .post(&format!("/build/retry?id={id}"), json!({}))
                .await
                .created();
            let path = format!("/build/cancel?id={}", text(&again, "id"));
            self.of(actor).post(&path, json!({})).await.ok();
        }
    }

    async fn queue(&self, node: usize) -> Value {
        let bytes = package("index.html", b"source");
        let announced = json!({"fileName": "source.zip", "size": bytes.len(), "sha256": sha256(&bytes)});
        let upload = self.of(node).post("/uploads", announced).await.created();
        assert_eq!(self.of(node).send(&upload, bytes).await.status, 200);
        let body = json!({
            "bundleId": BUNDLE, "platform": "android", "source": {"uploadId": upload["id"]},
            "plan": {"steps": [{"name": "pack", "run": "true"}], "artifacts": [{"path": "deployment.zip", "kind": "web"}]},
        });
        self.of(node).post("/build", body).await.created()
    }

    /// A key created on one node works on the other, and stops working there when it is revoked.
    pub async fn keys(&self, actor: usize, other: usize) {
        let made = self
            .of(actor)
            .post("/api-keys", json!({"name": "CI", "scopes": ["update"]}))
            .await
            .created();
        let holder = Api::new(&self.deployment.nodes[other], text(&made, "key"));
        holder.get("/update").await.ok();
        self.of(actor)
            .delete(&format!("/api-keys?id={}", text(&made, "id")))
            .await
            .ok();
        let refused = async || (holder.get("/update").await.status == 401).then_some(());
        until(LIMIT, "a revoked key is refused by the other node", refused).await;
    }

    /// Events of one node reach the webhook that was created on the other, whichever node sends them.
    pub async fn webhooks(&self, actor: usize, other: usize) {
        let url = self.receiver.url(&format!("/{actor}"));
        let body = json!({"name": "receiver", "url": url, "events": ["webhook.test", "update.changed"]});
        let hook = self.of(actor).post("/webhooks", body).await.created();
        let of = |path: &str| format!("/webhooks{path}?id={}", text(&hook, "id"));
        self.of(other).post(&of("/test"), json!({})).await.created();
        self.of(actor).post(&of("/test"), json!({})).await.created();
        let came = |all: &[launchway_testing::receiver::Received]| {
            let ours = all.iter().filter(|one| one.path == format!("/{actor}"));
            ours.count() >= 2
        };
        self.receiver.wait_until(came).await;
        for api in &self.apis {
            let told = async || {
                let list = api.get(&of("/deliveries")).await.ok();
                let ended = list["items"]
                    .as_array()?
                    .iter()
                    .filter(|one| one["status"] == "succeeded");
                (ended.count() == 2).then_some(())
            };
            until(LIMIT, "both nodes show the deliveries", told).await;
        }
        self.of(other).post(&of("/rotate-secret"), json!({})).await.ok();
        self.of(other).delete(&of("")).await.ok();
    }

    /// A submission created on one node; whichever node claims it, it ends, and each node shows and cancels the
    /// submissions of the other.
    pub async fn submissions(&self, actor: usize, other: usize) {
        let apk = fs::read(root().join("crates/binaries/tests/fixtures/v1-v2-v3.apk")).unwrap();
        for (cancel, tracks) in [(false, ["internal", "beta"]), (true, ["alpha", "production"])] {
            let announced = json!({"fileName": "app.apk", "size": apk.len(), "sha256": sha256(&apk)});
            let upload = self.of(actor).post("/uploads", announced).await.created();
            assert_eq!(self.of(actor).send(&upload, apk.clone()).await.status, 200);
            let body = json!({"uploadId": upload["id"], "destination": tracks[actor]});
            let made = self.of(actor).post("/submit", body).await.created();
            let path = format!("/submit?id={}", text(&made, "id"));
            if cancel {
                let id = text(&made, "id");
                // It may have ended already.
                let answer = self.of(other).post(&format!("/submit/cancel?id={id}"), json!({})).await;
                assert!(matches!(answer.status.as_u16(), 200 | 400), "{}", answer.text());
            }
            let ended = async || {
                self.deployment
                    .sql("UPDATE submissions SET due_at = 0 WHERE due_at > 0")
                    .await;
                let shown = self.of(other).get(&path).await.ok();
                let status = text(&shown, "status");
                matches!(status, "success" | "failed" | "rejected" | "canceled").then(|| status.to_owned())
            };
            let (status, _) = until(LIMIT, "a submission has ended", ended).await;
            let shown = self.of(actor).get(&path).await.ok();
            assert_eq!(text(&shown, "status"), status);
            // The second has the same build number, which the store already has.
            assert!(cancel || actor != OLD || status == "success", "{shown:#}");
        }
    }

    /// Variables, apps, names, members: set on one node, read and changed on the other.
    pub async fn settings(&self, actor: usize, other: usize) {
        let body = json!({"name": "API_URL", "value": format!("https://{actor}"), "visibility": "plain"});
        let set = self.of(actor).post("/env", body).await;
        assert!(matches!(set.status.as_u16(), 200 | 201), "{}", set.text());
        let shown = self
            .of(other)
            .get(&format!("/env?id={}", text(&set.json(), "id")))
            .await
            .ok();
        assert_eq!(shown["value"], format!("https://{actor}"));
        let app = json!({"bundleId": format!("com.example.upgrade{actor}")});
        let app = self.of(actor).post("/apps", app).await.created();
        self.of(other)
            .delete(&format!("/apps?id={}", text(&app, "id")))
            .await
            .ok();
        let invited = json!({"email": format!("ada{actor}@example.com"), "role": "member"});
        let invited = self.of(actor).post("/orgs/invitations", invited).await.created();
        let path = format!("/orgs/invitations?id={}", text(&invited, "id"));
        self.of(other).delete(&path).await.ok();
        for api in &self.apis {
            let orgs = api.get(&format!("/orgs?id={}", self.team.id)).await.ok();
            assert_eq!(orgs["name"], "Team");
        }
    }
}
