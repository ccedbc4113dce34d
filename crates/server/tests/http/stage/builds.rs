//! Builds of a stage: requested over the API, and executed by a simulated runner through the store.

use launchway_blob::Key;
use launchway_domain::build::{
    Artifact, BuildFailure, BuildState, BuildStatus, Outcome, PhaseRecord, Runner, Transition,
};
use launchway_domain::id::{BuildId, OrgId, RunnerId};
use launchway_domain::time::{EpochMs, MINUTE};
use launchway_store::{LogSegment, StateChange};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Fields, TestApp, with};

/// Requests a build of a git source, with these fields over the defaults; returns the response.
pub async fn build(app: &TestApp, key: &str, fields: Value) -> Answer {
    let git = json!({"url": "https://example.com/app.git", "ref": "main"});
    let body = with(json!({"bundleId": "com.example.app", "platform": "android", "source": {"git": git}}), &fields);
    app.post(key, "/build", body).await
}

/// Creates a build; returns its id.
pub async fn built(app: &TestApp, key: &str, fields: Value) -> BuildId {
    id_of(&build(app, key, fields).await.created())
}

pub fn id_of(view: &Value) -> BuildId {
    view.id().parse().unwrap()
}

/// Reads a build.
pub async fn read(app: &TestApp, key: &str, id: BuildId) -> Value {
    app.get(key, &format!("/build?id={id}")).await.ok()
}

/// The keys of the objects under a prefix of the storage.
pub async fn stored(app: &TestApp, folder: &str) -> Vec<String> {
    let folder = Key::new(folder).unwrap();
    let keys = app.app.blob.list(Some(&folder)).await.unwrap();
    keys.iter().map(|key| key.as_str().to_owned()).collect()
}

/// Puts an object into the storage.
pub async fn put(app: &TestApp, key: &str, bytes: &[u8]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    app.app.blob.put_file(&Key::new(key).unwrap(), file.path()).await.unwrap();
}

/// A runner's actions on a build, simulated through the store.
pub struct Play<'a> {
    pub app: &'a TestApp,
    pub org: OrgId,
    pub id: BuildId,
}

