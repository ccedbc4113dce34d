//! A node whose database does not answer starts from its local snapshot (`docs/reference/operation.md#local-snapshot`).

use std::path::{Path, PathBuf};

use launchway_config::Config;
use launchway_developers::{Release, role_of};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::time::{EpochMs, HOUR, MINUTE};
use launchway_ops::start;
use launchway_store::Db;
use launchway_testing::postgres::Postgres;
use launchway_web::metrics;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::expo::export;
use crate::foreign_updates::{codepush, hot_updater_bundle, publish};
use crate::stage::{BUNDLE, Stage};
use crate::support::{Answer, Fields, NOBODY, START, TestApp, package, refused_start};

const AWAY: &str = "The database is not available. Try again in a moment.";
const OWN: &str = "com.example.own";
const CODEPUSH: &str = "com.example.codepush";
const EXPO: &str = "com.example.expo";
const HOT_UPDATER: &str = "com.example.hot-updater";
const CAPGO: &str = "com.example.capgo";
const KEY: &str = "production-key-android";
const HOT_UPDATER_ID: &str = "0190a8c6-0000-7000-8000-000000000020";

/// A node that keeps a snapshot, on a PostgreSQL server that a test can stop.
struct Node {
    postgres: Postgres,
    stage: Stage,
    folders: TempDir,
}

impl Node {
    async fn start() -> Node {
        let (postgres, folders) = (Postgres::start_own(), tempfile::tempdir().unwrap());
        let settings =
            settings!(database_url = postgres.fresh_database(), snapshot_dir = folders.path().join("first").display());
        let stage = Stage::new().with(settings).await;
        Node { postgres, stage, folders }
    }

    async fn change(&self, update: &Value, change: Value) {
        self.stage.patch(&self.stage.key, &format!("/update?id={}", update.id()), change).await.ok();
    }

    /// Publishes an export with a script of this name.
    async fn expo(&self, name: &str) -> Value {
        let fields =
            json!({"format": "expo", "runtimeVersion": "1.0.0", "configuration": "production", "bundleId": EXPO});
        publish(&self.stage, &self.stage.key, &export(name, 1), fields).await.created()
    }

