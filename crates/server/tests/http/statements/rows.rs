//! An organization with a row in every list, and dozens of further rows, written directly to the database.

use std::collections::HashMap;

use launchway_domain::actor::Actor;
use launchway_domain::app::App;
use launchway_domain::build::{Artifact, Build, Outcome, Runner, Transition};
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::credential::Credential;
use launchway_domain::id::{OrgId, RunnerId, UserId, WebhookId};
use launchway_domain::key::Key;
use launchway_domain::org::{Invitation, Org, Session, User};
use launchway_domain::platform::Platform;
use launchway_domain::release::DeploymentKey;
use launchway_domain::submission::Submission;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::DAY;
use launchway_domain::update::Update;
use launchway_domain::usage::{Counter, Month};
use launchway_domain::webhook::{Delivery, DeliveryAttempt, Webhook};
use launchway_domain::webhook_retry::NextStep;
use launchway_ops::write::Write;
use launchway_ops::{audit, env_vars};
use launchway_store::{
    AttemptReport, AuditRow, NewKey, NewUpdate, Paging, StateChange, StoredUrl, SubmissionFilter, UpdateFilter,
};
use serde_json::json;

use crate::stage::runners::new_build;
use crate::support::{Fields, TestApp};

const REASON: &str = "rows of a test";
const ONE: Paging = Paging { limit: 1, offset: 0 };

/// An organization with at least one row in every list.
pub struct Lists {
    pub org: OrgId,
    /// An owner, signed in.
    pub cookie: String,
    /// The webhook whose deliveries are listed.
    pub webhook: WebhookId,
    /// The ids of resources that stay the same while the lists grow, by the placeholder in the paths of pages.
    pub ids: HashMap<&'static str, String>,
    user: UserId,
    update: Update,
    submission: Submission,
    credential: Credential,
    key: Key,
    first_webhook: Webhook,
    delivery: Delivery,
    invitation: Invitation,
    runner: Runner,
    session: Session,
    rows: usize,
}

impl Lists {
    pub async fn new(app: &TestApp) -> Lists {
        let (org, key) = app.org_with_key().await;
        let cookie = app.user(org, "ada@example.com", Role::Owner).await;
        app.published(&key, json!({})).await;
        app.keystore(&key).await;
        app.submitted(&key).await;
        app.runner(&key, &[]).await;
        app.post(&key, "/orgs/invitations", json!({"email": "bob@example.com"})).await.created();
        let body = json!({"name": "CI", "url": "https://example.com/hook", "events": ["*"]});
        let webhook = app.post(&key, "/webhooks", body).await.created();
        app.post(&key, &format!("/webhooks/test?id={}", webhook.id()), ()).await.created();
        let session = app.get(&cookie, "/auth/session").await.ok();
        let user = session["user"].id().parse().unwrap();

        let mut tx = app.app.db.read().await.unwrap();
        let now = app.app.clock.now();
        let session = tx.system(REASON).sessions(user, now, ONE).await.unwrap().items.remove(0);
        let mut rows = tx.org(org);
        let webhook = rows.webhooks(ONE).await.unwrap().items.remove(0);
        let mut lists = Lists {
            org,
            cookie,
            webhook: webhook.id,
            ids: HashMap::new(),
            user,
            update: rows.updates(&UpdateFilter::default(), ONE).await.unwrap().items.remove(0),
            submission: rows.submissions(&SubmissionFilter::default(), ONE).await.unwrap().items.remove(0),
            credential: rows.credentials(ONE).await.unwrap().items.remove(0),
            key: rows.keys(ONE).await.unwrap().items.remove(0),
            delivery: rows.deliveries(webhook.id, ONE).await.unwrap().items.remove(0),
            first_webhook: webhook,
            invitation: rows.invitations(ONE).await.unwrap().items.remove(0),
            runner: rows.runners(ONE).await.unwrap().items.remove(0),
            session,
            rows: 0,
        };
        drop(tx);
        lists.ids = HashMap::from([
            ("webhooks", lists.webhook.to_string()),
            ("updates", lists.update.id.to_string()),
            ("submissions", lists.submission.id.to_string()),
        ]);
        lists.grow(app, 1).await;
        lists
    }

