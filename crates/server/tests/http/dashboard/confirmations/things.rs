//! One of each resource that has confirmations, and concurrent changes of it.

use launchway_domain::submission::SubmissionStatus;
use launchway_domain::tenancy::Role;
use launchway_os::clock::Clock;
use serde_json::{Value, json};

use crate::dashboard::{Visit, visit_of};
use crate::support::{Fields, TestApp};

pub fn id(record: &Value) -> String {
    record.id().to_owned()
}

pub async fn patch(app: &TestApp, key: &str, update: &str, body: Value) {
    app.patch(key, &format!("/update?id={update}"), body).await.ok();
}

/// A concurrent change.
#[derive(Clone, Copy, Debug)]
pub enum Other {
    Update,
    Webhook,
    Name,
    Role,
    Variable,
}

/// One of each resource that has confirmations.
pub struct Things {
    pub update: String,
    earlier: String,
    pub webhook: String,
    member: String,
    variable: String,
    app: String,
    deployment_key: String,
    key: String,
    credential: String,
    invitation: String,
    runner: String,
    build: String,
    over: String,
    submission: String,
    failed: String,
    rolling: String,
}

impl Things {
    pub async fn make(app: &TestApp, visit: &Visit<'_>, key: &str) -> Things {
        let earlier = id(&app.published(key, json!({"version": "1.0.0"})).await);
        app.advance(1000);
        let update = id(&app.published(key, json!({"version": "1.0.1", "rollout": 20})).await);
        let post = async |path: &str, body: Value| id(&app.post(key, path, body).await.created());
        let hook = json!({"name": "CI", "url": "https://93.184.216.34/hook", "events": ["*"]});
        let first = async |path: &str| {
            let list = app.get(&visit.cookie, path).await.ok();
            id(&list["items"][0])
        };
        let over = app.queue(visit.org, |_| {}).await.to_string();
        app.post(key, &format!("/build/cancel?id={over}"), ()).await;
        let mut submissions = Vec::new();
        for _ in 0..3 {
            submissions.push(id(&app.submitted(key).await));
            // The next one brings its own credentials; if two fit, none is chosen.
            let list = app.get(key, "/credentials").await.ok();
            for credential in list["items"].as_array().unwrap() {
                app.delete(key, &format!("/credentials?id={}", id(credential))).await.ok();
            }
        }
        app.keystore(key).await;
        let [submission, failed, rolling] = <[String; 3]>::try_from(submissions).unwrap();
        stand(app, visit, &failed, SubmissionStatus::Failed).await;
        stand(app, visit, &rolling, SubmissionStatus::RollingOut).await;
        Things {
            update,
            earlier,
            webhook: post("/webhooks", hook).await,
            member: visit_of(app, visit.org, Role::Admin).await.caller().await,
            variable: post("/env", json!({"name": "TOKEN", "value": "secret"})).await,
            app: first("/apps").await,
            deployment_key: post("/deployment-keys", json!({"bundleId": "com.example.app", "platform": "ios"})).await,
            key: post("/api-keys", json!({"name": "x", "scopes": ["build"]})).await,
            credential: first("/credentials").await,
            invitation: post("/orgs/invitations", json!({"email": "bob@example.com"})).await,
            runner: app.runner(key, &["os=linux"]).await.id,
            build: app.queue(visit.org, |_| {}).await.to_string(),
            over,
            submission,
            failed,
            rolling,
        }
    }

    /// Each confirmation: its path, its query, and what makes it stale.
    pub fn actions(&self) -> Vec<(String, &'static str, Option<Other>)> {
        let Things { update, webhook, member, .. } = self;
        let rollback: &'static str = Box::leak(format!("?to={}", self.earlier).into_boxed_str());
        vec![
            (format!("/updates/{update}/change"), "?rollout=60", Some(Other::Update)),
            (format!("/updates/{update}/change"), "?status=paused", Some(Other::Update)),
            (format!("/updates/{update}/change"), "?mandatory=yes", Some(Other::Update)),
            (format!("/updates/{update}/promote"), "?configuration=beta", Some(Other::Update)),
            (format!("/updates/{update}/rollback"), rollback, Some(Other::Update)),
            (format!("/updates/{update}/delete"), "", Some(Other::Update)),
            (format!("/webhooks/{webhook}/status"), "?status=disabled", Some(Other::Webhook)),
            (format!("/webhooks/{webhook}/rotate"), "", Some(Other::Webhook)),
            (format!("/webhooks/{webhook}/delete"), "", Some(Other::Webhook)),
            (format!("/members/{member}/role"), "?role=owner", Some(Other::Role)),
            (format!("/members/{member}/remove"), "", Some(Other::Role)),
            (format!("/env/{}/delete", self.variable), "", Some(Other::Variable)),
            (format!("/apps/{}/delete", self.app), "", None),
            (format!("/deployment-keys/{}/delete", self.deployment_key), "", None),
            (format!("/api-keys/{}/revoke", self.key), "", None),
            (format!("/credentials/{}/delete", self.credential), "", None),
            (format!("/invitations/{}/delete", self.invitation), "", None),
            (format!("/runners/{}/revoke", self.runner), "", None),
            (format!("/builds/{}/cancel", self.build), "", None),
            (format!("/builds/{}/retry", self.over), "", None),
            (format!("/builds/{}/delete", self.build), "", None),
            (format!("/submissions/{}/change", self.rolling), "?status=halted", None),
            (format!("/submissions/{}/cancel", self.submission), "", None),
            (format!("/submissions/{}/retry", self.failed), "", None),
            (format!("/submissions/{}/delete", self.submission), "", None),
        ]
    }

    /// Makes a change as another user, a different one each time.
    pub async fn change(&self, app: &TestApp, visit: &Visit<'_>, key: &str, other: Other) {
        let moment = app.clock.now();
        match other {
            Other::Update => patch(app, key, &self.update, json!({"releaseNotes": format!("Theirs {moment}")})).await,
            Other::Webhook => {
                let body = json!({"id": self.webhook, "name": format!("Theirs {moment}"), "url": "https://93.184.216.34/hook", "events": ["*"]});
                app.put(key, "/webhooks", body).await.ok();
            }
            Other::Name => {
                let body = json!({"name": format!("Theirs {moment}")});
                app.patch(key, &format!("/orgs?id={}", visit.org), body).await.ok();
            }
            Other::Role => {
                let mut tx = app.app.db.write().await.unwrap();
                let (mut org, member) = (tx.org(visit.org), self.member.parse().unwrap());
                let role = org.member(member).await.unwrap().unwrap().role;
                let next = if role == Role::Admin { Role::Member } else { Role::Admin };
                org.set_role(member, next).await.unwrap().unwrap();
                tx.commit().await.unwrap();
            }
            Other::Variable => {
                app.post(key, "/env", json!({"name": "TOKEN", "value": "another"})).await;
            }
        }
    }
}

/// Puts a submission into a state that the job would bring it to.
async fn stand(app: &TestApp, visit: &Visit<'_>, id: &str, status: SubmissionStatus) {
    let mut tx = app.app.db.write().await.unwrap();
    let found = tx.org(visit.org).lock_submission(id.parse().unwrap()).await.unwrap();
    let mut record = found.unwrap();
    record.state.status = status;
    record.work.due_at = None;
    tx.org(visit.org).change_submission(&record).await.unwrap();
    tx.commit().await.unwrap();
}