impl Play<'_> {
    /// Applies an action.
    pub async fn transition(&self, step: Transition, with: StateChange) -> BuildState {
        let now = self.app.app.clock.now();
        let mut tx = self.app.app.db.write().await.unwrap();
        let mut org = tx.org(self.org);
        let build = org.lock_build(self.id).await.unwrap().unwrap();
        let (to, code) = build.state.apply(step, now).unwrap();
        let with = StateChange {
            error: code.map(|code| BuildFailure {
                code,
                phase: Some("compile".to_owned()),
                message: "The step compile ended with exit code 1".to_owned(),
            }),
            finished_at: to.status.is_final().then_some(now),
            started_at: (to.status == BuildStatus::Running).then_some(now),
            ..with
        };
        assert!(org.set_build_state(self.id, &build.state, &to, &with).await.unwrap());
        tx.commit().await.unwrap();
        self.app.app.build_news.notify(self.id);
        to
    }

    /// A runner claims it.
    pub async fn leased(&self, runner: RunnerId) {
        let with = StateChange { runner: Some(runner), ..StateChange::default() };
        self.transition(Transition::Lease, with).await;
    }

    /// It ends.
    pub async fn ends(&self, outcome: Outcome) {
        self.transition(Transition::Finish { attempt: 1, outcome }, StateChange::default()).await;
    }

    /// The phases change.
    pub async fn phases(&self, names: &[&str]) {
        let mut tx = self.app.app.db.write().await.unwrap();
        let mut org = tx.org(self.org);
        let mut build = org.build(self.id).await.unwrap().unwrap();
        let started_at = self.app.app.clock.now();
        let phase = |name: &&str| PhaseRecord {
            name: (*name).to_owned(),
            started_at,
            finished_at: Some(started_at + 1500),
            exit_code: Some(0),
        };
        build.phases = names.iter().map(phase).collect();
        org.update_build(&build).await.unwrap();
        tx.commit().await.unwrap();
        self.app.app.build_news.notify(self.id);
    }

    /// The build prints to its log.
    pub async fn prints(&self, bytes: &[u8]) {
        let mut tx = self.app.app.db.write().await.unwrap();
        let mut org = tx.org(self.org);
        let build = org.lock_build(self.id).await.unwrap().unwrap();
        org.append_log(self.id, build.log_size, bytes).await.unwrap();
        tx.commit().await.unwrap();
        self.app.app.build_news.notify(self.id);
    }

    /// A range of the log is moved to object storage.
    pub async fn sealed(&self, start: usize, bytes: &[u8]) {
        let segment = LogSegment {
            start: start as i64,
            size: bytes.len() as i64,
            blob_key: format!("logs/{}/{start}", self.id),
            index_size: 0,
        };
        put(self.app, &segment.blob_key, bytes).await;
        let mut tx = self.app.app.db.write().await.unwrap();
        tx.org(self.org).seal_log_segment(self.id, &segment).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// The build produces an artifact.
    pub async fn gives(&self, name: &str, bytes: &[u8]) -> Artifact {
        let now = self.app.app.clock.now();
        let artifact = Artifact {
            id: self.app.app.random.id(now),
            build_id: self.id,
            attempt: 1,
            is_stored: false,
            kind: name.rsplit('.').next().unwrap().to_owned(),
            name: name.to_owned(),
            size: bytes.len() as i64,
            sha256: hex::encode(Sha256::digest(bytes)),
            blob_key: format!("artifacts/{}/{}", self.id, self.app.app.random.token()),
            facts: None,
            created_at: now,
        };
        put(self.app, &artifact.blob_key, bytes).await;
        let mut tx = self.app.app.db.write().await.unwrap();
        let mut org = tx.org(self.org);
        org.create_artifact(&artifact).await.unwrap();
        let facts = r#"{"bundleId":"com.example.app","version":"1.2.3"}"#;
        org.store_artifact(artifact.id, &artifact.blob_key, Some(facts)).await.unwrap();
        tx.commit().await.unwrap();
        artifact
    }
}

/// A live runner with these labels, of one organization or shared.
pub async fn runner(app: &TestApp, org: Option<OrgId>, labels: &[&str]) -> RunnerId {
    let labels = labels.iter().map(ToString::to_string).collect();
    runners(app, org, vec![labels]).await.remove(0)
}

/// Live runners, each with these labels.
pub async fn runners(app: &TestApp, org: Option<OrgId>, labels: Vec<Vec<String>>) -> Vec<RunnerId> {
    let now = app.app.clock.now();
    let mut tx = app.app.db.write().await.unwrap();
    let mut system = tx.system("a test plays runners");
    let mut ids = Vec::new();
    for labels in labels {
        let runner = Runner {
            id: app.app.random.id(now),
            org_id: org,
            name: "mac-mini-1".to_owned(),
            labels,
            slots: 1,
            version: "0.1.0".to_owned(),
            created_by: "operator".to_owned(),
            created_at: now,
            last_seen_at: now,
            revoked_at: None,
        };
        system.create_runner(&runner, &app.app.random.token()).await.unwrap();
        ids.push(runner.id);
    }
    tx.commit().await.unwrap();
    ids
}

/// A running build with its organization, key and runner.
pub async fn running(app: &TestApp) -> (OrgId, String, BuildId) {
    let (org, key) = app.org_with_key().await;
    let id = built(app, &key, json!({})).await;
    let runner = runner(app, None, &["os=linux"]).await;
    Play { app, org, id }.leased(runner).await;
    (org, key, id)
}

/// Long enough that no runner is live any more.
pub const SILENCE: EpochMs = 10 * MINUTE;
