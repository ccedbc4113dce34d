//! The app stores of a stage: the simulator, in the same process and on the same clock. Submissions advance when the
//! test says so, and the process can die at any call to a store.

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures::future::BoxFuture;
use launchway_app_store_simulator::{
    ADDRESS, AppInfo, AppStoreApp, Direct, GooglePlayApp, Group, Ledger, Settings, Simulator,
};
use launchway_app_stores::transport::{Request, Response, Transport, TransportError};
use launchway_domain::id::SubmissionId;
use launchway_domain::platform::Platform;
use launchway_domain::submission::Submission;
use launchway_domain::time::{EpochMs, HOUR, MINUTE};
use launchway_jobs::submissions::Submitter;
use launchway_ops::submissions::report::LEASE;
use launchway_os::clock::Clock;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::Stage;
use crate::support::{Answer, Fields, TestApp, TestClock};

pub const IPA: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/binary.ipa");
pub const VISION: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/visionos.ipa");
pub const PURPOSE: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/purpose.ipa");
pub const AAB: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/release.aab");
pub const APK: &[u8] = include_bytes!("../../../../binaries/tests/fixtures/v1-v2-v3.apk");
pub const P8: &[u8] = include_bytes!("../../../../credentials/tests/fixtures/store-connect.p8");
pub const ACCOUNT: &[u8] = include_bytes!("../../../../credentials/tests/fixtures/service-account.json");
/// No flow waits this often; more waits are an endless loop.
const MOST_WAITS: usize = 500;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Before the call of this number has an effect.
    Before(u64),
    /// After it had its effect, and before the response.
    After(u64),
}

/// The transport to the stores.
#[derive(Default)]
pub struct Way {
    simulator: Mutex<Option<Arc<Simulator>>>,
    calls: AtomicU64,
    death: Mutex<Option<Death>>,
    died: Notify,
    /// Calls whose URL contains this text wait until it is removed.
    slow: watch::Sender<Option<&'static str>>,
    waiting: AtomicU64,
}

impl Transport for Way {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let number = self.calls.fetch_add(1, Ordering::SeqCst);
            self.die_at(Death::Before(number)).await;
            self.wait_at(&request.url).await;
            let simulator = self.simulator.lock().unwrap().clone();
            let answer = Direct(simulator.expect("the stores are open")).send(request).await;
            self.die_at(Death::After(number)).await;
            answer
        })
    }
}

impl Way {
    /// Holds calls whose URL contains this text, or releases all of them.
    pub fn slow_down(&self, part: Option<&'static str>) {
        self.slow.send_replace(part);
    }

    /// The number of waiting calls.
    pub fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::SeqCst)
    }

    async fn wait_at(&self, url: &str) {
        struct Waiting<'w>(&'w AtomicU64);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _waiting = Waiting(&self.waiting);
        let mut slow = self.slow.subscribe();
        // The sender lives as long as this struct.
        let _ = slow.wait_for(|part| part.is_none_or(|part| !url.contains(part))).await;
    }

    async fn die_at(&self, moment: Death) {
        let dies = *self.death.lock().unwrap() == Some(moment);
        if dies {
            self.died.notify_one();
            std::future::pending::<()>().await;
        }
    }
}

/// The test's clock, for the simulator.
struct Time(Arc<TestClock>);

impl launchway_app_stores::Clock for Time {
    fn now(&self) -> EpochMs {
        self.0.now()
    }

