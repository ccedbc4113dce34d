//! How a device renews its metadata: when, from servers that lag, freeze or fail, and after a long time.

use launchway_device::boot::Content;
use launchway_device::check::CheckError;
use launchway_device::ports::Clock;
use launchway_device::{SyncError, SyncOutcome};
use launchway_domain::time::DAY;

use crate::lives::{slot, start};
use crate::metadata::{Developers, MetadataTrouble};
use crate::phone::{Server, StoppedClock, Update, process_of};
use crate::signed::{TestClock, code, installed, sync};

fn metadata_requests(server: &Server) -> usize {
    let requests = server.requests.borrow();
    requests.iter().filter(|request| request.url.contains("/tuf/")).count()
}

#[test]
fn nodes_that_differ_for_a_moment_are_asked_again() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 2);
    developers.sign(&Update::number(2));
    let follow = || developers.upload(&server);
    let clock = TestClock::pausing(&follow);
    process_of(&app, &clock, &disk, &server, |device| {
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
        assert_eq!(start(device).content, slot(2));
    });
    assert_eq!(*clock.pauses.borrow(), [3_000]);
}

#[test]
fn an_older_timestamp_is_asked_again_then_refused() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    let old = server.metadata.borrow().clone();
    developers.sign(&Update::number(2));
    developers.upload(&server);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        server.offer(Update::number(2));
        server.metadata.replace(old);
    });
    // A day later the server still has what it had before.
    let clock = TestClock::days_later(1);
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "timestamp rollback");
        assert_eq!(*clock.pauses.borrow(), [3_000]);
        assert_eq!(start(device).content, slot(1), "what was staged stays");
    });
}

#[test]
fn expired_metadata_brings_nothing_and_stops_nothing() {
    let developers = Developers::with_updates(&[1, 2]);
    let (app, server, disk) = installed(&developers, 1);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        assert_eq!(start(device).content, slot(1));
        assert!(device.confirm().unwrap());
    });
    server.offer(Update::number(2));
    let clock = TestClock::days_later(8);
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "timestamp expired");
        assert_eq!(start(device).content, slot(1));
    });
    // A freeze is noticed without an offer, too.
    server.offer(Update::number(1));
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "timestamp expired");
    });
}

#[test]
fn a_clock_that_is_set_back_makes_nothing_valid() {
    let developers = Developers::with_updates(&[1]);
    let (mut app, server, disk) = installed(&developers, 1);
    let clock = TestClock::days_later(0);
    clock.now.set(0);
    app.trust.as_mut().unwrap().built_at = StoppedClock.now() + 8 * DAY.unsigned_abs();
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "timestamp expired");
    });
    app.trust.as_mut().unwrap().built_at = StoppedClock.now();
    process_of(&app, &clock, &disk, &server, |device| {
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
    });
}

#[test]
fn metadata_is_fetched_when_it_is_newer_and_daily() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    server.offer.replace(None);
    let fetched = |clock: &TestClock<'_>, server: &Server| {
        let before = metadata_requests(server);
        process_of(&app, clock, &disk, server, |device| drop(sync(device).unwrap()));
        metadata_requests(server) - before
    };
    assert_eq!(fetched(&TestClock::days_later(0), &server), 1);
    assert_eq!(fetched(&TestClock::days_later(0), &server), 0);
    assert_eq!(fetched(&TestClock::days_later(1), &server), 1);
    developers.sign(&Update::number(2));
    developers.upload(&server);
    assert_eq!(fetched(&TestClock::days_later(1), &server), 1);
    assert_eq!(fetched(&TestClock::days_later(1), &server), 0);
}

#[test]
fn metadata_is_fetched_though_the_check_is_malformed() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        assert_eq!(start(device).content, slot(1));
    });
    developers.revoke(1);
    developers.upload(&server);
    server.says.replace(Some("garbage".to_owned()));
    process_of(&app, &TestClock::days_later(1), &disk, &server, |device| {
        assert!(matches!(sync(device), Err(SyncError::Check(CheckError::Malformed(_)))));
        assert_eq!(start(device).content, Content::Embedded);
    });
}

