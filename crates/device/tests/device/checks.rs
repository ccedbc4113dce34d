//! The check: what it sends, and which responses it rejects.

use std::rc::Rc;

use launchway_device::SyncError;
use launchway_device::check::{Answer, CheckError};
use launchway_device::ports::Request;
use serde_json::json;

use crate::disk::Disk;
use crate::lives::{slot, start, with_first_update};
use crate::phone::{Server, Update, answer, process};

fn checked(says: &str) -> Result<Answer, SyncError> {
    let (disk, server) = (Disk::new(), Server::default());
    server.says.replace(Some(says.to_owned()));
    process(&disk, &server, |device| {
        let _ = start(device);
        device.check()
    })
}

#[test]
fn the_check_sends_what_runs_and_who_asks() {
    let (disk, server) = (with_first_update(), Server::default());
    process(&disk, &server, |device| {
        let _ = start(device);
        device.check().unwrap();
    });
    let requests: Vec<Request> = server.requests.borrow().clone();
    assert_eq!(
        requests[0].url,
        "https://host/api/update/check/com.example.app?currentVersion=1.0.0&currentBuild=101&currentUpdateId=update_1\
         &deviceId=07070707070707070707070707070707&platform=android&configuration=production"
    );
}

#[test]
fn answers_that_are_none_are_refused() {
    let good = answer(&Update::number(1));
    assert!(matches!(checked(&good.to_string()), Ok(Answer::Update(_))));
    for (field, value) in [
        ("updateAvailable", json!("true")),
        ("requiresStoreUpdate", json!(null)),
        ("sha256", json!("abc")),
        ("sha256", json!(null)),
        ("size", json!(0)),
        ("size", json!(-1)),
        ("size", json!(1u64 << 40)),
        ("size", json!("100")),
        ("platform", json!("ios")),
        ("url", json!("file:///etc/passwd")),
        ("id", json!(7)),
        ("version", json!("one")),
        ("buildNumber", json!("1.5")),
        ("manifest", json!("abc")),
    ] {
        let mut bad = good.clone();
        bad[field] = value.clone();
        let refused = checked(&bad.to_string());
        assert!(
            matches!(refused, Err(SyncError::Check(CheckError::Malformed(_)))),
            "{field} {value}: {refused:?}"
        );
    }
    for text in [
        "",
        "null",
        "[]",
        "{\"updateAvailable\":true,\"updateAvailable\":false}",
        &" ".repeat(300_000),
    ] {
        assert!(
            matches!(checked(text), Err(SyncError::Check(CheckError::Malformed(_)))),
            "{text:.20}"
        );
    }
}

#[test]
fn an_offer_that_is_not_newer_is_refused() {
    for (version, build, newer) in [
        ("0.9.9", "999", false),
        ("1.0.0", "1", false),
        ("1.0.0", "0", false),
        ("1.0.0", "2", true),
        ("1.0.1", "0", true),
    ] {
        let mut offer = answer(&Update::number(1));
        (offer["version"], offer["buildNumber"]) = (json!(version), json!(build));
        assert_eq!(checked(&offer.to_string()).is_ok(), newer, "{version} ({build})");
    }
}

#[test]
fn a_store_update_is_told_with_its_reason() {
    let mut answer = answer(&Update::number(1));
    (answer["requiresStoreUpdate"], answer["compatibilityReason"]) = (json!(true), json!("plugins"));
    let told = checked(&answer.to_string()).unwrap();
    assert_eq!(
        told,
        Answer::StoreUpdateRequired {
            reason: "plugins".to_owned()
        }
    );
}

#[test]
fn a_server_that_is_away_changes_nothing() {
    let (disk, server) = (with_first_update(), Server::default());
    server.away.set(true);
    let shared = Rc::new(disk);
    process(&*shared, &server, |device| {
        assert_eq!(start(device).content, slot(1));
        assert!(matches!(
            device.sync(&mut |_| ()),
            Err(SyncError::Check(CheckError::Network(_)))
        ));
        assert_eq!(start(device).content, slot(1));
    });
}