    fn pause(&self, _: Duration) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// Fast stores with one app each.
pub fn settings() -> Settings {
    let group = |name: &str, internal| Group { name: name.to_owned(), internal, all_builds: false };
    let read = |bytes: &[u8]| {
        let facts = launchway_binaries::read(Cursor::new(bytes)).ok()?;
        Some(AppInfo { bundle_id: facts.bundle_id, version: facts.version?, build_number: facts.build_number? })
    };
    Settings {
        app_store: vec![AppStoreApp {
            bundle_id: "com.example.app".to_owned(),
            groups: vec![group("Team", true), group("Outside", false)],
            live: Some("1.0.0".to_owned()),
            answers_encryption: false,
        }],
        google_play: vec![GooglePlayApp {
            package: "com.example.app".to_owned(),
            tracks: vec!["friends".to_owned()],
            live: Some(40),
            draft: false,
            review_by_hand: false,
        }],
        part: 4096,
        processing: MINUTE,
        review: 30 * MINUTE,
        phased_day: HOUR,
        read_binary: Some(Arc::new(read)),
        ..Settings::default()
    }
}

/// Stores whose app in App Store Connect has its encryption declaration.
pub fn settings_with_encryption_answered() -> Settings {
    let mut settings = settings();
    settings.app_store[0].answers_encryption = true;
    settings
}

impl Stage {
    /// Opens other stores with these settings.
    pub fn open_stores(&self, settings: Settings) {
        let time = Arc::new(Time(self.clock.clone()));
        *self.way.simulator.lock().unwrap() = Some(Simulator::new(settings, ADDRESS, time));
    }

    pub fn stores(&self) -> Arc<Simulator> {
        self.way.simulator.lock().unwrap().clone().unwrap()
    }

    pub fn ledger(&self) -> Ledger {
        self.stores().ledger()
    }

    /// Restarts the count of store calls at 0, and makes the process die at one of them.
    pub fn dies(&self, death: Option<Death>) {
        self.way.calls.store(0, Ordering::SeqCst);
        *self.way.death.lock().unwrap() = death;
    }

    /// Whether the scheduled death has happened.
    pub fn has_died(&self) -> bool {
        self.way.death.lock().unwrap().is_none()
    }

    /// The number of calls so far.
    pub fn calls(&self) -> u64 {
        self.way.calls.load(Ordering::SeqCst)
    }

    /// Requests a submission; returns the response.
    pub async fn submit(&self, body: Value) -> Answer {
        self.post(&self.key, "/submit", body).await
    }

    /// Creates a submission of an uploaded app with these fields; returns its id.
    pub async fn submitted(&self, name: &str, bytes: &[u8], fields: Value) -> SubmissionId {
        let mut body = fields;
        body["uploadId"] = self.upload_file(&self.key, name, bytes).await.into();
        id_of(&self.submit(body).await.created())
    }

    /// Creates a build with these artifacts; returns its id.
    pub async fn built(&self, platform: Platform, files: &[(&str, &[u8])]) -> String {
        let runner = self.runner(&self.key, &[]).await;
        let id = self.queue(self.org, |build| build.platform = platform).await;
        let held = self.take(&runner).await;
        let mut artifacts = Vec::new();
        for (name, bytes) in files {
            artifacts.push(held.send(name, bytes, bytes).await);
        }
        held.finish(json!({"artifacts": artifacts})).await.ok();
        id.to_string()
    }

    pub async fn read(&self, id: SubmissionId) -> Value {
        self.get(&self.key, &format!("/submit?id={id}")).await.ok()
    }

    pub async fn change(&self, id: SubmissionId, change: Value) -> Answer {
        self.patch(&self.key, &format!("/submit?id={id}"), change).await
    }

    pub async fn retry(&self, id: SubmissionId) -> Answer {
        self.post(&self.key, &format!("/submit/retry?id={id}"), ()).await
    }

    pub async fn cancel(&self, id: SubmissionId) -> Answer {
        self.post(&self.key, &format!("/submit/cancel?id={id}"), ()).await
    }

    /// The record of a submission, and the state of its work.
    pub async fn record(&self, id: SubmissionId) -> Option<Submission> {
        let mut tx = self.app.db.write().await.unwrap();
        tx.org(self.org).lock_submission(id).await.unwrap()
    }

