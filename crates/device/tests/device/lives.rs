//! Whole days of a phone, with its reports, and the states in which it may be.

use launchway_delta::Digest;
use launchway_device::boot::{Content, Ending};
use launchway_device::folder::Folder;
use launchway_device::ports::Storage;
use launchway_device::slot::InstallError;
use launchway_device::{Device, Launch, Mark, StartOutcome, SyncError, SyncOutcome};
use serde_json::json;

use crate::disk::{Disk, Fault};
use crate::phone::{Server, Update, answer, files, launch, no_forks, process};

pub fn start(device: &Device<'_>) -> StartOutcome {
    device.start(&launch(Ending::Explained))
}

pub fn slot(number: u32) -> Content {
    Content::Slot(Update::number(number).sha256())
}

/// A good update, a bad one, and the following one.
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
            let followed = start(other);
            assert_eq!(
                (followed.content, followed.folder),
                (began.content, began.folder.clone())
            );
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
pub fn with_first_update() -> Disk {
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