    /// Adds rows to every list until it has at least `rows`.
    pub async fn grow(&mut self, app: &TestApp, rows: usize) {
        let mut write = Write::open(&app.app, self.org, Actor::Operator, None).await.unwrap();
        let mut actors = Vec::new();
        for number in self.rows..rows {
            let user = self.add_people(&mut write, number).await;
            let key = self.add_access(&mut write, number).await;
            let runner = self.add_builds(&mut write, number).await;
            self.add_releases(&mut write, number).await;
            self.add_webhook(&mut write).await;
            actors.extend([user.to_string(), key, runner.to_string()]);
        }
        let lines: Vec<_> = actors.into_iter().map(audit_line).collect();
        let link = audit::link(&app.app, Some(self.org));
        write.commit().await.unwrap();
        // After the lines that the commit writes, so that a page of the newest ones shows them.
        let mut tx = app.app.db.write().await.unwrap();
        tx.org(self.org).add_audit(&lines, link).await.unwrap();
        tx.commit().await.unwrap();
        self.rows = rows;
    }

    /// A member, an invitation, a session, and another organization of the user.
    async fn add_people(&self, write: &mut Write<'_>, number: usize) -> UserId {
        let (now, random) = (write.now(), write.app().random.clone());
        let email = format!("row{number}@example.com");
        let user = User { id: random.id(now), email: email.clone(), created_at: now };
        write.system(REASON).create_user(&user, "").await.unwrap();
        write.org().add_member(user.id, Role::Member, now).await.unwrap();
        let invitation = Invitation { id: random.id(now), email: format!("guest.{email}"), ..self.invitation.clone() };
        write.org().create_invitation(&invitation, &email, "operator").await.unwrap();
        let session = Session { id: random.id(now), ..self.session.clone() };
        write.system(REASON).create_session(&session, &email).await.unwrap();
        let other = Org { id: random.id(now), name: email, tier: Tier::Free, created_at: now };
        write.system(REASON).create_org(&other).await.unwrap();
        write.enter(other.id);
        write.org().add_member(self.user, Role::Member, now).await.unwrap();
        write.enter(self.org);
        user.id
    }

    /// A key, a credential, a variable, and a month of usage.
    async fn add_access(&self, write: &mut Write<'_>, number: usize) -> String {
        let (now, random) = (write.now(), write.app().random.clone());
        let key = Key { id: random.id(now), ..self.key.clone() };
        let new = NewKey { key, hash: format!("hash {number}") };
        write.org().create_key(&new).await.unwrap();
        let credential = Credential { id: random.id(now), name: format!("row {number}"), ..self.credential.clone() };
        write.org().create_credential(&credential, "sealed").await.unwrap();
        let set = json!({"name": format!("ROW_{number}"), "value": "x", "visibility": "plain"});
        let plan = env_vars::plan(serde_json::from_value(set).unwrap()).unwrap();
        env_vars::set(write, plan).await.unwrap();
        let month = Month::of(now - number as i64 * 31 * DAY);
        write.org().count_usage(Counter::Updates, month, 1).await.unwrap();
        new.key.id.to_string()
    }

