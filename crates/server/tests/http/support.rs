//! A running service for one test: its own database and objects, a clock that only the test moves, real HTTP.

mod calls;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use launchway_app_stores::transport::Transport;
use launchway_blob::s3::Credentials;
use launchway_config::{Config, Storage, StorageCredentials};
use launchway_domain::actor::Actor;
use launchway_domain::id::OrgId;
use launchway_domain::scope::Scope;
use launchway_domain::tenancy::{Role, Tier};
use launchway_domain::time::EpochMs;
use launchway_inspection::{Inspector, Place};
use launchway_ops::api_keys::{self, KeyPlan};
use launchway_ops::app::{App, Dependencies};
use launchway_ops::write::Write;
use launchway_ops::{accounts, orgs, start};
use launchway_os::clock::Clock;
use launchway_os::random::SystemRandom;
use launchway_outbound::resolver::{Resolver, SystemResolver};
use launchway_store::AuditRow;
use launchway_testing::postgres::Postgres;
use launchway_web::server::{self, HttpServer};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub use calls::NOBODY;
pub use launchway_config::RawSettings;
pub use launchway_testing::answer::Answer;
pub use launchway_testing::says::{Fields, Says};

/// 2026-11-20T10:00:00.000Z, where every test's clock starts.
pub const START: EpochMs = 1_795_168_800_000;
/// The password of every user that a test creates.
pub const PASSWORD: &str = "correct horse battery";

/// A clock that moves only when a test moves it.
pub struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> EpochMs {
        self.0.load(Ordering::SeqCst)
    }
}

/// A running service. It stops when it is dropped.
pub struct TestApp {
    pub app: Arc<App>,
    pub clock: Arc<TestClock>,
    pub origin: String,
    http: reqwest::Client,
    _dir: Option<tempfile::TempDir>,
    _stop: tokio::sync::oneshot::Sender<()>,
}

/// The server's settings by name: `settings!(check_limit = 2)`.
macro_rules! settings {
    ($($name:ident = $value:expr),+ $(,)?) => {
        $crate::support::RawSettings {
            $($name: Some($value.to_string()),)+
            ..Default::default()
        }
    };
}

/// What a test enables in addition to the defaults.
#[derive(Default)]
pub struct Setup {
    pub settings: RawSettings,
    pub credentials: Option<Credentials>,
    /// Resolves the host names of webhook receivers. Defaults to the system.
    pub resolver: Option<Arc<dyn Resolver>>,
    /// The transport to the app stores. Defaults to HTTP.
    pub app_stores: Option<Arc<dyn Transport>>,
    /// Inspects files. Defaults to the server's own program.
    pub inspector: Option<Inspector>,
}

/// Inspects files like the server, although these tests are another program.
pub fn inspector() -> Inspector {
    let program = env!("CARGO_BIN_EXE_launchway-server");
    Inspector::through(program.into(), [], Duration::from_secs(300))
}

impl Setup {
    /// The test's own PostgreSQL database.
    pub fn on_postgres() -> Setup {
        settings!(database_url = Postgres::shared().fresh_database()).into()
    }
}

impl From<RawSettings> for Setup {
    fn from(settings: RawSettings) -> Setup {
        Setup { settings, ..Setup::default() }
    }
}

impl TestApp {
    /// A service on SQLite and a local directory.
    pub async fn start() -> TestApp {
        Self::with(Setup::default()).await
    }

    /// A service and a key with every scope that keys can have.
    pub async fn with_key() -> (TestApp, String) {
        let (app, _, key) = TestApp::with_org().await;
        (app, key)
    }

    /// A service, an organization, and a key with every scope that keys can have.
    pub async fn with_org() -> (TestApp, OrgId, String) {
        let app = TestApp::start().await;
        let (org, key) = app.org_with_key().await;
        (app, org, key)
    }

    /// A service, an organization, and a user in it: the cookie.
    pub async fn with_user(email: &str, role: Role) -> (TestApp, OrgId, String) {
        let app = TestApp::start().await;
        let (org, cookie) = app.org_with_user(email, role).await;
        (app, org, cookie)
    }

    /// A service on each database.
    pub async fn on_both() -> [TestApp; 2] {
        [TestApp::start().await, TestApp::with(Setup::on_postgres()).await]
    }

    /// A service with other settings.
    pub async fn with(setup: impl Into<Setup>) -> TestApp {
        let setup = setup.into();
        let dir = tempfile::tempdir().unwrap();
        let given =
            settings!(data_dir = dir.path().join("data").display(), check_limit = 0, trusted_proxies = "127.0.0.1");
        let config =
            Config::load(setup.settings.with_fallback(given), setup.credentials.map(StorageCredentials::Keys)).unwrap();
        let resolver = setup.resolver.unwrap_or_else(|| Arc::new(SystemResolver));
        let inspector = setup.inspector.unwrap_or_else(inspector);
        Self::open_with(config, Some(dir), resolver, setup.app_stores, inspector).await
    }

