//! Databases of earlier releases (`scripts/make-release-fixtures`): this version migrates each of them, gives the same
//! answers as the release, and continues its work.

mod answers;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use launchway_config::{Config, RawSettings};
use launchway_domain::id::BuildId;
use launchway_ops::audit;
use launchway_outbound::resolver::SystemResolver;
use launchway_testing::postgres::Postgres;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::support::{Answer, Fields, START, TestApp, package};

/// What a release recorded, and this version on a copy of the database of that time.
pub struct Release {
    /// Such as `0.1.0 on sqlite`.
    pub name: String,
    pub recorded: Value,
    pub app: TestApp,
}

impl Release {
    /// Opens a fixture: unpacks or restores the database, and migrates it.
    async fn open(folder: &Path, database: &str) -> Release {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let packed = File::open(folder.join(format!("{database}.zip"))).unwrap();
        zip::ZipArchive::new(packed).unwrap().extract(&data).unwrap();
        let recorded = fs::read(folder.join(format!("{database}.json"))).unwrap();
        let recorded: Value = serde_json::from_slice(&recorded).unwrap();
        let dump = data.join("dump.sql");
        let settings = RawSettings {
            database_url: dump.is_file().then(|| restore(&dump)),
            data_dir: Some(data.display().to_string()),
            public_url: Some(recorded.text("origin").to_owned()),
            check_limit: Some("0".to_owned()),
            ..RawSettings::default()
        };
        let config = Config::load(settings, None).unwrap();
        let app = TestApp::open(config, Some(dir), std::sync::Arc::new(SystemResolver), None).await;
        app.advance(recorded["at"].as_i64().unwrap() - START);
        Release { name: format!("{} on {database}", folder.file_name().unwrap().display()), recorded, app }
    }

    /// Calls as one of the callers of the fixture.
    pub async fn ask(&self, who: &str, path: &str) -> Answer {
        self.send(who, self.app.request(Method::GET, path)).await
    }

    async fn call(&self, who: &str, path: &str, body: Value) -> Answer {
        self.send(who, self.app.request(Method::POST, path).json(&body)).await
    }

    async fn send(&self, who: &str, mut request: reqwest::RequestBuilder) -> Answer {
        let headers = self.recorded["callers"][who].as_object();
        for (name, value) in headers.unwrap_or_else(|| panic!("no caller {who}")) {
            request = request.header(name, value.as_str().unwrap());
        }
        Answer::to(request).await
    }

    /// Announces and sends a package; returns the upload's id. Its URL contains the address of the release's own
    /// server.
    async fn upload(&self) -> String {
        let bytes = package("index.html", b"newer");
        let sha256 = hex::encode(Sha256::digest(&bytes));
        let asked = json!({"fileName": "update.zip", "size": bytes.len(), "sha256": sha256});
        let upload = self.call("ci", "/uploads", asked).await.created();
        let origin = self.recorded.text("origin");
        let path = upload.text("url").strip_prefix(origin).unwrap();
        let put = self.app.request(Method::PUT, &format!("{}{path}", self.app.origin));
        let put = put.body(bytes).send().await.unwrap();
        assert!(put.status().is_success(), "{}", put.text().await.unwrap());
        upload.id().to_owned()
    }
}

/// A new PostgreSQL database with the contents of a dump.
fn restore(dump: &Path) -> String {
    let postgres = Postgres::shared();
    let url = postgres.fresh_database();
    postgres.run_script(&url, dump).unwrap();
    url
}

/// The folder of each release.
fn folders() -> Vec<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/releases");
    let folders: Vec<_> = fs::read_dir(all).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!folders.is_empty());
    folders
}

async fn each_answers_as_it_did(database: &str) {
    for folder in folders() {
        answers::compare(&Release::open(&folder, database).await).await;
    }
}

#[tokio::test]
async fn a_sqlite_file_of_each_release_still_answers_as_it_did() {
    each_answers_as_it_did("sqlite").await;
}

