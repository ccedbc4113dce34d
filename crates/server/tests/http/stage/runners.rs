//! Runners and builds for the tests of the runner protocol. The store puts builds into the queue: `POST /build` has its
//! own tests.

use launchway_domain::build::plan::{Plan, Step};
use launchway_domain::build::{Build, BuildState, SourceRecord, Spec};
use launchway_domain::id::{BuildId, OrgId};
use launchway_domain::platform::Platform;
use launchway_domain::time::EpochMs;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Fields, TestApp, with};

/// A runner: its token and its labels.
pub struct Runner {
    pub id: String,
    pub token: String,
    labels: Value,
}

/// A build that a runner has leased.
pub struct Held<'a> {
    pub app: &'a TestApp,
    pub token: &'a str,
    pub id: String,
    pub attempt: u64,
    pub lease: Value,
}

impl TestApp {
    /// Enrolls a runner with a one-time token.
    pub async fn enroll(&self, token: &str, labels: &[&str]) -> Runner {
        let body = json!({"name": "mac-mini-1", "labels": labels, "slots": 2, "version": "0.1.0"});
        let answer = self.post(token, "/runner/enrol", body).await.created();
        Runner { id: answer.id().to_owned(), token: answer.text("token").to_owned(), labels: json!(labels) }
    }

    /// A runner of the organization that an admin key belongs to.
    pub async fn runner(&self, admin_key: &str, labels: &[&str]) -> Runner {
        let made = self.post(admin_key, "/runners/tokens", ()).await.created();
        self.enroll(made.text("token"), labels).await
    }

    /// A runner of all organizations.
    pub async fn shared_runner(&self, labels: &[&str]) -> Runner {
        let made = launchway_ops::runners::create_shared_token(&self.app).await.unwrap();
        self.enroll(&made.token, labels).await
    }

    /// Puts a build into the queue.
    pub async fn queue(&self, org: OrgId, change: impl FnOnce(&mut Build)) -> BuildId {
        let mut build = new_build(self.app.random.id(self.app.clock.now()), org, self.app.clock.now());
        change(&mut build);
        let bundle = build.bundle_id.parse().unwrap();
        let mut tx = self.app.db.write().await.unwrap();
        tx.org(org).create_build(&build, &bundle).await.unwrap();
        tx.commit().await.unwrap();
        build.id
    }

    /// The record of a build.
    pub async fn build(&self, id: BuildId) -> Build {
        let mut tx = self.app.db.read().await.unwrap();
        tx.system("a test").any_build(id).await.unwrap().unwrap()
    }

    /// Requests a lease without waiting; returns the response.
    pub async fn ask(&self, runner: &Runner) -> Value {
        let body = json!({"labels": runner.labels, "version": "0.1.0", "waitSeconds": 0});
        let answer = self.post(&runner.token, "/runner/lease", body).await;
        answer.ok()["lease"].clone()
    }

    /// Leases the next build, which must exist.
    pub async fn take<'a>(&'a self, runner: &'a Runner) -> Held<'a> {
        let lease = self.ask(runner).await;
        Held {
            app: self,
            token: &runner.token,
            id: lease["buildId"].as_str().expect("a build").to_owned(),
            attempt: lease["attempt"].as_u64().unwrap(),
            lease,
        }
    }

    /// The whole log of a build, as readers see it.
    pub async fn log(&self, id: BuildId) -> Vec<u8> {
        let org = self.build(id).await.org_id;
        let mut tx = self.app.db.read().await.unwrap();
        let (mut log, mut rows) = (Vec::new(), tx.org(org));
        for segment in rows.log_segments(id).await.unwrap() {
            assert_eq!(segment.start as usize, log.len());
            let key = segment.blob_key.parse().unwrap();
            let mut file = tokio::fs::File::from_std(tempfile::tempfile().unwrap());
            self.app.blob.fetch_to_file(&key, &mut file, 1 << 30).await.unwrap();
            let mut file = file.into_std().await;
            std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(0)).unwrap();
            // The search index follows the part in its object.
            std::io::Read::read_to_end(&mut std::io::Read::take(file, segment.size as u64), &mut log).unwrap();
            assert_eq!((segment.start + segment.size) as usize, log.len());
        }
        for chunk in rows.log_tail(id, log.len() as i64, 10_000).await.unwrap() {
            assert_eq!(chunk.start as usize, log.len());
            log.extend(chunk.bytes);
        }
        log
    }
}

