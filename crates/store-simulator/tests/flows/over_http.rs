//! The same over real HTTP: sockets that are cut, and a large binary in small memory.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use launchway_domain::submission::SubmissionStatus::{RollingOut, Success};
use launchway_store_simulator::{Fault, Kind, Simulator, When, serve};
use launchway_stores::app_store::AppStoreConnect;
use launchway_stores::transport::{HttpTransport, PIECE, Source};
use tokio::net::TcpListener;

use crate::stand::{Clock, Stand, settings, to_end};

async fn stand() -> (Stand, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let clock = Arc::new(Clock::new());
    let mut settings = settings();
    settings.part = 5 << 20;
    let simulator = Simulator::new(settings, &address, clock.clone());
    let task = tokio::spawn(serve(listener, simulator.clone()));
    // Another test may have done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let transport = Arc::new(HttpTransport::new(client));
    (Stand::over(clock, simulator, transport, &address), task)
}

/// Each at the first call of a method whose path contains a text.
fn faults(list: &[(&'static str, &'static str, Kind)], stand: &Stand) {
    for (method, path, kind) in list {
        stand.simulator.order(Fault {
            when: When::Matching { method, path, times: 1 },
            kind: *kind,
        });
    }
}

#[tokio::test]
async fn the_app_store_is_reached_over_http_whatever_goes_wrong() {
    let (stand, task) = stand().await;
    faults(
        &[
            ("GET", "/v1/apps", Kind::Slow),
            ("POST", "/v1/buildUploads", Kind::Lost),
            ("POST", "/v1/buildUploadFiles", Kind::Status(500)),
            ("PUT", "/parts/", Kind::Cut),
            ("PATCH", "/v1/buildUploadFiles", Kind::Lost),
            ("GET", "/v1/builds", Kind::TooMany(7)),
            ("POST", "/v1/appStoreVersions", Kind::StatusAfter(502)),
            ("PATCH", "/v1/reviewSubmissions", Kind::Lost),
        ],
        &stand,
    );
    let ended = to_end::<AppStoreConnect>(&stand, &crate::app_store::phased()).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let ledger = stand.ledger();
    for what in ["upload", "build", "version", "review", "release"] {
        assert_eq!(ledger.count(what), 1, "{what} {ledger:?}");
    }
    task.abort();
}

#[tokio::test]
async fn google_play_is_reached_over_http_whatever_goes_wrong() {
    let (stand, task) = stand().await;
    faults(
        &[
            ("POST", "/token", Kind::Lost),
            ("POST", "/edits", Kind::Status(503)),
            ("POST", "/bundles", Kind::Lost),
            ("PUT", "/sessions/", Kind::Cut),
            ("PUT", "/tracks/", Kind::Nonsense),
            ("POST", ":validate", Kind::Slow),
            ("POST", ":commit", Kind::Lost),
        ],
        &stand,
    );
    let ended = crate::google_play::to_stage(&stand, &crate::google_play::staged()).await;
    assert_eq!(ended.status, RollingOut, "{ended:?}");
    for what in ["upload", "commit", "track", "release"] {
        assert_eq!(stand.ledger().count(what), 1, "{what}");
    }
    task.abort();
}

/// 200 MB of zeros that nobody holds.
struct Zeros(u64);

impl Source for Zeros {
    fn size(&self) -> u64 {
        self.0
    }

    fn read(&self, _offset: u64, length: usize) -> BoxFuture<'_, io::Result<Bytes>> {
        static PIECES: [u8; PIECE] = [0; PIECE];
        Box::pin(async move { Ok(Bytes::from_static(&PIECES[..length])) })
    }
}

#[tokio::test]
async fn a_large_binary_is_sent_in_pieces() {
    let (stand, task) = stand().await;
    let mut wanted = crate::app_store::testflight();
    wanted.source = Arc::new(Zeros(200_000_000));
    let ended = to_end::<AppStoreConnect>(&stand, &wanted).await;
    assert_eq!(ended.status, Success, "{ended:?}");
    let parts = stand
        .simulator
        .log()
        .into_iter()
        .filter(|call| call.starts_with("PUT /simulator/parts/"));
    assert_eq!(parts.count(), 39);
    assert_eq!(stand.ledger().count("upload"), 1);
    task.abort();
}
