//! A server that implements the runner protocol as seen by a runner: one queue, builds, their logs and files; with
//! faults on demand.

mod answers;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use launchway_api::runner::{AnnounceArtifact, Finish, Lease, Source, TellPlan, Undecided};
use launchway_domain::build::plan::{ArtifactRule, CacheRule, Plan, Step};
use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// A fault of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The connection breaks before the request is handled.
    Unheard,
    /// The request is handled, and the connection breaks before the response.
    Unanswered,
    /// 503.
    Unavailable,
    /// 500 in the format of a reverse proxy.
    Nonsense,
    /// 500 of the server itself.
    Defect,
}

/// Selects the fault of a request by its path.
pub type Faults = Box<dyn FnMut(&str) -> Option<Fault> + Send>;

/// A build in the state of the server.
#[derive(Default)]
pub struct Build {
    /// The current attempt.
    pub attempt: u32,
    pub log: Vec<u8>,
    /// Bytes of the log before `log`, which were only counted.
    pub counted: usize,
    /// The last reported phases.
    pub phases: Vec<String>,
    /// The reported plan and its origin.
    pub plan: Option<TellPlan>,
    /// The result, once it has arrived.
    pub finish: Option<Finish>,
    /// Whether the build is canceled.
    pub cancel: bool,
    /// The only endpoint that reports the cancellation; `None` is all.
    pub cancel_by: Option<&'static str>,
    /// Calls of previous attempts.
    pub refused: u32,
    /// The number of calls by name.
    pub calls: BTreeMap<String, u32>,
}

#[derive(Default)]
pub struct Inner {
    queue: VecDeque<Lease>,
    pub builds: HashMap<String, Build>,
    /// Sources, by path.
    files: HashMap<String, Vec<u8>>,
    /// The uploaded files, by artifact id.
    pub stored: HashMap<String, Vec<u8>>,
    announced: HashMap<String, AnnounceArtifact>,
    pub faults: Option<Faults>,
    /// The invalid tokens of runners.
    pub revoked: HashSet<String>,
    /// Forget this many bytes at the end of each log once, like a server that lost its last writes.
    pub lose_log: Option<usize>,
    /// The number of lease requests.
    pub leases: u32,
    /// Only count the bytes of logs.
    pub count_logs: bool,
    /// The number of PUTs to answer with 403.
    pub refuse_puts: u32,
    /// Answer no PUT.
    pub hold_puts: bool,
}

#[derive(Default)]
struct Shared {
    inner: Mutex<Inner>,
    changed: Notify,
}

/// The server; it stops with the test's runtime.
#[derive(Clone)]
pub struct FakeServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl FakeServer {
    pub async fn start() -> FakeServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let server = FakeServer { address, shared };
        let router = Router::new().fallback(answers::answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// The URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The state of the server.
    pub fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared
            .inner
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Adds a build to the queue.
    pub fn queue(&self, lease: Lease) {
        self.inner().queue.push_back(lease);
        self.shared.changed.notify_waiters();
    }

    /// Serves a source archive. Returns its source for a lease.
    pub fn offer(&self, name: &str, bytes: Vec<u8>) -> Source {
        let source = Source::Archive {
            url: format!("{}/files/{name}", self.url()),
            file_name: name.to_owned(),
            size: bytes.len() as u64,
            sha256: hex::encode(Sha256::digest(&bytes)),
        };
        self.inner().files.insert(format!("/files/{name}"), bytes);
        source
    }

    /// Waits until a condition about a build holds.
    pub async fn until(&self, id: &str, what: &str, mut holds: impl FnMut(&Build) -> bool) {
        crate::stage::until(what, || self.inner().builds.get(id).is_some_and(&mut holds)).await;
    }

    /// Waits for the result of a build.
    pub async fn finished(&self, id: &str) -> Finish {
        self.until(id, "the build ends", |build| build.finish.is_some()).await;
        self.inner().builds[id].finish.clone().unwrap()
    }

    /// Waits for the result of a build without a timeout.
    pub async fn finished_whenever(&self, id: &str) {
        loop {
            let mut changed = std::pin::pin!(self.shared.changed.notified());
            changed.as_mut().enable();
            if self.inner().builds.get(id).is_some_and(|build| build.finish.is_some()) {
                return;
            }
            changed.await;
        }
    }

    /// The log of a build.
    pub fn log(&self, id: &str) -> String {
        String::from_utf8_lossy(&self.inner().builds[id].log).into_owned()
    }

    /// The uploaded artifacts of a build, by name.
    pub fn artifacts(&self, finish: &Finish) -> BTreeMap<String, Vec<u8>> {
        let inner = self.inner();
        let of = |id: &String| (inner.announced[id].name.clone(), inner.stored[id].clone());
        finish.artifacts.iter().map(of).collect()
    }
}

/// A build with these steps, and a trivial source.
pub fn lease(server: &FakeServer, id: &str, steps: &[(&str, &str)]) -> Lease {
    let steps = steps.iter().map(|(name, run)| Step {
        name: (*name).to_owned(),
        run: (*run).to_owned(),
        timeout_seconds: None,
    });
    let plan = Plan {
        steps: steps.collect(),
        ..Plan::default()
    };
    Lease {
        build_id: id.to_owned(),
        org_id: "org_1".to_owned(),
        attempt: 1,
        lease_seconds: 90,
        renew_seconds: 15,
        log_offset: 0,
        bundle_id: "com.example.app".to_owned(),
        platform: Platform::Android.into(),
        configuration: Some("production".to_owned()),
        profile: None,
        build_type: BuildType::Release.into(),
        distribution: Distribution::Store.into(),
        version: Some("1.2.3".to_owned()),
        build_number: Some("7".to_owned()),
        source: server.offer("app.tar.gz", tar_gz(&[("README", "read me"), ("lock", "lock")])),
        plan: Some(plan),
        env: Vec::new(),
        credentials: Vec::new(),
        cache_scope: Some("scope".to_owned()),
        undecided: Undecided::default(),
    }
}

/// Adds a rule for artifacts.
pub fn with_artifact(mut lease: Lease, path: &str, kind: &str) -> Lease {
    let rule = ArtifactRule {
        path: path.to_owned(),
        kind: kind.to_owned(),
    };
    lease.plan.as_mut().unwrap().artifacts.push(rule);
    lease
}

/// Adds a cache.
pub fn with_cache(mut lease: Lease, key: &str, path: &str) -> Lease {
    let rule = CacheRule {
        key: key.to_owned(),
        paths: vec![path.to_owned()],
    };
    lease.plan.as_mut().unwrap().cache.push(rule);
    lease
}

/// An archive of these files.
pub fn tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, content.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}