    /// A runner, a queued build, and a build of that runner with an artifact.
    async fn add_builds(&self, write: &mut Write<'_>, number: usize) -> RunnerId {
        let (now, random) = (write.now(), write.app().random.clone());
        let runner = Runner { id: random.id(now), ..self.runner.clone() };
        write.system(REASON).create_runner(&runner, &format!("token {number}")).await.unwrap();
        let (queued, build) = (new_build(random.id(now), self.org, now), new_build(random.id(now), self.org, now));
        for build in [&queued, &build] {
            write.org().create_build(build, &bundle(&build.bundle_id)).await.unwrap();
        }
        let (leased, _) = build.state.apply(Transition::Lease, now).unwrap();
        let begins = StateChange { runner: Some(runner.id), started_at: Some(now), ..StateChange::default() };
        assert!(write.org().set_build_state(build.id, &build.state, &leased, &begins).await.unwrap());
        self.add_artifact(write, &build, leased.attempt).await;
        let finish = Transition::Finish { attempt: leased.attempt, outcome: Outcome::Success };
        let (done, _) = leased.apply(finish, now).unwrap();
        let ends = StateChange { finished_at: Some(now), ..StateChange::default() };
        assert!(write.org().set_build_state(build.id, &leased, &done, &ends).await.unwrap());
        runner.id
    }

    async fn add_artifact(&self, write: &mut Write<'_>, build: &Build, attempt: u32) {
        let (now, random) = (write.now(), write.app().random.clone());
        let artifact = Artifact {
            id: random.id(now),
            build_id: build.id,
            attempt,
            is_stored: false,
            kind: "apk".to_owned(),
            name: "app.apk".to_owned(),
            size: 1,
            sha256: "0".repeat(64),
            blob_key: "artifacts/row".to_owned(),
            facts: None,
            created_at: now,
        };
        write.org().create_artifact(&artifact).await.unwrap();
        write.org().store_artifact(artifact.id, &artifact.blob_key, None).await.unwrap();
    }

    /// An app, an update, a deployment key, and a submission.
    async fn add_releases(&self, write: &mut Write<'_>, number: usize) {
        let (now, random) = (write.now(), write.app().random.clone());
        let name = format!("com.example.row{number}");
        let app =
            App { id: random.id(now), org_id: self.org, bundle_id: name.clone(), name: name.clone(), created_at: now };
        write.org().claim_app(&bundle(&name), &app).await.unwrap();
        let build_number = BuildNumber::from_value(1000 + number as u64).unwrap();
        let update = Update { id: random.id(now), build_number, ..self.update.clone() };
        let known = bundle(&update.bundle_id);
        let new = NewUpdate { update: &update, bundle: &known };
        assert!(write.org().create_update(&new).await.unwrap());
        let key = DeploymentKey {
            id: random.id(now),
            org_id: self.org,
            bundle_id: name.clone(),
            platform: Platform::Ios,
            configuration: None,
            key: format!("deployment-key-{number}"),
            created_by: "operator".to_owned(),
            created_at: now,
        };
        assert!(write.org().create_deployment_key(&bundle(&name), &key).await.unwrap());
        let submission = Submission { id: random.id(now), ..self.submission.clone() };
        write.org().create_submission(&submission, &known).await.unwrap();
    }

    /// A webhook with a delivery, and a delivery to the first webhook, each with an attempt.
    async fn add_webhook(&self, write: &mut Write<'_>) {
        let (now, random) = (write.now(), write.app().random.clone());
        let webhook = Webhook { id: random.id(now), ..self.first_webhook.clone() };
        write.org().create_webhook(&webhook, &StoredUrl::Plain(webhook.url.clone()), "sealed").await.unwrap();
        for webhook_id in [webhook.id, self.webhook] {
            let delivery = Delivery { id: random.id(now), webhook_id, ..self.delivery.clone() };
            assert!(write.org().add_delivery(&delivery).await.unwrap());
            let tried = DeliveryAttempt { at: now, took_ms: 1, response_status: Some(500), error: None };
            let report = AttemptReport { id: delivery.id, claim: 0, tried, next: NextStep::RetryAt(now) };
            assert!(write.org().report_attempt(&report).await.unwrap());
        }
    }
}

fn bundle(name: &str) -> BundleId {
    name.parse().unwrap()
}

fn audit_line(actor: String) -> AuditRow {
    AuditRow {
        at: 0,
        actor,
        action: "test.row".to_owned(),
        resource: "row".to_owned(),
        before: None,
        after: None,
        address: String::new(),
        request_id: String::new(),
    }
}
