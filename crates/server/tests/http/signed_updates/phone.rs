//! A phone: the real client, which carries the developers' root, against the server of the test.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use launchway_device::boot::{Binary, Ending};
use launchway_device::folder::Folder;
use launchway_device::ports::{self, Network, Random, Request, Response};
use launchway_device::settings::{EmbeddedTrust, Settings};
use launchway_device::{Device, Launch, Ports, SyncError, SyncOutcome};
use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_os::clock::Clock;
use launchway_trust::TrustFile;
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use crate::stage::{BUNDLE, Stage};
use crate::support::{START, TestClock};

/// A phone with the app of the tests, whose embedded version is 1.0.0.
pub struct Phone {
    disk: TempDir,
    settings: Settings,
    pub way: Way,
    clock: PhoneClock,
}

/// The phone's way to the server.
pub struct Way {
    http: reqwest::Client,
    runtime: Handle,
    /// The bodies of reports that were sent.
    reports: RefCell<Vec<String>>,
    /// Responses to addresses with this part have a body that never ends.
    pub endless: Cell<Option<&'static str>>,
}

struct PhoneClock(Arc<TestClock>);

struct Seven;

impl Phone {
    /// A phone that was just set up, with an app that carries this file.
    pub fn new(stage: &Stage, trust: TrustFile) -> Phone {
        Phone::set_up(stage, Some(EmbeddedTrust { file: trust, built_at: START.unsigned_abs() }))
    }

    /// A phone whose app carries no root: it shows what an attack would have done.
    pub fn without_root(stage: &Stage) -> Phone {
        Phone::set_up(stage, None)
    }

    fn set_up(stage: &Stage, trust: Option<EmbeddedTrust>) -> Phone {
        let settings = Settings {
            server_url: format!("{}/api", stage.origin),
            bundle_id: BundleId::parse(BUNDLE).unwrap(),
            platform: Platform::Android,
            version: "1.0.0".to_owned(),
            fingerprint: None,
            configuration: Some(Configuration::parse("production").unwrap()),
            trust,
            entry_file: "index.html".to_owned(),
            keep_slots: 2,
            wifi_only: false,
        };
        let way = Way {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            runtime: Handle::current(),
            reports: RefCell::default(),
            endless: Cell::default(),
        };
        let phone = Phone { disk: tempfile::tempdir().unwrap(), settings, way, clock: PhoneClock(stage.clock.clone()) };
        assert_eq!(phone.start(), "embedded");
        phone
    }

    /// Starts the app: what it shows.
    pub fn start(&self) -> String {
        let binary = Binary { code: "1".to_owned(), name: "1.0.0".to_owned(), installed_at: 1 };
        let launch = Launch { binary, window: true, ending: Ending::Explained };
        let started = self.process(|device| device.start(&launch));
        assert_eq!(started.problem, None);
        let shown = |folder: String| fs::read_to_string(self.disk.path().join(folder).join("index.html")).unwrap();
        started.folder.map_or("embedded".to_owned(), shown)
    }

    /// One round with the server.
    pub fn sync(&self) -> Result<SyncOutcome, SyncError> {
        self.process(|device| device.sync(&mut |_| {}))
    }

    /// One round with the server, after which the next start shows this and proves itself.
    pub fn updates_to(&self, shown: &str) {
        let outcome = self.sync().unwrap_or_else(|error| panic!("{error}"));
        assert!(matches!(outcome, SyncOutcome::Staged(_)), "{outcome:?}");
        assert_eq!(self.start(), shown);
        assert!(self.process(|device| device.confirm()).unwrap());
    }

    /// What the server offers is refused with this code, which the log and a report name, and the app runs on.
    pub fn refuses(&self, code: &str) {
        let before = self.start();
        let refused = self.sync().map_or_else(|error| error.to_string(), |outcome| format!("{outcome:?}"));
        assert!(refused.contains(&format!("{code}: ")), "{refused:?} instead of {code}");
        let reports = self.way.reports.take();
        let named = format!("{code}: ");
        assert!(reports.iter().any(|body| body.contains(&named)), "{code} is in no report: {reports:?}");
        assert_eq!(self.start(), before);
    }

    /// A process of the app. One that another test is starting may hold the phone's lock for a moment.
    fn process<T>(&self, run: impl FnOnce(&Device<'_>) -> T) -> T {
        let storage = Folder::open(self.disk.path()).unwrap();
        let ports = Ports { storage: &storage, network: &self.way, clock: &self.clock, random: &Seven };
        block_in_place(|| {
            let mut device = Device::open(ports, &self.settings).unwrap();
            while !device.is_main() {
                std::thread::yield_now();
                device = Device::open(ports, &self.settings).unwrap();
            }
            run(&device)
        })
    }
}

impl Way {
    async fn ask(&self, request: &Request) -> reqwest::Result<Response> {
        let mut sent = match &request.body {
            Some(body) => self.http.post(&request.url).body(body.clone()),
            None => self.http.get(&request.url),
        };
        for (name, value) in &request.headers {
            sent = sent.header(*name, value);
        }
        let answer = sent.send().await?;
        let headers = answer.headers().iter();
        let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
        let status = answer.status().as_u16();
        Ok(Response { status, headers, body: Box::new(Cursor::new(answer.bytes().await?)) })
    }
}

impl Network for Way {
    fn send(&self, request: &Request) -> io::Result<Response> {
        if request.url.contains("/update/report/") {
            self.reports.borrow_mut().extend(request.body.clone());
        }
        let mut response = self.runtime.block_on(self.ask(request)).map_err(io::Error::other)?;
        if self.endless.get().is_some_and(|part| request.url.contains(part)) {
            response.status = 200;
            response.headers.retain(|(name, _)| name != "content-length");
            response.body = Box::new(response.body.chain(io::repeat(b' ')));
        }
        Ok(response)
    }

    fn is_unmetered(&self) -> bool {
        true
    }
}

impl ports::Clock for PhoneClock {
    fn now(&self) -> u64 {
        self.0.now().unsigned_abs()
    }

    fn pause(&self, _: u64) {}
}

impl Random for Seven {
    fn bytes(&self) -> [u8; 16] {
        [7; 16]
    }
}