    /// Does the work that is due. If the process dies, another continues when its claim has expired.
    pub async fn work(&mut self) {
        let stop = CancellationToken::new();
        let submitter = self.submitter.take();
        let mut submitter = submitter.unwrap_or_else(|| Submitter::new(self.app.clone(), stop));
        let died = tokio::select! {
            worked = submitter.work_due() => {
                worked.unwrap();
                false
            }
            () = self.way.died.notified() => true,
        };
        if died {
            drop(submitter);
            *self.way.death.lock().unwrap() = None;
            self.advance(LEASE);
        } else {
            self.submitter = Some(submitter);
        }
    }

    /// Works and waits until a status is reached or the submission has ended. Returns the record.
    pub async fn until(&mut self, id: SubmissionId, status: &str) -> Submission {
        self.until_so(id, |record| record.state.status.as_str() == status).await
    }

    /// Works and waits until a condition holds or the submission has ended. Returns the record.
    pub async fn until_so(&mut self, id: SubmissionId, is_so: impl Fn(&Submission) -> bool) -> Submission {
        for _ in 0..MOST_WAITS {
            self.work().await;
            let record = self.record(id).await.expect("it is there");
            if is_so(&record) || record.state.status.is_final() {
                return record;
            }
            let wait = record.work.due_at.expect("something comes next") - self.clock.now();
            self.advance(wait.max(0));
        }
        panic!("the submission does not end: {:#?}", self.record(id).await);
    }

    /// Works and waits until the end, which must be a success. Returns the API's view.
    pub async fn succeeded(&mut self, id: SubmissionId) -> Value {
        let done = self.ended(id).await;
        assert_eq!(done["status"], "success", "{done:#}");
        done
    }

    /// Works and waits until the end. Returns the API's view.
    pub async fn ended(&mut self, id: SubmissionId) -> Value {
        self.until(id, "success").await;
        self.read(id).await
    }
}

/// The fixture's app with changed files: `change` gets the name and the content, and returns whether the file stays.
pub fn changed_ipa(change: impl Fn(&str, &mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut from = zip::ZipArchive::new(Cursor::new(IPA)).unwrap();
    let mut to = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for place in 0..from.len() {
        let mut file = from.by_index(place).unwrap();
        let (name, mut bytes) = (file.name().unwrap().into_owned(), Vec::new());
        file.read_to_end(&mut bytes).unwrap();
        if !change(&name, &mut bytes) {
            continue;
        }
        let options = zip::write::SimpleFileOptions::default();
        if name.ends_with('/') {
            to.add_directory(name, options).unwrap();
        } else {
            to.start_file(name, options).unwrap();
            to.write_all(&bytes).unwrap();
        }
    }
    to.finish().unwrap().into_inner()
}

pub fn id_of(view: &Value) -> SubmissionId {
    view.id().parse().unwrap()
}

/// The effects with this count.
pub fn counts<const N: usize>(ledger: &Ledger, what: [&str; N]) -> [usize; N] {
    what.map(|what| ledger.count(what))
}

impl TestApp {
    /// Creates a credential for each store; returns their ids.
    pub async fn store_credentials(&self, admin_key: &str) -> [String; 2] {
        let account = String::from_utf8_lossy(ACCOUNT).replace("https://oauth2.googleapis.com", ADDRESS);
        let mut ids = Vec::new();
        for body in [
            json!({
                "kind": "app_store_connect_key", "content": BASE64_STANDARD.encode(P8), "keyId": "ABCDE12345",
                "issuerId": "57246542-96fe-1a63-e053-0824d011072a",
            }),
            json!({"kind": "google_service_account", "content": BASE64_STANDARD.encode(account)}),
        ] {
            let made = self.post(admin_key, "/credentials", body).await;
            ids.push(made.created().id().to_owned());
        }
        ids.try_into().unwrap()
    }

    /// A queued submission.
    pub async fn submitted(&self, admin_key: &str) -> Value {
        self.store_credentials(admin_key).await;
        let upload = self.upload_file(admin_key, "app.apk", APK).await;
        let body = json!({"uploadId": upload, "destination": "internal"});
        self.post(admin_key, "/submit", body).await.created()
    }
}