    /// A service with complete settings.
    pub async fn open(
        config: Config,
        dir: Option<tempfile::TempDir>,
        resolver: Arc<dyn Resolver>,
        app_stores: Option<Arc<dyn Transport>>,
    ) -> TestApp {
        Self::open_with(config, dir, resolver, app_stores, inspector()).await
    }

    async fn open_with(
        config: Config,
        dir: Option<tempfile::TempDir>,
        resolver: Arc<dyn Resolver>,
        app_stores: Option<Arc<dyn Transport>>,
        inspector: Inspector,
    ) -> TestApp {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let clock = Arc::new(TestClock(AtomicI64::new(START)));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let dependencies =
            Dependencies { clock: clock.clone(), random: Arc::new(SystemRandom), resolver, app_stores, inspector };
        let app = App::open(config, origin.clone(), dependencies).await.unwrap();
        start::fill_index(&app).await.unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server = HttpServer::new(app.clone());
        tokio::spawn(server::serve(server, listener, async move {
            // Dropping the sender signals the end.
            let _ = stopped.await;
            server::GRACE
        }));
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        TestApp { app, clock, origin, http, _dir: dir, _stop: stop }
    }

    /// Another node of this service: the same PostgreSQL database, objects and master key, but its own clock.
    pub async fn another_node(&self) -> TestApp {
        self.another_node_with(RawSettings::default()).await
    }

    /// Another node with settings of its own.
    pub async fn another_node_with(&self, own: RawSettings) -> TestApp {
        let config = &self.app.config;
        let shared = settings!(
            database_url = config.database_url.reveal(),
            storage_url = format!("file://{}", self.objects().display()),
            master_key_file = config.master_key_file.display()
        );
        TestApp::with(own.with_fallback(shared)).await
    }

    /// The directory of this service's objects.
    pub fn objects(&self) -> &Path {
        match &self.app.config.storage {
            Storage::Directory(objects) => objects,
            elsewhere => panic!("the objects are at {elsewhere:?}"),
        }
    }

    /// Moves the clock.
    pub fn advance(&self, millis: EpochMs) {
        self.clock.0.fetch_add(millis, Ordering::SeqCst);
    }

    /// A new organization.
    pub async fn org(&self, tier: Tier) -> OrgId {
        let mut org = orgs::plan(&self.app, "Test".to_owned());
        org.tier = tier;
        let mut write = Write::open(&self.app, org.id, Actor::Operator, None).await.unwrap();
        orgs::insert(&mut write, &org).await.unwrap();
        write.commit().await.unwrap();
        org.id
    }

    /// A new key with these scopes.
    pub async fn key(&self, org: OrgId, scopes: &[Scope]) -> String {
        let mut write = Write::open(&self.app, org, Actor::Operator, None).await.unwrap();
        let plan = KeyPlan { name: "test".to_owned(), scopes: scopes.to_vec(), life: None };
        let (key, _) = api_keys::create(&mut write, plan).await.unwrap();
        write.commit().await.unwrap();
        key.reveal().to_owned()
    }

    /// A new organization and a key with every scope that keys can have.
    pub async fn org_with_key(&self) -> (OrgId, String) {
        let org = self.org(Tier::Enterprise).await;
        let key = self.key(org, &Scope::ALL).await;
        (org, key)
    }

    /// A new organization with a user in it: the cookie.
    pub async fn org_with_user(&self, email: &str, role: Role) -> (OrgId, String) {
        let org = self.org(Tier::Enterprise).await;
        let cookie = self.user(org, email, role).await;
        (org, cookie)
    }

    /// Signs in a new user with this role; returns the cookie.
    pub async fn user(&self, org: OrgId, email: &str, role: Role) -> String {
        let hash = self.app.passwords.hash(PASSWORD).await.unwrap();
        let mut write = Write::open(&self.app, org, Actor::Operator, None).await.unwrap();
        let user = accounts::create_user(&mut write, email, &hash).await.unwrap();
        accounts::join(&mut write, org, &user, role).await.unwrap();
        write.commit().await.unwrap();
        self.sign_in(email).await
    }

    /// Lets a user who has an account join an organization.
    pub async fn join(&self, org: OrgId, email: &str, role: Role) {
        let mut write = Write::open(&self.app, org, Actor::Operator, None).await.unwrap();
        let known = write.system("a test").user_by_email(email).await.unwrap();
        accounts::join(&mut write, org, &known.unwrap().0, role).await.unwrap();
        write.commit().await.unwrap();
    }

