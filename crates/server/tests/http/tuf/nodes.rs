//! Two nodes publish signed updates at once, with clocks apart: readers of either see only files that fit each other
//! (`docs/reference/trust.md#sets-that-fit`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use launchway_developers::{Developers, Release, role_of};
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, HOUR};
use launchway_trust::TrustFile;
use launchway_trust::client::Client;
use launchway_trust::metadata::{Metadata, Snapshot, Timestamp};
use launchway_trust::one_trip::{Progress, TrustAnswer};

use super::url;
use crate::stage::{BUNDLE, Stage};
use crate::support::{Fields, NOBODY, START, Setup, TestApp, package};

/// The configuration that each node publishes for.
const CONFIGURATIONS: [&str; 2] = ["production", "staging"];

/// Publishes updates of one configuration on a node, one after the other.
async fn publish(node: &TestApp, key: &str, developers: &Mutex<Developers>, configuration: &str, count: usize) {
    let (role, package) = (role_of(configuration), package("index.html", configuration.as_bytes()));
    for build in 1..=count as u64 {
        let release = Release { role: &role, platform: Platform::Ios, version: "1.2.3", build, package: &package };
        let upload = node.upload(key, &package).await;
        let body = developers.lock().unwrap().publication(&release, &upload, node.app.clock.now());
        node.post(key, "/update", body).await.created();
    }
}

/// What a phone that was just installed makes of one answer: the builds that the role of its configuration lists.
fn verify(trusted: &TrustFile, configuration: &str, answer: &[u8]) -> Vec<String> {
    let label = Configuration::parse(configuration).unwrap();
    let mut client = Client::open(trusted, &BUNDLE.parse().unwrap(), Some(&label), None).unwrap();
    let answer = TrustAnswer::parse(answer).unwrap();
    assert_eq!(client.refresh(START).take_answer(&answer), Ok(Progress::Done));
    let role = client.metadata().role(&format!("c-{configuration}")).unwrap();
    role.body().targets.keys().cloned().collect()
}

/// Reads one node once, first what is offered, then the metadata, in one trip and file by file: the build that is offered.
async fn read(node: &TestApp, trusted: &TrustFile, configuration: &str) -> Option<u64> {
    let check = format!("currentVersion=1.0.0&deviceId=d&configuration={configuration}");
    let offer = node.checked(BUNDLE, &check).await;
    let answer = node.get(NOBODY, &url(node, &format!("trust?root=1&configuration={configuration}"))).await;
    let listed = verify(trusted, configuration, &answer.bytes);
    let answer = TrustAnswer::parse(&answer.bytes).unwrap();
    let snapshot: Metadata<Snapshot> = Metadata::parse(answer.snapshot.unwrap().as_bytes()).unwrap();
    assert!(snapshot.version() >= offer["trust"]["snapshot"].as_u64().unwrap(), "{offer}");
    let timestamp = node.get(NOBODY, &url(node, "timestamp.json")).await;
    let timestamp: Metadata<Timestamp> = Metadata::parse(&timestamp.bytes).unwrap();
    let named = timestamp.body().snapshot.version;
    assert!(named >= snapshot.version());
    let by_name = node.get(NOBODY, &url(node, &format!("{named}.snapshot.json"))).await;
    // Two publishes later a snapshot is no longer served: then a client asks for the timestamp again.
    if by_name.status == 200 {
        let by_name: Metadata<Snapshot> = Metadata::parse(&by_name.bytes).unwrap();
        assert_eq!(by_name.version(), named);
    }
    offer["updateAvailable"].as_bool().unwrap().then(|| {
        let build = offer.text("buildNumber");
        let path = format!("c-{configuration}/ios/1.2.3_{build}.zip");
        assert!(listed.contains(&path), "{path} is offered and not in {listed:?}");
        build.parse().unwrap()
    })
}

/// Reads both nodes in turn until told to stop: how many reads found an offered update.
async fn keep_reading(nodes: [&TestApp; 2], trusted: &TrustFile, stop: &AtomicBool, reads: &AtomicUsize) {
    while !stop.load(Ordering::SeqCst) {
        for node in nodes {
            for configuration in CONFIGURATIONS {
                let offered = read(node, trusted, configuration).await;
                reads.fetch_add(usize::from(offered.is_some()), Ordering::SeqCst);
            }
        }
    }
}

/// Each node publishes this many updates, beside the other.
async fn publish_on_both(count: usize) {
    let stage = Stage::new().with(Setup::on_postgres()).await;
    let other = stage.another_node().await;
    other.advance(-DAY - HOUR);
    let developers = stage.developers(&CONFIGURATIONS).await;
    other.app.index.catch_up(&other.app.db).await.unwrap();
    let trusted = developers.trust_file();
    let developers = Mutex::new(developers);
    let (stop, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    let publish_all = async {
        tokio::join!(
            publish(&stage, &stage.key, &developers, CONFIGURATIONS[0], count),
            publish(&other, &stage.key, &developers, CONFIGURATIONS[1], count),
        );
        stop.store(true, Ordering::SeqCst);
    };
    let nodes: [&TestApp; 2] = [&stage, &other];
    tokio::join!(publish_all, keep_reading(nodes, &trusted, &stop, &reads));
    assert!(reads.load(Ordering::SeqCst) > count / 2, "{reads:?}");
    for node in nodes {
        node.app.index.catch_up(&node.app.db).await.unwrap();
        for configuration in CONFIGURATIONS {
            assert_eq!(read(node, &trusted, configuration).await, Some(count as u64), "{configuration}");
        }
    }
    let timestamp = async |node: &TestApp| node.get(NOBODY, &url(node, "timestamp.json")).await.bytes;
    assert_eq!(timestamp(nodes[0]).await, timestamp(nodes[1]).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_that_publish_at_once_serve_sets_that_fit() {
    publish_on_both(8).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "long run"]
async fn two_nodes_publish_a_hundred_at_once() {
    publish_on_both(50).await;
}