    /// What another start of this node finds in its folder, as if the process had been killed now.
    fn killed(&self, name: &str) -> Config {
        let config = &self.stage.app.config;
        let mut snapshot = config.snapshot.clone().unwrap();
        let from = std::mem::replace(&mut snapshot.dir, self.folders.path().join(name));
        copy(&from, &snapshot.dir);
        Config { snapshot: Some(snapshot), ..config.clone() }
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for file in files(from) {
        std::fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
    }
}

/// The files of a snapshot.
fn files(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = all.filter(|file| !file.ends_with("lock")).collect();
    files.sort();
    files
}

/// Does what the node's task does every few seconds.
pub async fn keep(app: &TestApp) {
    let app = &app.app;
    let local = app.local_snapshot.as_ref().unwrap();
    local.keep(&app.index, &app.db, &app.vault, app.clock.now()).await.unwrap();
}

async fn started(config: Config) -> TestApp {
    TestApp::open(config, None, std::sync::Arc::new(launchway_outbound::resolver::SystemResolver), None).await
}

/// The answers to clients of every kind, without the address of the server.
async fn answers(app: &TestApp, holders: &[&str]) -> Vec<String> {
    let origin = app.origin.as_str();
    let mut requests = Vec::new();
    for path in [
        format!("/update/check/{OWN}?currentVersion=1.0.0&platform=android&deviceId=d"),
        format!("/update/check/{BUNDLE}?currentVersion=1.0.0&platform=android&configuration=production&deviceId=d"),
        "/update/check/com.example.unknown?currentVersion=1.0.0".to_owned(),
        format!("{origin}/tuf/{BUNDLE}/timestamp.json"),
        format!("{origin}/tuf/{BUNDLE}/1.root.json"),
        format!("{origin}/tuf/{BUNDLE}/trust?root=1&snapshot=0&configuration=production"),
        format!(
            "{origin}/codepush/{CODEPUSH}/v0.1/public/codepush/update_check?deployment_key={KEY}&app_version=1.0.0"
        ),
    ] {
        requests.push(app.request(Method::GET, &path));
    }
    let phone = json!({
        "platform": "android", "device_id": "phone-1", "app_id": CAPGO, "version_build": "1.0.0", "version_code": "1",
        "version_os": "15", "version_name": "builtin", "plugin_version": "8.51.23", "is_emulator": false, "is_prod": true,
        "defaultChannel": "production",
    });
    requests.push(app.request(Method::POST, &format!("{origin}/capgo/updates")).json(&phone));
    let nil = "00000000-0000-0000-0000-000000000000";
    let path = format!("hot-updater/{HOT_UPDATER}/app-version/android/1.0.0/production/{nil}/{nil}");
    requests.push(app.request(Method::GET, &format!("{origin}/{path}")));
    for holder in std::iter::once(&"").chain(holders) {
        let request = app.request(Method::GET, &format!("{origin}/expo/{EXPO}"));
        let request = request.header("expo-platform", "android").header("expo-runtime-version", "1.0.0");
        let request = request.header("expo-channel-name", "production").header("expo-protocol-version", "1");
        requests.push(if holder.is_empty() { request } else { request.header("expo-current-update-id", *holder) });
    }
    let mut answers = Vec::new();
    for request in requests {
        let answer = Answer::to(request).await;
        let body = answer.text().replace(origin, "ORIGIN");
        answers.push(format!("{} {} {body}", answer.status, answer.header("content-type")));
    }
    answers
}

/// Publishes updates for clients of every kind. Some of them change after the snapshot was written. Returns the ids under which
/// clients of Expo hold withdrawn updates.
async fn a_day(node: &Node) -> Vec<String> {
    let (app, key) = (&*node.stage, &node.stage.key);
    let mut developers = node.stage.developers(&["production"]).await;
    let (role, signed) = (role_of("production"), package("index.html", b"<h1>signed</h1>"));
    let release = Release { role: &role, platform: Platform::Android, version: "1.2.3", build: 4, package: &signed };
    node.stage.release(&mut developers, &release).await;
    app.published(key, json!({"bundleId": OWN, "releaseNotes": "long ".repeat(100)})).await;
    let second = app.published(key, json!({"bundleId": OWN, "version": "1.0.2"})).await;
    let deployment = json!({"bundleId": CODEPUSH, "platform": "android", "configuration": "production", "key": KEY});
    app.post(key, "/deployment-keys", deployment).await.created();
    let for_codepush = json!({"bundleId": CODEPUSH, "configuration": "production"});
    codepush(app, key, "one", for_codepush.clone()).await;
    let for_hot_updater = json!({"bundleId": HOT_UPDATER, "configuration": "production"});
    hot_updater_bundle(app, key, HOT_UPDATER_ID, for_hot_updater).await.created();
    let capgo = json!([{"protocol": "capgo"}]);
    app.published(key, json!({"bundleId": CAPGO, "configuration": "production", "foreignIds": capgo})).await;
    let (first, undone) = (node.expo("one").await, node.expo("two").await);
    keep(app).await;

    // What follows is in the journal alone.
    node.change(&second, json!({"status": "withdrawn"})).await;
    let bad = codepush(app, key, "two", for_codepush).await;
    node.change(&bad, json!({"status": "withdrawn"})).await;
    sign(node, &first, "first", None).await;
    node.change(&undone, json!({"status": "withdrawn"})).await;
    sign(node, &undone, "second", Some("undone")).await;
    let ids = app.get(key, &format!("/update?id={}", undone.id())).await.ok();
    vec![ids["foreignIds"][0].text("id").to_owned()]
}

/// Stores what a developer signed for an update, and its undo, as if it had been published so.
async fn sign(node: &Node, update: &Value, text: &str, undo: Option<&str>) {
    let app = &node.stage.app;
    let signature = format!("sig=\"{}\", keyid=\"main\", alg=\"rsa-v1_5-sha256\"", "A".repeat(344));
    let part = |body: &str| json!({"body": json!({"text": body}).to_string(), "signature": signature});
    let id = update.id().parse().unwrap();
    let mut tx = app.db.write().await.unwrap();
    let mut org = tx.org(node.stage.org);
    org.touch_updates(&BundleId::parse(EXPO).unwrap(), app.clock.now()).await.unwrap();
    org.set_signed_part(id, &part(text).to_string(), None).await.unwrap();
    if let Some(undo) = undo {
        org.set_undo(id, &json!({"embedded": part(undo)}).to_string()).await.unwrap();
    }
    tx.commit().await.unwrap();
    app.index.catch_up(&app.db).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_without_database_answers_as_before() {
    let mut node = Node::start().await;
    let held = a_day(&node).await;
    let holders: Vec<&str> = held.iter().map(String::as_str).collect();
    let before = answers(&node.stage, &holders).await;
    for (number, part) in
        ["\"1.0.1\"", "\"1.2.3\"", "No updates", "timestamp", "root", "targets", "\"v1\"", "1.0.1", HOT_UPDATER_ID]
            .into_iter()
            .enumerate()
    {
        assert!(before[number].starts_with("200") && before[number].contains(part), "{part}: {}", before[number]);
    }
    assert!(before[9].contains("first") && before[10].contains("undone"), "{} {}", before[9], before[10]);

    node.postgres.stop();
    let again = started(node.killed("second")).await;
    assert_eq!(answers(&again, &holders).await, before);
    let unready = again.get(NOBODY, "/readyz").await.expect(503);
    let snapshot = json!({"ageSeconds": 0, "inUse": true});
    assert_eq!(unready, json!({"error": "Service Unavailable", "message": AWAY, "snapshot": snapshot}));
    again.get(&node.stage.key, "/update").await.refused(503, AWAY);
    let body = json!({"bundleId": "com.example.b"});
    again.post(&node.stage.key, "/apps", body.clone()).await.refused(503, AWAY);
    let shown = metrics::text(&again.app).await;
    assert!(shown.contains("launchway_snapshot_in_use 1\n") && shown.contains("launchway_snapshot_age_seconds 0\n"));
    assert!(start::arrive(&again.app).await.unwrap_err().may_pass(), "it is still away");

    node.postgres.start();
    start::arrive(&again.app).await.unwrap();
    assert_eq!(answers(&again, &holders).await, before);
    again.post(&node.stage.key, "/apps", body).await.created();
    again.get(NOBODY, "/readyz").await.ok();
    keep(&again).await;
    let ready = again.get(NOBODY, "/readyz").await.ok();
    assert_eq!(ready["snapshot"], json!({"ageSeconds": 0, "inUse": false}));
    // It follows again, and records.
    again.published(&node.stage.key, json!({"bundleId": OWN, "version": "1.0.3"})).await;
    let offered = again.checked(OWN, "currentVersion=1.0.0&platform=android").await;
    assert_eq!(offered["version"], "1.0.3");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_behind_a_proxy_without_a_database_answers() {
    let mut node = Node::start().await;
    node.stage.published(&node.stage.key, json!({"bundleId": OWN})).await;
    keep(&node.stage).await;
    node.postgres.stop();
    let config = node.killed("second");
    let url = config.database_url.reveal().to_owned();
    let place = url.split(['@', '/']).find(|part| part.contains("127.0.0.1:")).expect("host and port");
    let listener = TcpListener::bind(place).await.unwrap();
    let proxy = tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    let again = started(config).await;
    assert_eq!(again.checked(OWN, "currentVersion=1.0.0&platform=android").await["version"], "1.0.1");
    again.get(NOBODY, "/readyz").await.expect(503);
    assert!(start::arrive(&again.app).await.unwrap_err().may_pass());
    proxy.abort();
}

/// The connection may break between the commit of a withdrawal and reading what it changed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_whose_change_cannot_be_read_offers_nothing() {
    let mut node = Node::start().await;
    node.stage.published(&node.stage.key, json!({"bundleId": OWN})).await;
    keep(&node.stage).await;
    let app = &node.stage.app;
    let own = BundleId::parse(OWN).unwrap();
    let mut tx = app.db.write().await.unwrap();
    let revision = tx.org(node.stage.org).touch_updates(&own, app.clock.now()).await.unwrap();
    tx.commit().await.unwrap();
    let query = "currentVersion=1.0.0&platform=android";
    assert_eq!(node.stage.checked(OWN, query).await["version"], "1.0.1");
    app.index.catch_up_with(&Db::later(), &[(own, revision)]).await.unwrap_err();
    assert_eq!(node.stage.checked(OWN, query).await["updateAvailable"], false);
    let config = node.killed("second");
    app.index.catch_up(&app.db).await.unwrap();
    assert_eq!(node.stage.checked(OWN, query).await["version"], "1.0.1");

    node.postgres.stop();
    let again = started(config).await;
    assert_eq!(again.checked(OWN, query).await["updateAvailable"], false);
    node.postgres.start();
    start::arrive(&again.app).await.unwrap();
    assert_eq!(again.checked(OWN, query).await["version"], "1.0.1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_may_not_be_used_stops_the_start() {
    let mut node = Node::start().await;
    node.stage.published(&node.stage.key, json!({"bundleId": OWN})).await;
    keep(&node.stage).await;
    node.stage.published(&node.stage.key, json!({"bundleId": OWN, "version": "1.0.2"})).await;
    node.postgres.stop();

    let damaged = node.killed("damaged");
    for file in files(&damaged.snapshot.as_ref().unwrap().dir) {
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(file, bytes).unwrap();
    }
    let other_key = node.folders.path().join("other.key");
    std::fs::write(&other_key, "77".repeat(32)).unwrap();
    let other_key = Config { master_key_file: other_key, ..node.killed("other-key") };
    let (old, early, none) = (node.killed("old"), node.killed("early"), node.killed("none"));
    for file in files(&none.snapshot.as_ref().unwrap().dir) {
        std::fs::remove_file(file).unwrap();
    }
    let cases: [(Config, EpochMs, &str); 5] = [
        (damaged, START, "; the snapshot in --snapshot-dir is damaged: "),
        (other_key, START, "; the snapshot in --snapshot-dir is damaged, or was written under another master key"),
        (
            old,
            START + 24 * HOUR + MINUTE,
            "; the snapshot in --snapshot-dir is older than --snapshot-hours: 86460 seconds",
        ),
        (early, START - 2 * HOUR, "; the snapshot in --snapshot-dir is dated in the future: by 7200 seconds"),
        (none, START, ""),
    ];
    let starts = cases.map(|(config, now, part)| async move { (refused_start(config, now).await, part) });
    for (problem, part) in futures::future::join_all(starts).await {
        assert!(problem.starts_with("--database-url: is not accessible: "), "{problem}");
        let is_told = if part.is_empty() { !problem.contains("snapshot") } else { problem.contains(part) };
        assert!(is_told && !problem.contains('\n'), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_database_does_not_take_the_place_of_the_first() {
    let mut node = Node::start().await;
    node.stage.published(&node.stage.key, json!({"bundleId": OWN})).await;
    keep(&node.stage).await;
    node.postgres.stop();
    let again = started(node.killed("second")).await;
    node.postgres.start();
    // Somebody has replaced the database by an empty one.
    let url = node.stage.app.config.database_url.reveal();
    node.postgres.run_sql(url, "DROP SCHEMA public CASCADE").unwrap();
    node.postgres.run_sql(url, "CREATE SCHEMA public").unwrap();
    let refused = start::arrive(&again.app).await.unwrap_err();
    assert!(!refused.may_pass(), "{refused}");
    assert!(refused.to_string().starts_with("--database-url: is not the database from which"), "{refused}");
    assert_eq!(again.checked(OWN, "currentVersion=1.0.0&platform=android").await["version"], "1.0.1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_does_not_use_the_same_snapshot() {
    let node = Node::start().await;
    let problem = refused_start(node.stage.app.config.clone(), START).await;
    assert!(problem.starts_with("--snapshot-dir: ") && problem.ends_with(" is in use by another launchway-server"));
    // A node that answers no checks keeps none.
    let worker =
        Config { roles: launchway_config::Roles::parse(Some("worker")).unwrap(), ..node.stage.app.config.clone() };
    assert!(started(worker).await.app.local_snapshot.is_none());
}
