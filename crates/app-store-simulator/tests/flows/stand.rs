//! The test environment: a manual clock, accounts, binaries, and both app stores.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use launchway_app_store_simulator::{
    ADDRESS, Account, AppInfo, AppStoreApp, Direct, GooglePlayApp, Group, Ledger, Settings, Simulator,
};
use launchway_app_stores::release::{EarlierSubmissions, Note, Options, Symbols};
use launchway_app_stores::transport::{Request, Response, Source, Transport, TransportError};
use launchway_app_stores::{Clock, Release, app_store, google_play};
use launchway_credentials::jwt::{Es256Key, Rs256Key};
use launchway_domain::platform::Platform;
use launchway_domain::submission::destination::Destination;
use launchway_domain::time::{EpochMs, HOUR, MINUTE};
use serde_json::Value;
use sha2::{Digest, Sha256};

pub const APP: &str = "com.example.app";
const VERSION: &str = "1.1.0";
pub const NOW: EpochMs = 1_795_255_200_000;
const P8: &str = include_str!("../../../credentials/tests/fixtures/store-connect.p8");
const ACCOUNT: &str = include_str!("../../../credentials/tests/fixtures/service-account.json");
const KEY_ID: &str = "ABCDE12345";
const ISSUER: &str = "57246542-96fe-1a63-e053-0824d011072a";

/// A clock that the test sets.
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn new() -> TestClock {
        TestClock(AtomicI64::new(NOW))
    }

    pub fn set(&self, now: EpochMs) {
        self.0.store(now, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> EpochMs {
        self.0.load(Ordering::SeqCst)
    }

    fn pause(&self, delay: Duration) -> BoxFuture<'_, ()> {
        self.0
            .fetch_add(i64::try_from(delay.as_millis()).unwrap(), Ordering::SeqCst);
        Box::pin(async {})
    }
}

/// A binary in memory.
pub struct Memory(pub Bytes);

impl Source for Memory {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>> {
        let from = usize::try_from(offset).unwrap();
        let piece = self.0.slice(from..from + length);
        Box::pin(async move { Ok(piece) })
    }
}

/// A request and its response.
#[derive(Clone)]
pub struct Exchange {
    pub method: String,
    pub url: String,
    pub body: Bytes,
    pub headers: Vec<(String, String)>,
    pub answer: Result<Response, TransportError>,
}

/// Records all requests and responses.
pub struct Noting {
    pub inner: Arc<dyn Transport>,
    pub notes: Mutex<Vec<Exchange>>,
}

impl Transport for Noting {
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
        Box::pin(async move {
            let body = match &request.body {
                launchway_app_stores::transport::Body::Bytes(bytes) => bytes.clone(),
                _ => Bytes::new(),
            };
            let (method, url) = (request.method.as_str().to_owned(), request.url.clone());
            let headers = request.headers.clone();
            let answer = self.inner.send(request).await;
            let mut notes = self.notes.lock().unwrap();
            notes.push(Exchange {
                method,
                url,
                body,
                headers,
                answer: answer.clone(),
            });
            answer
        })
    }
}

/// Both app stores, a clock, and the transport.
pub struct Stand {
    pub clock: Arc<TestClock>,
    pub simulator: Arc<Simulator>,
    pub transport: Arc<Noting>,
    pub address: String,
    /// The step, counted from 0, after which the driver crashes before it saves the progress.
    pub crash_after: Option<usize>,
}

fn accounts() -> Vec<Account> {
    let account: Value = serde_json::from_str(ACCOUNT).unwrap();
    let es256 = Es256Key::from_pem(P8).unwrap();
    let rs256 = Rs256Key::from_pem(account["private_key"].as_str().unwrap()).unwrap();
    vec![
        Account::AppStore {
            key_id: KEY_ID.to_owned(),
            issuer_id: Some(ISSUER.to_owned()),
            public: es256.verifying_key(),
        },
        Account::Google {
            client_email: account["client_email"].as_str().unwrap().to_owned(),
            public: rs256.verifying_key(),
        },
    ]
}