#[test]
fn files_are_fetched_one_by_one_where_there_is_no_more() {
    let mut developers = Developers::with_updates(&[1]);
    developers.repository.sign_root(&[]);
    developers.repository.publish();
    let (app, server, disk) = installed(&developers, 1);
    server.metadata.borrow_mut().as_mut().unwrap().trouble = Some(MetadataTrouble::FilesOnly);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
    });
    let requests = server.requests.borrow();
    let files = requests
        .iter()
        .filter_map(|request| request.url.split_once("/tuf/com.example.app/"));
    let names: Vec<&str> = files
        .map(|(_, file)| file.split_once('.').map_or(file, |(_, name)| name))
        .collect();
    assert_eq!(
        names[1..],
        [
            "root.json",
            "root.json",
            "json",
            "snapshot.json",
            "targets.json",
            "c-production.json"
        ]
    );
}

#[test]
fn servers_that_fail_bring_nothing_and_are_not_reported() {
    let developers = Developers::with_updates(&[1]);
    for (trouble, expected) in [
        (MetadataTrouble::Status(500), "status 500"),
        (MetadataTrouble::Status(302), "status 302"),
        (MetadataTrouble::Garbage, "malformed"),
        (MetadataTrouble::Endless, "malformed"),
    ] {
        let (app, server, disk) = installed(&developers, 1);
        server.metadata.borrow_mut().as_mut().unwrap().trouble = Some(trouble);
        process_of(&app, &StoppedClock, &disk, &server, |device| {
            let refused = sync(device).unwrap_err();
            assert!(
                matches!(&refused, SyncError::Unverified(_)) && refused.to_string().contains(expected),
                "{trouble:?}: {refused}"
            );
        });
        let is_refusal = expected == "malformed";
        assert_eq!(server.reports.borrow().is_empty(), !is_refusal, "{trouble:?}");
        server.metadata.borrow_mut().as_mut().unwrap().trouble = None;
        process_of(&app, &StoppedClock, &disk, &server, |device| {
            assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
        });
    }
}

#[test]
fn a_device_off_for_three_years_takes_the_next_update() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        assert_eq!(start(device).content, slot(1));
        assert!(device.confirm().unwrap());
    });
    let repository = &mut developers.repository;
    repository.now += 3 * 365 * DAY;
    repository.root_expires = repository.now + 365 * DAY;
    for _ in 0..20 {
        repository.sign_root(&[]);
    }
    repository.sign_targets();
    developers.sign(&Update::number(2));
    developers.upload(&server);
    server.offer(Update::number(2));
    process_of(&app, &TestClock::days_later(3 * 365), &disk, &server, |device| {
        assert_eq!(start(device).content, slot(1), "the root has expired, the app runs");
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
        assert_eq!(start(device).content, slot(2));
    });
}

#[test]
fn a_restored_phone_catches_up() {
    let mut developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        assert_eq!(start(device).content, slot(1));
        assert!(device.confirm().unwrap());
    });
    let backup = disk.copy();
    developers.repository.replace_online_key();
    developers.sign(&Update::number(2));
    developers.revoke(1);
    developers.upload(&server);
    server.offer(Update::number(2));
    for disk in [disk, backup] {
        process_of(&app, &StoppedClock, &disk, &server, |device| {
            assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
            assert_eq!(start(device).content, slot(2));
            assert!(device.confirm().unwrap());
        });
    }
}

#[test]
fn a_newer_binary_keeps_what_was_learned() {
    let mut developers = Developers::with_updates(&[1]);
    let (mut app, server, disk) = installed(&developers, 1);
    let old = server.metadata.borrow().clone();
    developers.sign(&Update::number(2));
    developers.upload(&server);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        drop(sync(device).unwrap())
    });
    // The binary carries the first root; the server goes back to what it had.
    app.trust.as_mut().unwrap().built_at += 1;
    server.metadata.replace(old);
    let mut newer = crate::phone::launch(launchway_device::boot::Ending::Explained);
    newer.binary.code = "50".to_owned();
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(device.start(&newer).content, Content::Embedded);
        assert_eq!(code(sync(device)), "timestamp rollback");
    });
}