    /// Signs a user in; returns the cookie.
    pub async fn sign_in(&self, email: &str) -> String {
        let answer = self.post(NOBODY, "/auth/sign-in", json!({"email": email, "password": PASSWORD})).await;
        answer.ok();
        answer.cookie()
    }

    /// Uploads bytes; returns the upload's id.
    pub async fn upload(&self, key: &str, bytes: &[u8]) -> String {
        self.upload_file(key, "update.zip", bytes).await
    }

    /// Announces and sends a file: the upload's id.
    pub async fn upload_file(&self, key: &str, name: &str, bytes: &[u8]) -> String {
        let sha256 = hex::encode(Sha256::digest(bytes));
        let body = json!({"fileName": name, "size": bytes.len(), "sha256": sha256});
        let upload = self.post(key, "/uploads", body).await.created();
        let put = self.put_bytes(upload.text("url"), bytes).await;
        assert!(put.status.is_success(), "{}", put.text());
        upload.id().to_owned()
    }

    /// Publishes a package with these fields over the defaults; returns the response.
    pub async fn publish(&self, key: &str, fields: Value) -> Answer {
        let upload = self.upload(key, &package("index.html", b"<h1>hello</h1>")).await;
        let body = with(
            json!({"uploadId": upload, "bundleId": "com.example.app", "platform": "android", "version": "1.0.1"}),
            &fields,
        );
        self.post(key, "/update", body).await
    }

    /// Adds an Android keystore; returns its id.
    pub async fn keystore(&self, admin_key: &str) -> String {
        let keystore = include_bytes!("../../../credentials/tests/fixtures/rsa.jks");
        let body = json!({
            "kind": "android_keystore", "content": BASE64_STANDARD.encode(keystore), "password": "store-secret",
        });
        let made = self.post(admin_key, "/credentials", body).await.created();
        made.id().to_owned()
    }

    /// The audit log of an organization, oldest first.
    pub async fn audit(&self, org: OrgId) -> Vec<AuditRow> {
        let mut tx = self.app.db.read().await.unwrap();
        let lines = tx.system("a test reads the log").audit_chain(Some(org), 0, 1000).await;
        lines.unwrap().into_iter().map(|line| line.row).collect()
    }

    /// The events of an organization that were not fanned out, by kind and data, oldest first.
    pub async fn events(&self, org: OrgId) -> Vec<(String, Value)> {
        // Claims them in a transaction that does not commit, so they stay.
        let mut tx = self.app.db.write().await.unwrap();
        let events = tx.system("a test looks at all").take_events(1000, START).await.unwrap();
        let own = events.into_iter().filter(|(of, _)| *of == org);
        own.map(|(_, event)| (event.kind, serde_json::from_str(&event.data).unwrap())).collect()
    }

    /// All inspection slots that an organization may use: its next file waits until they are dropped.
    pub async fn all_places(&self, org: OrgId) -> Vec<Place> {
        let mut held = Vec::new();
        for _ in 0..self.app.inspections.of_one() {
            held.push(self.app.inspections.take(org).await.unwrap());
        }
        held
    }

    /// Calls the public check.
    pub async fn check(&self, bundle: &str, query: &str) -> Answer {
        self.get(NOBODY, &format!("/update/check/{bundle}?{query}")).await
    }

    /// Publishes as [`TestApp::publish`] does, which must succeed: the update.
    pub async fn published(&self, key: &str, fields: Value) -> Value {
        self.publish(key, fields).await.created()
    }

    /// The response of the public check to a valid request.
    pub async fn checked(&self, bundle: &str, query: &str) -> Value {
        self.check(bundle, query).await.ok()
    }
}

/// Why a start with these settings fails at this time.
pub async fn refused_start(config: Config, now: EpochMs) -> String {
    let clock = Arc::new(TestClock(AtomicI64::new(now)));
    let (random, resolver) = (Arc::new(SystemRandom), Arc::new(SystemResolver));
    let dependencies = Dependencies { clock, random, resolver, app_stores: None, inspector: inspector() };
    match App::open(config, "http://127.0.0.1:1".to_owned(), dependencies).await {
        Ok(_) => panic!("the start is refused"),
        Err(error) => error.to_string(),
    }
}

/// Waits until a condition holds; panics after a minute.
pub async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let is_so = async || is_so().await.then_some(());
    launchway_testing::wait::until(Duration::from_secs(60), what, is_so).await;
}

/// The machine's clock, which is the object storage's too.
#[expect(clippy::disallowed_methods, reason = "object storage has the machine's clock")]
pub fn machine_time() -> EpochMs {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.unwrap().as_millis()).unwrap()
}

/// A record with these fields over its own.
pub fn with(mut record: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

/// Incompressible bytes.
pub fn noise(size: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..size).map(|_| byte()).collect()
}

/// A package with one file.
pub fn package(name: &str, bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(bytes).unwrap();
    zip.finish().unwrap().into_inner()
}