impl Held<'_> {
    /// A request about the build, with additional fields.
    pub async fn tell(&self, path: &str, fields: Value) -> Answer {
        let body = with(json!({"buildId": self.id, "attempt": self.attempt}), &fields);
        self.app.post(self.token, path, body).await
    }

    pub async fn renew(&self) -> Answer {
        self.tell("/runner/renew", json!({"phases": []})).await
    }

    pub async fn log(&self, offset: usize, bytes: impl Into<reqwest::Body>) -> Answer {
        let path = format!("/runner/log?id={}&attempt={}&offset={offset}", self.id, self.attempt);
        let request = self.app.request(Method::POST, &path).bearer_auth(self.token);
        let request = request.header("content-type", "application/octet-stream").body(bytes);
        Answer::to(request).await
    }

    /// The offset at which the log continues after these bytes.
    pub async fn logged(&self, offset: usize, bytes: &[u8]) -> u64 {
        self.log(offset, bytes.to_vec()).await.ok()["logOffset"].as_u64().unwrap()
    }

    /// Announces an artifact; returns the response.
    pub async fn announce(&self, name: &str, bytes: &[u8]) -> Answer {
        let sha256 = hex::encode(Sha256::digest(bytes));
        let fields = json!({"kind": "apk", "name": name, "size": bytes.len(), "sha256": sha256});
        self.tell("/runner/artifacts", fields).await
    }

    /// Announces one file and sends another of the same size; returns the artifact's id.
    pub async fn send(&self, name: &str, announced: &[u8], sent: &[u8]) -> String {
        let target = self.announce(name, announced).await.created();
        let put = self.app.request(Method::PUT, target.text("url"));
        let put = put.body(sent.to_vec()).send().await.unwrap();
        assert!(put.status().is_success(), "{}", put.text().await.unwrap());
        target.id().to_owned()
    }

    /// Sends the result, with these fields over those of an empty success.
    pub async fn finish(&self, fields: Value) -> Answer {
        let all = with(
            json!({
                "status": "success", "error": null, "phases": [], "artifacts": [], "logSize": 0, "fingerprint": null,
            }),
            &fields,
        );
        self.tell("/runner/finish", all).await
    }
}

/// A queued build with a plan of one step.
pub fn new_build(id: BuildId, org: OrgId, now: EpochMs) -> Build {
    let step = Step { name: "build".to_owned(), run: "make".to_owned(), timeout_seconds: None };
    Build {
        id,
        org_id: org,
        state: BuildState::new(now),
        priority: 0,
        labels: Vec::new(),
        bundle_id: "com.example.app".to_owned(),
        platform: Platform::Android,
        configuration: None,
        spec: Spec {
            profile: None,
            build_type: "release".to_owned(),
            distribution: "internal".to_owned(),
            version: None,
            build_number: None,
            source: SourceRecord::Git {
                url: "https://git.example.com/app.git".to_owned(),
                reference: "main".to_owned(),
            },
            git: None,
            undecided: Default::default(),
        },
        plan: Some(Plan { steps: vec![step], ..Plan::default() }),
        plan_origin: Some("request".to_owned()),
        fingerprint: None,
        runner_id: None,
        phases: Vec::new(),
        error: None,
        warnings: Vec::new(),
        parent_id: None,
        log_size: 0,
        created_by: "key_x".to_owned(),
        created_at: now,
        started_at: None,
        finished_at: None,
    }
}
