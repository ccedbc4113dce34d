//! The flows over real HTTP, with broken connections.

use std::sync::Arc;

use launchway_app_store_simulator::{Fault, Kind, Settings, Simulator, When, serve};
use launchway_app_stores::app_store::AppStoreConnect;
use launchway_app_stores::transport::HttpTransport;
use launchway_domain::submission::SubmissionStatus::{RollingOut, Success};
use tokio::net::TcpListener;

use crate::driver::to_end;
use crate::faults::{KINDS, WAYS, Way, calls, quick, walk_on};
use crate::stand::{Stand, TestClock, settings};

pub async fn stand() -> (Stand, Serving) {
    let part = 5 << 20;
    stand_with(Settings { part, ..settings() }).await
}

/// Serves until it is dropped.
pub struct Serving(tokio::task::JoinHandle<()>);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub async fn stand_with(settings: Settings) -> (Stand, Serving) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let clock = Arc::new(TestClock::new());
    let simulator = Simulator::new(settings, &address, clock.clone());
    let serving = Serving(tokio::spawn(serve(listener, simulator.clone())));
    // Another test may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap();
    let transport = Arc::new(HttpTransport::new(client));
    (Stand::over(clock, simulator, transport, &address), serving)
}

/// One fault at a request of a flow, over HTTP.
async fn one_fault(way: Way, number: u64, kind: Kind) {
    let (stand, _serving) = stand_with(quick()).await;
    let fault = Fault {
        when: When::Call(number),
        kind,
    };
    let ended = walk_on(&stand, way, &[fault]).await;
    assert_eq!(
        ended,
        Ok(()),
        "{way:?} {kind:?} at {number} of {:?}",
        stand.simulator.log()
    );
}

#[tokio::test]
async fn every_call_survives_some_fault_over_http() {
    for (at, way) in (0..).zip(WAYS) {
        for number in 0..calls(way).await {
            let kind = KINDS[usize::try_from(number + at).unwrap() % KINDS.len()];
            one_fault(way, number, kind).await;
        }
    }
}

#[tokio::test]
#[ignore = "long run"]
async fn every_call_survives_every_fault_over_http() {
    let mut flows = 0;
    for way in WAYS {
        for number in 0..calls(way).await {
            for kind in KINDS {
                one_fault(way, number, kind).await;
                flows += 1;
            }
        }
    }
    println!("summary: {flows} flows over HTTP, each with one fault, ended right");
}

/// Schedules each fault at the first request with this method and part of the path.
fn faults(list: &[(&'static str, &'static str, Kind)], stand: &Stand) {
    for (method, path, kind) in list {
        stand.simulator.order(Fault {
            when: When::Matching {
                method: (*method).into(),
                path: (*path).into(),
                times: 1,
            },
            kind: *kind,
        });
    }
}

#[tokio::test]
async fn the_app_store_is_reached_over_http_whatever_goes_wrong() {
    let (stand, _serving) = stand().await;
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
}

#[tokio::test]
async fn google_play_is_reached_over_http_whatever_goes_wrong() {
    let (stand, _serving) = stand().await;
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
}
