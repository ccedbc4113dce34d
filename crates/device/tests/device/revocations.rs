//! Updates that their developers revoked.

use launchway_device::SyncError;
use launchway_device::boot::Content;
use launchway_device::folder::Folder;
use launchway_device::ports::Storage;
use launchway_device::settings::Settings;

use crate::disk::Disk;
use crate::lives::{slot, start};
use crate::metadata::Developers;
use crate::phone::{Server, StoppedClock, Update, no_forks, process_of};

/// A phone on which the first two updates are good, the second one runs, and the server has revoked it.
fn revoked_by_role(disk: &dyn Storage) -> (Settings, Server) {
    let mut developers = Developers::with_updates(&[1, 2]);
    let (app, server) = (developers.app(), Server::offering(Update::number(1)));
    developers.upload(&server);
    process_of(&app, &StoppedClock, disk, &server, |device| {
        let _ = start(device);
        for number in [1, 2] {
            server.offer(Update::number(number));
            device.sync(&mut |_| ()).unwrap();
            assert_eq!(start(device).content, slot(number));
            assert!(device.confirm().unwrap());
        }
    });
    developers.revoke(2);
    developers.upload(&server);
    (app, server)
}

#[test]
fn a_revoked_update_gives_way_at_the_next_start() {
    let disk = Disk::new();
    let (app, server) = revoked_by_role(&disk);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(start(device).content, slot(2), "nobody has told the phone");
        device.sync(&mut |_| ()).unwrap();
    });
    // Another process knows it only from the disk.
    server.away.set(true);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(start(device).content, slot(1));
    });
    server.away.set(false);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        device.send_reports().unwrap();
    });
    let reports = server.reports.borrow();
    assert!(
        reports.contains(&"rolled_back update_2 revoked".to_owned()),
        "{reports:?}"
    );
}

#[test]
fn a_check_alone_learns_of_revocations() {
    let disk = Disk::new();
    let (app, server) = revoked_by_role(&disk);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        let _ = start(device);
        device.check().unwrap();
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn a_revoked_update_is_not_installed_anew() {
    let disk = Disk::new();
    let (app, server) = revoked_by_role(&disk);
    let mut again = Update::number(2);
    again.build += 100;
    server.offer(again);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        let _ = start(device);
        let refused = device.sync(&mut |_| ());
        assert!(matches!(refused, Err(SyncError::Unverified(_))), "{refused:?}");
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn a_staged_update_that_is_revoked_never_starts() {
    let disk = Disk::new();
    let mut developers = Developers::with_updates(&[1]);
    let (app, server) = (developers.app(), Server::offering(Update::number(1)));
    developers.upload(&server);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        let _ = start(device);
        device.sync(&mut |_| ()).unwrap();
    });
    developers.revoke(1);
    developers.upload(&server);
    server.offer.replace(None);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        device.sync(&mut |_| ()).unwrap();
        assert_eq!(start(device).content, Content::Embedded);
    });
}

#[test]
fn a_binary_that_revokes_an_update_does_not_start_it() {
    let disk = Disk::new();
    let (mut app, server) = revoked_by_role(&disk);
    let revoked = launchway_trust::Sha256::of(&Update::number(2).bytes);
    app.trust.as_mut().unwrap().file.revoked.insert(revoked);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(start(device).content, slot(1));
    });
}

#[test]
fn a_second_process_does_not_start_what_was_revoked() {
    let _alone = no_forks();
    let folder = tempfile::tempdir().unwrap();
    let disk = Folder::open(folder.path()).unwrap();
    let (app, server) = revoked_by_role(&disk);
    process_of(&app, &StoppedClock, &disk, &server, |main| {
        assert_eq!(start(main).content, slot(2));
        let second = || process_of(&app, &StoppedClock, &disk, &server, start).content;
        assert_eq!(second(), slot(2));
        main.sync(&mut |_| ()).unwrap();
        assert_eq!(second(), Content::Embedded);
        assert_eq!(start(main).content, slot(1));
        assert_eq!(second(), slot(1));
    });
}