#[tokio::test]
async fn a_postgres_dump_of_each_release_still_answers_as_it_did() {
    each_answers_as_it_did("postgres").await;
}

#[tokio::test]
async fn the_work_of_each_release_goes_on_on_sqlite() {
    for folder in folders() {
        goes_on(&Release::open(&folder, "sqlite").await).await;
    }
}

#[tokio::test]
async fn the_work_of_each_release_goes_on_on_postgres() {
    for folder in folders() {
        goes_on(&Release::open(&folder, "postgres").await).await;
    }
}

/// Leased builds finish, updates follow published ones, secrets open, and the audit log verifies.
async fn goes_on(release: &Release) {
    let app = &release.app;
    let running = release.ask("ci", "/build?status=running").await.ok();
    let of = |requested: bool| {
        let found = running["items"].as_array().unwrap().iter();
        let mut found = found.filter(|build| build["cancelRequested"] == requested);
        found.next().unwrap().id().to_owned()
    };
    let (build, canceled) = (of(false), of(true));
    let told = json!({"buildId": build, "attempt": 1, "phases": []});
    let going = release.call("runner", "/runner/renew", told).await.ok();
    assert_eq!(going["cancel"], false, "{}", release.name);
    let told = json!({"buildId": canceled, "attempt": 1, "phases": []});
    let going = release.call("runner", "/runner/renew", told).await.ok();
    assert_eq!(going["cancel"], true, "{}", release.name);
    for (id, status) in [(&build, "success"), (&canceled, "canceled")] {
        let told = json!({
            "buildId": id, "attempt": 1, "status": status, "error": null, "phases": [], "artifacts": [],
            "logSize": "still at it\n".len(), "fingerprint": null,
        });
        release.call("runner", "/runner/finish", told).await.ok();
        let log = app.log(id.parse::<BuildId>().unwrap()).await;
        assert_eq!(log, b"still at it\n", "{}", release.name);
    }

    let source = json!({"git": {"url": "https://git.example.com/app.git", "ref": "main"}});
    let plan = json!({"steps": [{"name": "compile", "run": "make"}]});
    let asked = json!({
        "bundleId": "com.example.shop", "platform": "android", "configuration": "production", "source": source, "plan": plan,
    });
    let queued = release.call("ci", "/build", asked).await.created();
    let asked = json!({"labels": ["arch=x86_64", "os=linux"], "version": "0.1.0", "waitSeconds": 0});
    let lease = release.call("runner", "/runner/lease", asked).await.ok()["lease"].clone();
    assert_eq!(lease["buildId"], queued["id"]);
    let variables = lease["env"].as_array().unwrap().iter();
    let mut values: Vec<_> = variables.map(|variable| variable.text("value")).collect();
    values.sort_unstable();
    assert_eq!(values, ["a secret", "https://api.example.com/v2", "{}"], "{}", release.name);

    let question = "currentVersion=2.3.0&platform=android&deviceId=device-1";
    let offered = app.checked("com.example.shop", question).await;
    for (kind, counted) in [("downloaded", 0), ("failed", 1)] {
        let events = json!([{"type": kind, "updateId": offered["id"], "at": "2026-11-20T10:00:00Z"}]);
        let told = json!({"reportToken": offered["reportToken"], "events": events});
        let report = release.call("nobody", "/update/report/com.example.shop", told).await.ok();
        assert_eq!(report["counted"], counted, "{} {kind}", release.name);
    }

    let fields = json!({"uploadId": release.upload().await, "bundleId": "com.example.shop", "platform": "android", "version": "2.9.0"});
    let published = release.call("ci", "/update", fields).await.created();
    let offered = app.checked("com.example.shop", question).await;
    assert_eq!(offered["id"], published["id"], "{}", release.name);

    let check = audit::verify(&app.app).await.unwrap();
    assert!(check.problems.is_empty() && check.lines > 100, "{}: {check:?}", release.name);
}
