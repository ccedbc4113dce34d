//! Whoever holds the server: its database, its objects, and every key that it has.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use launchway_developers::{Developers, signed};
use launchway_domain::actor::Actor;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{DAY, SECOND};
use launchway_ops::trust::online::key_place;
use launchway_ops::write::Write;
use launchway_testing::workspace::files_below;
use launchway_trust::metadata::{MetaFile, Snapshot, Timestamp};
use launchway_trust::{SigningKey, TopLevel};
use serde_json::{Value, json};
use sqlx::{Connection, Sqlite, SqliteConnection};
use tokio::sync::Mutex;

use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, START, with};

/// An attacker, who changes what the server has stored and lets it serve that.
pub struct Attacker {
    stage: Rc<Stage>,
    /// The server's key for snapshot and timestamp of the app, opened with the master key.
    pub online: [SigningKey; 1],
    database: Mutex<SqliteConnection>,
    /// The version of the next snapshot and timestamp.
    pub next_version: Cell<u64>,
}

impl Attacker {
    pub async fn of(stage: &Rc<Stage>) -> Attacker {
        let mut database = SqliteConnection::connect(stage.app.config.database_url.reveal()).await.unwrap();
        let key = "SELECT id, sealed FROM trust_online_keys WHERE state = 'current'";
        let (id, sealed): (String, String) = sqlx::query_as(key).fetch_one(&mut database).await.unwrap();
        let mut write = Write::open(&stage.app, stage.org, Actor::Operator, None).await.unwrap();
        let key = write.open_secret(&key_place(&id), &sealed, "an attack").await.unwrap();
        Attacker {
            stage: stage.clone(),
            online: [SigningKey::from_pkcs8(&key).unwrap()],
            database: Mutex::new(database),
            // Above everything that the server signed.
            next_version: Cell::new((START / SECOND).unsigned_abs() + 1000),
        }
    }

    /// Offers a package to phones under these fields, as if nobody had to sign it: the id of the update.
    pub async fn offer(&self, package: &[u8], fields: Value) -> String {
        let upload = self.stage.upload(&self.stage.key, package).await;
        let body = with(
            json!({
                "uploadId": upload, "bundleId": BUNDLE, "platform": "android", "configuration": "production",
                "version": "9.9.9", "buildNumber": "99"
            }),
            &fields,
        );
        let made = self.stage.post(&self.stage.key, "/update", body).await.created();
        self.publish(made.id()).await;
        made.id().to_owned()
    }

    /// Publishes an update, as if nobody had to sign it.
    pub async fn publish(&self, id: &str) {
        let publish = "UPDATE updates SET status = 'published', awaiting_since = NULL, trust_role = NULL WHERE id = $1";
        self.run(publish, [id]).await;
        self.reload().await;
    }

    /// Runs a statement on the database. [`Attacker::reload`] lets the server see what it changed.
    pub async fn run<const N: usize>(&self, statement: &'static str, values: [&str; N]) {
        let mut query = sqlx::query::<Sqlite>(statement);
        for value in values {
            query = query.bind(value.to_owned());
        }
        query.execute(&mut *self.database.lock().await).await.unwrap();
    }

    /// Stores a file of metadata.
    pub async fn store(&self, role: &str, version: u64, text: &str) {
        let store = "INSERT OR REPLACE INTO trust_files (org_id, bundle_key, repository, role, version, content, expires_at, \
                     accepted_at, accepted_by) SELECT org_id, bundle_key, repository, $1, CAST($2 AS INTEGER), $3, \
                     expires_at, accepted_at, accepted_by FROM trust_files WHERE role = 'root' AND version = 1";
        self.run(store, [role, &version.to_string(), text]).await;
    }

    /// Signs a snapshot and a timestamp that list these versions of roles, and lets the server serve everything.
    pub async fn list(&self, developers: &Developers, roles: &[(&str, u64)]) {
        let listed = roles.iter().map(|(role, version)| (format!("{role}.json"), MetaFile::of_version(*version)));
        let snapshot = Snapshot { meta: BTreeMap::from_iter(listed) };
        let version = self.next_version.get();
        self.next_version.set(version + 1);
        let timestamp = Timestamp { snapshot: MetaFile::of_version(version) };
        let header = developers.header(version, self.stage.app.clock.now() + 7 * DAY);
        let root = developers.root();
        let snapshot = signed(&header, &snapshot, root.authority(TopLevel::Snapshot), &self.online);
        let timestamp = signed(&header, &timestamp, root.authority(TopLevel::Timestamp), &self.online);
        self.run("DELETE FROM trust_files WHERE role IN ('snapshot', 'timestamp')", []).await;
        self.store("snapshot", version, &snapshot).await;
        self.store("timestamp", version, &timestamp).await;
        let last = "UPDATE trust_repositories SET snapshot_version = CAST($1 AS INTEGER), timestamp_version = \
                    CAST($1 AS INTEGER)";
        self.run(last, [&version.to_string()]).await;
        self.reload().await;
    }

    /// Lets the server read what is stored of the app.
    pub async fn reload(&self) {
        let mut write = Write::open(&self.stage.app, self.stage.org, Actor::Operator, None).await.unwrap();
        write.touch_updates(&BundleId::parse(BUNDLE).unwrap()).await.unwrap();
        write.commit().await.unwrap();
    }
}

/// Overwrites every stored copy of the package by another one of its length.
pub fn exchange(objects: &Path, package: &[u8]) {
    let copies: Vec<_> =
        files_below(objects, &["", "zip"]).into_iter().filter(|file| fs::read(file).unwrap() == package).collect();
    assert!(!copies.is_empty(), "the package is in no file");
    let mut evil = package.to_vec();
    evil.reverse();
    for copy in copies {
        fs::write(copy, &evil).unwrap();
    }
}
