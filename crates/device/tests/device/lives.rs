//! Whole days of a phone, with what it reports, and the states it can be found in.

use std::cell::Cell;
use std::rc::Rc;

use launchway_delta::Digest;
use launchway_device::boot::{Content, Ending};
use launchway_device::check::{Answer, CheckError, Offer, Running};
use launchway_device::folder::Folder;
use launchway_device::ports::{Keep, Network, Permit, Request, ServerTrust, Storage, Trust};
use launchway_device::slot::InstallError;
use launchway_device::{Device, Launch, Mark, StartOutcome, SyncError, SyncOutcome};
use launchway_trust::json::Value;
use serde_json::json;

use crate::disk::{Disk, Fault};
use crate::phone::{Server, Update, answer, files, launch, no_forks, process, trusting};

fn start(device: &Device<'_>) -> StartOutcome {
    device.start(&launch(Ending::Explained))
}

fn slot(number: u32) -> Content {
    Content::Slot(Update::number(number).sha256())
}

/// A good update, a bad one, and the one that follows.
fn a_day(storage: &dyn Storage, server: &Server) {
    process(storage, server, |device| {
        assert_eq!(start(device).content, Content::Embedded);
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
        assert_eq!(
            device.status().unwrap().unwrap().attempt.unwrap().content,
            Content::Embedded
        );
    });
    process(storage, server, |device| {
        assert_eq!(start(device).content, slot(1));
        assert!(device.confirm().unwrap());
        assert!(!device.confirm().unwrap(), "once is enough");
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Nothing)));
        server.offer(Update::number(2));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
    });
    process(storage, server, |device| {
        assert_eq!(start(device).content, slot(2));
        device
            .mark(Mark::Crash(Some("TypeError at app.js:1".to_owned())))
            .unwrap();
    });
    process(storage, server, |device| {
        assert_eq!(device.start(&launch(Ending::Unexplained)).content, slot(1));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Quarantined(_))));
        server.offer(Update::number(3));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
    });
    process(storage, server, |device| {
        assert_eq!(start(device).content, slot(3));
        assert!(device.confirm().unwrap());
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Nothing)));
        assert_eq!(device.status().unwrap().unwrap().reports, 0);
    });
}

const REPORTS: [&str; 10] = [
    "downloaded update_1",
    "installed update_1",
    "confirmed update_1",
    "downloaded update_2",
    "installed update_2",
    "crash update_2",
    "rolled_back update_2 crashed",
    "downloaded update_3",
    "installed update_3",
    "confirmed update_3",
];

#[test]
fn a_bad_update_is_rolled_back_reported_and_followed() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    a_day(&disk, &server);
    let mut reports = server.reports.borrow().clone();
    reports.sort_unstable();
    let mut expected = REPORTS.map(ToOwned::to_owned).to_vec();
    expected.sort_unstable();
    assert_eq!(reports, expected);
    let slots = disk.files_below("slots");
    let gone = Update::number(2).sha256().to_string();
    assert!(
        !slots.keys().any(|path| path.starts_with(&gone)),
        "the bad package leaves the disk"
    );
}

#[test]
fn the_same_day_on_a_real_folder() {
    let _alone = no_forks();
    let folder = tempfile::tempdir().unwrap();
    let (storage, server) = (
        Folder::open(folder.path()).unwrap(),
        Server::offering(Update::number(1)),
    );
    a_day(&storage, &server);
    let started = process(&storage, &server, start);
    let app = folder.path().join(started.folder.unwrap());
    for (path, bytes) in files(3) {
        assert_eq!(std::fs::read(app.join(path)).unwrap(), bytes);
    }
    assert!(storage.free_space().unwrap() > 0);
}

