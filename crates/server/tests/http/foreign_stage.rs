//! A server with an app that other services' clients ask for.

use launchway_blob::s3::Credentials;
use launchway_domain::rollout::Rollout;
use launchway_testing::s3::S3Server;
use serde_json::{Value, json};

use crate::stage::BUNDLE;
use crate::support::{Fields, START, Setup, TestApp, machine_time, with};

/// A server and a key of the organization that has the app.
pub struct ForeignStage {
    pub app: TestApp,
    pub key: String,
    _bucket: Option<S3Server>,
}

impl ForeignStage {
    /// With SQLite and a folder.
    pub async fn start() -> Self {
        Self::new(TestApp::start().await, None).await
    }

    pub async fn with(setup: impl Into<Setup>) -> Self {
        Self::new(TestApp::with(setup).await, None).await
    }

    /// With PostgreSQL and S3.
    pub async fn on_postgres_and_s3() -> Self {
        let (app, bucket) = on_postgres_and_s3().await;
        Self::new(app, Some(bucket)).await
    }

    async fn new(app: TestApp, bucket: Option<S3Server>) -> Self {
        let (_, key) = app.org_with_key().await;
        Self { app, key, _bucket: bucket }
    }

    pub async fn change(&self, update: &Value, change: Value) {
        self.app.patch(&self.key, &format!("/update?id={}", update.id()), change).await.ok();
    }

    pub async fn reports(&self, update: &Value) -> Value {
        self.app.get(&self.key, &format!("/update?id={}", update.id())).await.ok()["reports"].clone()
    }

    /// Publishes a return to the built-in content.
    pub async fn back_to_built_in(&self, fields: Value) -> Value {
        let body = json!({"kind": "embedded", "bundleId": BUNDLE, "platform": "android", "version": "9.0.0"});
        self.app.post(&self.key, "/update", with(body, &fields)).await.created()
    }
}

/// A server with PostgreSQL and the bucket that it stores objects in.
pub async fn on_postgres_and_s3() -> (TestApp, S3Server) {
    let bucket = S3Server::start();
    let mut setup = Setup::on_postgres();
    setup.settings.storage_url = Some(bucket.storage_url());
    setup.credentials = Some(Credentials {
        access_key_id: bucket.access_key.clone(),
        secret_access_key: bucket.secret_key.clone(),
        ..Credentials::default()
    });
    let app = TestApp::with(setup).await;
    // Object storage has a clock of its own.
    app.advance(machine_time() - START);
    (app, bucket)
}

/// The first of a thousand devices that our own rollout of an update reaches or leaves out.
pub fn device(update: &Value, percent: u8, is_reached: bool) -> String {
    let rollout = Rollout::new(percent).unwrap();
    let mut ids = (0..1000).map(|number| format!("device-{number}"));
    ids.find(|id| rollout.includes(update.id(), Some(id)) == is_reached).unwrap()
}
