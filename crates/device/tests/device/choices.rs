//! An app can download an update first and choose later, sees what is installed, and learns what failed.

use launchway_device::boot::{Content, Ending};
use launchway_device::state::SlotRecord;
use launchway_device::{Device, Mark, SyncError, SyncOutcome};

use crate::disk::Disk;
use crate::lives::{slot, start, with_first_update};
use crate::phone::{Server, Update, launch, process, zip_of};

fn ids(slots: &[SlotRecord]) -> Vec<&str> {
    slots.iter().map(|slot| &*slot.update_id).collect()
}

fn download(device: &Device<'_>) -> SyncOutcome {
    device.download(&mut |_| ()).unwrap()
}

#[test]
fn a_downloaded_update_waits_until_it_is_chosen() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    process(&disk, &server, |device| {
        let _ = start(device);
        assert!(matches!(download(device), SyncOutcome::Downloaded(_)));
        assert_eq!(start(device).content, Content::Embedded);
        assert!(matches!(download(device), SyncOutcome::Downloaded(_)));
        assert_eq!(server.downloads().len(), 1);
        assert_eq!(*server.reports.borrow(), ["downloaded update_1"]);
        assert_eq!(ids(&device.list().unwrap()), ["update_1"]);
        assert_eq!(device.next("update_1").unwrap().unwrap().update_id, "update_1");
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn a_round_after_a_download_makes_it_next() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    process(&disk, &server, |device| {
        let _ = start(device);
        download(device);
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
        assert_eq!(server.downloads().len(), 1);
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn the_newest_download_stays_however_many_are_needed() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(2)));
    process(&disk, &server, |device| {
        let _ = start(device);
        device.sync(&mut |_| ()).unwrap();
        let _ = start(device);
        assert!(device.confirm().unwrap());
        server.offer(Update::number(3));
        download(device);
        server.offer.replace(None);
        device.sync(&mut |_| ()).unwrap();
        assert_eq!(ids(&device.list().unwrap()), ["update_1", "update_2", "update_3"]);
        assert!(device.next("update_3").unwrap().is_some());
        assert_eq!(start(device).content, slot(3));
        assert!(device.confirm().unwrap());
        device.sync(&mut |_| ()).unwrap();
        assert_eq!(ids(&device.list().unwrap()), ["update_2", "update_3"]);
    });
}

#[test]
fn only_whole_packages_can_be_chosen() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(2)));
    process(&disk, &server, |device| {
        let _ = start(device);
        download(device);
        for id in ["update_9", "embedded:1", ""] {
            assert_eq!(device.next(id).unwrap(), None, "{id}");
        }
        disk.put(&format!("slots/{}/.complete", Update::number(2).sha256()), b"");
        assert_eq!(device.next("update_2").unwrap(), None);
        assert_eq!(ids(&device.list().unwrap()), ["update_1"]);
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn what_failed_cannot_be_chosen_again() {
    let (disk, server) = (with_first_update(), Server::offering(Update::number(2)));
    process(&disk, &server, |device| {
        let _ = start(device);
        assert_eq!(device.failed().unwrap(), None);
        device.sync(&mut |_| ()).unwrap();
        let _ = start(device);
        device.mark(Mark::Crash(None)).unwrap();
        assert_eq!(device.start(&launch(Ending::Crash)).content, slot(1));
        assert_eq!(device.next("update_2").unwrap(), None);
        let failed = device.failed().unwrap().unwrap();
        assert_eq!((&*failed.update_id, &*failed.reason), ("update_2", "crashed"));
        let mut newer = launch(Ending::Explained);
        newer.binary.code = "2".to_owned();
        let _ = device.start(&newer);
        assert_eq!(
            device.failed().unwrap(),
            None,
            "a new binary may bring what was missing"
        );
        assert_eq!(device.list().unwrap(), []);
    });
}

#[test]
fn an_update_that_could_not_be_installed_is_remembered() {
    let mut bad = Update::number(1);
    bad.bytes = zip_of(&[("index.html", b"x"), ("lib.so", b"x")]);
    let (disk, server) = (Disk::new(), Server::offering(bad));
    process(&disk, &server, |device| {
        let _ = start(device);
        let error = device.sync(&mut |_| ()).unwrap_err();
        let failed = device.failed().unwrap().unwrap();
        assert_eq!((&*failed.update_id, failed.reason), ("update_1", error.to_string()));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Quarantined(_))));
    });
}

#[test]
fn a_failure_is_forgotten_when_the_update_is_installed() {
    let (disk, server) = (Disk::new(), Server::offering(Update::number(1)));
    disk.set_free(8 << 20);
    process(&disk, &server, |device| {
        let _ = start(device);
        assert!(matches!(device.sync(&mut |_| ()), Err(SyncError::Download(_))));
        assert_eq!(device.failed().unwrap().unwrap().update_id, "update_1");
        disk.set_free(1 << 30);
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Staged(_))));
        assert_eq!(device.failed().unwrap(), None);
    });
}

#[test]
fn a_state_of_an_earlier_client_has_no_failure() {
    let (disk, server) = (with_first_update(), Server::default());
    let state = String::from_utf8(disk.bytes("state.json").unwrap()).unwrap();
    disk.put("state.json", state.replace("\"failed\":null,", "").as_bytes());
    process(&disk, &server, |device| assert_eq!(start(device).content, slot(1)));
    disk.put(
        "state.json",
        state.replace("\"failed\":null", "\"failed\":{}").as_bytes(),
    );
    process(&disk, &server, |device| assert!(start(device).problem.is_some()));
}