#[test]
fn a_second_process_follows_and_changes_nothing() {
    let _alone = no_forks();
    let folder = tempfile::tempdir().unwrap();
    let (storage, server) = (
        Folder::open(folder.path()).unwrap(),
        Server::offering(Update::number(1)),
    );
    process(&storage, &server, |main| {
        let _ = start(main);
        main.sync(&mut |_| ()).unwrap();
        let began = start(main);
        let before = std::fs::read(folder.path().join("boot.json")).unwrap();
        process(&storage, &server, |other| {
            assert!(main.is_main() && !other.is_main());
            assert_eq!(start(other), began);
            assert!(!other.confirm().unwrap());
            other.mark(Mark::Hang).unwrap();
            other.reset().unwrap();
            assert!(matches!(other.sync(&mut |_| ()), Err(SyncError::NotMain)));
        });
        assert_eq!(std::fs::read(folder.path().join("boot.json")).unwrap(), before);
        assert!(main.confirm().unwrap());
    });
    process(&storage, &server, |next| {
        assert!(next.is_main(), "the lock ends with its process")
    });
}

/// A disk on which the first update runs and is good.
fn with_first_update() -> Disk {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    process(&disk, &server, |device| {
        let _ = start(device);
        device.sync(&mut |_| ()).unwrap();
        let _ = start(device);
        assert!(device.confirm().unwrap());
        device.sync(&mut |_| ()).unwrap();
    });
    disk
}

#[test]
fn a_corrupt_state_starts_the_embedded_app() {
    for text in [
        "",
        "{",
        "null",
        "{\"form\":2}",
        "{\"form\":1}",
        "\u{feff}{}",
        &"[".repeat(100_000),
    ] {
        let (disk, server) = (with_first_update(), Server::offering(Update::number(1)));
        disk.put("state.json", text.as_bytes());
        let before = (disk.files_below("slots"), disk.bytes("boot.json"));
        process(&disk, &server, |device| {
            let started = start(device);
            assert_eq!(
                (started.content, started.problem.is_some()),
                (Content::Embedded, true),
                "{text:.20}"
            );
            assert_eq!((disk.files_below("slots"), disk.bytes("boot.json")), before);
            assert_eq!(disk.bytes("state.json").unwrap(), text.as_bytes());
            assert!(matches!(device.sync(&mut |_| ()), Err(SyncError::Corrupt)));
            assert_eq!(start(device).content, Content::Embedded);
            assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
            assert_eq!(start(device).content, slot(1));
        });
    }
}

#[test]
fn unreadable_storage_changes_nothing() {
    let whole = with_first_update();
    let server = Server::offering(Update::number(1));
    let reads = whole.copy();
    process(&reads, &server, start);
    for call in 1..=reads.calls() {
        let locked = whole.with_fault(call, Fault::Dies);
        let started = process(&locked, &server, start);
        assert!(
            started.content == Content::Embedded || started.content == slot(1),
            "call {call}"
        );
        assert_eq!(locked.bytes("state.json"), whole.bytes("state.json"), "call {call}");
        let unlocked = process(&locked.copy(), &server, start);
        assert_eq!(unlocked.content, slot(1), "call {call}");
    }
}

#[test]
fn a_corrupt_boot_file_judges_nothing() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(1)));
    disk.put("boot.json", b"{\"form\":1,\"crashed\":true}");
    process(&disk, &server, |device| assert_eq!(start(device).content, slot(1)));
}

#[test]
fn a_new_store_binary_drops_what_was_installed() {
    let (disk, server) = (with_first_update(), Server::default());
    let mut newer = launch(Ending::Explained);
    newer.binary.code = "2".to_owned();
    process(&disk, &server, |device| {
        assert_eq!(device.start(&newer).content, Content::Embedded);
        let id = device.status().unwrap().unwrap().state.device_id;
        device.sync(&mut |_| ()).unwrap();
        assert!(disk.files_below("slots").is_empty());
        assert_eq!(device.status().unwrap().unwrap().state.device_id, id);
    });
    let asked = server.requests.borrow().last().unwrap().url.clone();
    assert!(asked.contains("currentBuild=2&currentUpdateId=embedded%3A2"), "{asked}");
}

#[test]
fn a_start_without_a_window_is_not_the_time_to_switch() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    process(&disk, &server, |device| {
        let _ = start(device);
        device.sync(&mut |_| ()).unwrap();
        let hidden = Launch {
            window: false,
            ..launch(Ending::Explained)
        };
        assert_eq!(device.start(&hidden).content, Content::Embedded);
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn reset_goes_back_to_the_embedded_app() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(1)));
    process(&disk, &server, |device| {
        let _ = start(device);
        device.reset().unwrap();
        assert_eq!(start(device).content, Content::Embedded);
    });
}