/// App stores with one app each and short delays.
pub fn settings() -> Settings {
    static ACCOUNTS: LazyLock<Vec<Account>> = LazyLock::new(accounts);
    let group = |name: &str, internal, all_builds| Group {
        name: name.to_owned(),
        internal,
        all_builds,
    };
    let read = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(100)]).into_owned();
        let (package, rest) = text.split_once('|')?;
        Some(AppInfo {
            bundle_id: package.to_owned(),
            version: VERSION.to_owned(),
            build_number: rest.split_once('|')?.0.to_owned(),
        })
    };
    Settings {
        accounts: ACCOUNTS.clone(),
        app_store: vec![AppStoreApp {
            bundle_id: APP.to_owned(),
            groups: vec![
                group("Team", true, true),
                group("Inside", true, false),
                group("Outside", false, false),
            ],
            live: Some("1.0.0".to_owned()),
            answers_encryption: false,
        }],
        google_play: vec![GooglePlayApp {
            package: APP.to_owned(),
            tracks: vec!["friends".to_owned()],
            live: Some(40),
            draft: false,
            review_by_hand: false,
        }],
        part: 100,
        processing: MINUTE,
        review: 30 * MINUTE,
        phased_day: HOUR,
        read_binary: Some(Arc::new(read)),
        ..Settings::default()
    }
}

impl Stand {
    pub fn new() -> Stand {
        Self::with(settings())
    }

    pub fn with(settings: Settings) -> Stand {
        let clock = Arc::new(TestClock::new());
        let simulator = Simulator::new(settings, ADDRESS, clock.clone());
        let direct = Arc::new(Direct(simulator.clone()));
        Self::over(clock, simulator, direct, ADDRESS)
    }

    pub fn over(clock: Arc<TestClock>, simulator: Arc<Simulator>, inner: Arc<dyn Transport>, address: &str) -> Stand {
        let transport = Arc::new(Noting {
            inner,
            notes: Mutex::default(),
        });
        Stand {
            clock,
            simulator,
            transport,
            address: address.to_owned(),
            crash_after: None,
        }
    }

    pub fn app_store(&self) -> app_store::AppStoreConnect {
        self.app_store_over(self.transport.clone())
    }

    /// The client, whose requests pass through this transport.
    pub fn app_store_over(&self, transport: Arc<dyn Transport>) -> app_store::AppStoreConnect {
        let credential = app_store::Credential {
            key: Es256Key::from_pem(P8).unwrap(),
            key_id: KEY_ID.to_owned(),
            issuer_id: Some(ISSUER.to_owned()),
        };
        app_store::AppStoreConnect::new(transport, self.clock.clone(), &self.address, credential)
    }

    pub fn google_play(&self) -> google_play::GooglePlay {
        self.google_play_over(self.transport.clone())
    }

    /// The client, whose requests pass through this transport.
    pub fn google_play_over(&self, transport: Arc<dyn Transport>) -> google_play::GooglePlay {
        let credential = google_play::Credential {
            token_uri: format!("{}/token", self.address),
            ..google_play::Credential::from_json(ACCOUNT).unwrap()
        };
        google_play::GooglePlay::new(transport, self.clock.clone(), &self.address, credential)
    }

    pub fn ledger(&self) -> Ledger {
        self.simulator.ledger()
    }
}

/// A release of the app; its binary contains its package and number in the format that the simulator reads.
pub fn release(platform: Platform, destination: &str, number: i64, size: usize) -> Release {
    let mut bytes = format!("{APP}|{number}|").into_bytes();
    static FILL: LazyLock<Vec<u8>> = LazyLock::new(|| (0..1_000_000).map(|at| (at % 251) as u8).collect());
    bytes.extend_from_slice(&FILL[..size.saturating_sub(bytes.len())]);
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let ending = match platform {
        Platform::Android => "aab",
        _ => "ipa",
    };
    Release {
        bundle_id: APP.to_owned(),
        platform,
        version: VERSION.to_owned(),
        build_number: number.to_string(),
        destination: Destination::parse(platform, destination).unwrap(),
        file_name: format!("App.{ending}"),
        source: Arc::new(Memory(Bytes::from(bytes))),
        sha256,
        earlier: EarlierSubmissions::default(),
        notes: Vec::new(),
        rollout: None,
        options: Options::default(),
    }
}

pub fn notes() -> Vec<Note> {
    let note = |locale: &str, text: &str| Note {
        locale: locale.to_owned(),
        text: text.to_owned(),
    };
    vec![note("en-US", "Faster."), note("de-DE", "Schneller.")]
}

pub fn symbols() -> Vec<Symbols> {
    let file = |native, text: &'static [u8]| Symbols {
        native,
        source: Arc::new(Memory(Bytes::from_static(text))),
    };
    vec![file(false, b"a.b.C -> a"), file(true, b"native symbols")]
}
