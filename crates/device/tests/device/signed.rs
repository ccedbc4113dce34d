//! An app with a root takes what its developers signed, and nothing else.

use std::cell::{Cell, RefCell};
use std::io::Cursor;

use launchway_delta::FileList;
use launchway_device::boot::{Content, Soundness};
use launchway_device::check::CheckError;
use launchway_device::ports::Clock;
use launchway_device::settings::Settings;
use launchway_device::slot::{InstallError, soundness};
use launchway_device::trust::TrustError;
use launchway_device::{Device, SyncError, SyncOutcome};
use launchway_domain::time::DAY;
use launchway_trust::Sha256;
use serde_json::json;

use crate::disk::Disk;
use crate::lives::{slot, start};
use crate::metadata::Developers;
use crate::phone::{Server, StoppedClock, Update, answer, process_of};

/// A clock that is set by tests, and during whose pauses something happens.
pub struct TestClock<'a> {
    pub now: Cell<u64>,
    pub pauses: RefCell<Vec<u64>>,
    meanwhile: &'a dyn Fn(),
}

impl<'a> TestClock<'a> {
    pub fn pausing(meanwhile: &'a dyn Fn()) -> Self {
        Self {
            now: Cell::new(StoppedClock.now()),
            pauses: RefCell::default(),
            meanwhile,
        }
    }

    pub fn days_later(days: u64) -> Self {
        let clock = Self::pausing(&|| ());
        clock.now.set(StoppedClock.now() + days * DAY.unsigned_abs());
        clock
    }
}

impl Clock for TestClock<'_> {
    fn now(&self) -> u64 {
        self.now.get()
    }

    fn pause(&self, milliseconds: u64) {
        self.pauses.borrow_mut().push(milliseconds);
        (self.meanwhile)();
    }
}

/// An app, its server with signed metadata and the offer of an update, and a phone on which it has started once.
pub fn installed(developers: &Developers, offered: u32) -> (Settings, Server, Disk) {
    let (app, server, disk) = (developers.app(), Server::offering(Update::number(offered)), Disk::new());
    developers.upload(&server);
    process_of(&app, &StoppedClock, &disk, &server, start);
    (app, server, disk)
}

pub fn sync(device: &Device<'_>) -> Result<SyncOutcome, SyncError> {
    device.sync(&mut |_| ())
}

/// The code of a refusal.
pub fn code(result: Result<SyncOutcome, SyncError>) -> String {
    match result {
        Err(SyncError::Unverified(TrustError::Offer(error))) => error.code().to_owned(),
        Err(SyncError::Unverified(TrustError::Metadata(error))) => {
            format!("{} {}", error.role, error.reason.code())
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn a_signed_update_is_installed() {
    let developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
        assert_eq!(start(device).content, slot(1));
        assert!(device.confirm().unwrap());
        assert!(matches!(sync(device), Ok(SyncOutcome::Nothing)));
    });
    let requests = server.requests.borrow();
    assert_eq!(
        requests[1].url,
        "https://host/tuf/com.example.app/trust?root=1&snapshot=0&configuration=production"
    );
}

#[test]
fn nothing_unsigned_is_taken_and_that_is_reported() {
    let developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 2);
    let clock = TestClock::pausing(&|| ());
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "not-signed");
        assert_eq!(start(device).content, Content::Embedded);
    });
    assert_eq!(*clock.pauses.borrow(), [3_000]);
    assert_eq!(server.downloads().len(), 0);
    let reports = server.reports.borrow();
    assert_eq!(
        *reports,
        ["failed update_2 cannot verify updates: not-signed: no role signed version 1.0.0 build 102"]
    );
    let requests = server.requests.borrow();
    let asks_the_server = |index: usize| {
        requests[index]
            .headers
            .contains(&("cache-control", "no-cache".to_owned()))
    };
    assert_eq!([0, 1, 2, 3].map(asks_the_server), [false, false, true, true]);
}

#[test]
fn a_server_without_metadata_gets_nothing_installed() {
    let developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    server.metadata.replace(None);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "timestamp missing");
    });
    assert_eq!(server.downloads().len(), 0);
}

#[test]
fn metadata_of_other_keys_is_refused() {
    let (mut developers, mut others) = (Developers::with_updates(&[1]), Developers::with_updates(&[1]));
    // The repository and the app are the same; only the keys differ.
    let (app, server, disk) = installed(&developers, 1);
    others.upload(&server);
    let refused = |expected: &str| {
        process_of(&app, &StoppedClock, &disk, &server, |device| {
            assert_eq!(code(sync(device)), expected);
        });
    };
    refused("timestamp too-few-signatures");
    others.repository.sign_root(&[]);
    others.upload(&server);
    refused("root too-few-signatures");
    developers.repository.sign_root(&[]);
    developers.upload(&server);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert!(matches!(sync(device), Ok(SyncOutcome::Staged(_))));
    });
}

#[test]
fn a_package_other_than_the_signed_one_is_refused() {
    let developers = Developers::with_updates(&[1]);
    let (app, server, disk) = installed(&developers, 1);
    let mut evil = Update::number(1);
    evil.bytes = Update::number(2).bytes;
    server.offer(evil);
    let clock = TestClock::pausing(&|| ());
    process_of(&app, &clock, &disk, &server, |device| {
        assert_eq!(code(sync(device)), "other-package");
    });
    assert_eq!(*clock.pauses.borrow(), [0_u64; 0], "time does not change that");
}

#[test]
fn files_other_than_the_signed_ones_never_become_a_slot() {
    let mut developers = Developers::with_updates(&[]);
    developers.sign_with(&Update::number(1), Sha256::of(b"another list"));
    let (app, server, disk) = installed(&developers, 1);
    // The server's own word on the files, which is right, does not count.
    let mut offer = answer(&Update::number(1));
    let list = FileList::of_archive(Cursor::new(Update::number(1).bytes)).unwrap();
    offer["manifest"] = json!(list.manifest().to_string());
    server.says.replace(Some(offer.to_string()));
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert!(matches!(
            sync(device),
            Err(SyncError::Install(InstallError::WrongFiles))
        ));
        let sound = soundness(&disk, Update::number(1).sha256(), "index.html", true).unwrap();
        assert_eq!(sound, Soundness::Incomplete);
        assert_eq!(start(device).content, Content::Embedded);
    });
}

#[test]
fn an_older_signed_update_is_refused_and_reported() {
    let developers = Developers::with_updates(&[1, 2]);
    let (app, server, disk) = installed(&developers, 2);
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        sync(device).unwrap();
        assert_eq!(start(device).content, slot(2));
        server.says.replace(Some(answer(&Update::number(1)).to_string()));
        let refused = sync(device);
        assert!(
            matches!(refused, Err(SyncError::Check(CheckError::NotNewer(_)))),
            "{refused:?}"
        );
    });
    let reports = server.reports.borrow();
    assert!(
        reports
            .iter()
            .any(|report| report.starts_with("failed update_1 not-newer: ")),
        "{reports:?}"
    );
}

#[test]
fn an_app_whose_root_is_damaged_takes_nothing() {
    let developers = Developers::with_updates(&[1]);
    let (mut app, server, disk) = installed(&developers, 1);
    app.trust.as_mut().unwrap().file.root.push('x');
    process_of(&app, &StoppedClock, &disk, &server, |device| {
        assert_eq!(start(device).content, Content::Embedded);
        assert_eq!(code(sync(device)), "root malformed");
    });
    assert_eq!(server.downloads().len(), 0);
}