#[test]
fn the_same_bytes_under_a_new_number_are_not_downloaded_again() {
    let (disk, server) = (with_first_update(), Server::default());
    let again = Update {
        id: "update_9".to_owned(),
        build: 109,
        ..Update::number(1)
    };
    server.offer(again);
    process(&disk, &server, |device| {
        let _ = start(device);
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::SameBytes(_))));
        assert_eq!(start(device).content, slot(1));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Nothing)));
    });
    assert_eq!(server.downloads().len(), 0);
    assert_eq!(
        *server.reports.borrow(),
        ["downloaded update_9", "installed update_9", "confirmed update_9"]
    );
}

#[test]
fn a_lie_about_the_files_of_what_runs_does_not_remove_it() {
    let (disk, server) = (with_first_update(), Server::default());
    let mut lie = answer(&Update::number(1));
    (lie["buildNumber"], lie["manifest"]) = (json!("109"), json!(Digest::of(b"other").to_string()));
    server.says.replace(Some(lie.to_string()));
    let before = disk.files_below("slots");
    process(&disk, &server, |device| {
        let _ = start(device);
        assert!(matches!(
            device.sync(&mut |_| ()),
            Err(SyncError::Install(InstallError::WrongFiles))
        ));
        assert_eq!(disk.files_below("slots"), before);
        assert_eq!(start(device).content, slot(1));
    });
    assert_eq!(server.downloads().len(), 0);
}

/// Trusts everything but one package, once it has learned of that one from the server.
struct Revoking {
    package: Digest,
    learned: Cell<bool>,
}

impl Revoking {
    fn new(package: Digest) -> Self {
        Self {
            package,
            learned: Cell::new(false),
        }
    }
}

impl Trust for Revoking {
    fn restore(&self, kept: Option<&str>) {
        self.learned.set(kept == Some("revoked"));
    }

    fn refresh(&self, _: &dyn Network, announced: Option<&Value>, keep: Keep<'_>) -> Result<(), String> {
        if announced.is_some() {
            self.learned.set(true);
            keep("revoked".to_owned()).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn query(&self) -> Vec<(&'static str, String)> {
        vec![("trust", "3.17".to_owned())]
    }

    fn permit(&self, offer: &Offer, running: &Running) -> Result<Permit, String> {
        if self.is_revoked(&offer.sha256) {
            Err("no target names it".to_owned())
        } else {
            ServerTrust.permit(offer, running)
        }
    }

    fn is_revoked(&self, package: &Digest) -> bool {
        self.learned.get() && *package == self.package
    }
}

#[test]
fn a_revoked_update_gives_way_at_the_next_start() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(1)));
    let mut offer = answer(&Update::number(1));
    (offer["trust"], offer["buildNumber"]) = (json!({"root": 3, "snapshot": 18}), json!("109"));
    server.says.replace(Some(offer.to_string()));
    let package = Update::number(1).sha256();
    trusting(&disk, &server, &Revoking::new(package), |device| {
        assert_eq!(start(device).content, slot(1));
        let refused = device.sync(&mut |_| ());
        assert!(matches!(refused, Err(SyncError::Refused(_))), "{refused:?}");
    });
    // Another process knows it from the disk alone.
    server.away.set(true);
    trusting(&disk, &server, &Revoking::new(package), |device| {
        assert_eq!(start(device).content, Content::Embedded);
    });
    server.away.set(false);
    trusting(&disk, &server, &Revoking::new(package), |device| {
        device.send_reports().unwrap()
    });
    assert_eq!(server.downloads().len(), 0);
    let reports = server.reports.borrow();
    assert!(
        reports.contains(&"rolled_back update_1 revoked".to_owned()),
        "{reports:?}"
    );
    assert!(
        reports
            .iter()
            .any(|report| report.starts_with("failed update_1 the update is refused")),
        "{reports:?}"
    );
    assert!(server.requests.borrow()[0].url.ends_with("&trust=3.17"));
}

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
