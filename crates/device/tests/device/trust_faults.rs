//! The storage fails, or the process dies, at each call while metadata is stored: what was learned is never lost, and the
//! phone catches up.

use launchway_device::SyncOutcome;
use launchway_device::boot::Content;
use launchway_device::settings::Settings;

use crate::disk::{ALL_DEATHS, Disk, Fault};
use crate::lives::{slot, start};
use crate::metadata::{Developers, MetadataFiles, MetadataTrouble};
use crate::phone::{Server, StoppedClock, Update, process_of};

/// The metadata before and after the second update was signed and the first one revoked.
struct Story {
    app: Settings,
    before: MetadataFiles,
    after: MetadataFiles,
}

impl Story {
    fn new() -> Self {
        let mut developers = Developers::with_updates(&[1]);
        let app = developers.app();
        let files = |developers: &Developers| MetadataFiles {
            files: developers.repository.files.clone(),
            // More calls, and so more moments to fail at.
            trouble: Some(MetadataTrouble::FilesOnly),
        };
        let before = files(&developers);
        developers.repository.sign_root(&[]);
        developers.sign(&Update::number(2));
        developers.revoke(1);
        let after = files(&developers);
        Self { app, before, after }
    }

    fn server(&self, metadata: &MetadataFiles, offered: u32) -> Server {
        let server = Server::offering(Update::number(offered));
        server.metadata.replace(Some(metadata.clone()));
        server
    }

    /// A phone on which the first update is good.
    fn phone(&self) -> Disk {
        let (disk, server) = (Disk::new(), self.server(&self.before, 1));
        process_of(&self.app, &StoppedClock, &disk, &server, |device| {
            let _ = start(device);
            device.sync(&mut |_| ()).unwrap();
            let _ = start(device);
            assert!(device.confirm().unwrap());
        });
        disk
    }

    /// One round and the next start. Returns whether the round was undisturbed, and what runs.
    fn round(&self, disk: &Disk, server: &Server) -> (bool, Content) {
        let synced = process_of(&self.app, &StoppedClock, disk, server, |device| {
            device.sync(&mut |_| ()).is_ok()
        });
        let content = process_of(&self.app, &StoppedClock, disk, server, start).content;
        (synced, content)
    }

    /// Whatever was left, the phone gets the second update, and never goes back to the revoked one.
    fn catches_up(&self, disk: &Disk, knows: bool, what: &str) {
        let server = self.server(&self.after, 2);
        let first = process_of(&self.app, &StoppedClock, disk, &server, start).content;
        assert!(!knows || first != slot(1), "{what}: the revoked update runs");
        for _ in 0..3 {
            let (synced, content) = self.round(disk, &server);
            assert!(synced, "{what}");
            if content == slot(2) {
                let nothing = process_of(&self.app, &StoppedClock, disk, &server, |device| {
                    assert!(device.confirm().unwrap(), "{what}");
                    device.sync(&mut |_| ())
                });
                assert!(matches!(nothing, Ok(SyncOutcome::Nothing)), "{what}: {nothing:?}");
                return;
            }
        }
        panic!("{what}: the second update never runs");
    }
}

#[test]
fn a_failure_at_any_call_loses_no_revocation() {
    let story = Story::new();
    let phone = story.phone();
    let whole = phone.copy();
    // No offer: the round does nothing but learn.
    assert_eq!(
        story.round(&whole, &story.server(&story.after, 1)),
        (true, Content::Embedded)
    );
    for call in 1..=whole.calls() {
        let disk = phone.with_fault(call, Fault::Fails);
        let (synced, _) = story.round(&disk, &story.server(&story.after, 1));
        story.catches_up(&disk.copy(), synced, &format!("failure at call {call}"));
    }
}

#[test]
fn a_death_at_any_call_loses_no_revocation() {
    let story = Story::new();
    let phone = story.phone();
    let whole = phone.copy();
    story.round(&whole, &story.server(&story.after, 1));
    let calls = whole.calls();
    assert!(calls > 30, "{calls} calls");
    for call in 1..=calls {
        let disk = phone.with_fault(call, Fault::Dies);
        let (synced, _) = story.round(&disk, &story.server(&story.after, 1));
        for leaves in ALL_DEATHS {
            let what = format!("death at call {call}, {leaves:?}");
            story.catches_up(&disk.after_death(leaves), synced, &what);
        }
    }
}

#[test]
fn what_was_learned_before_a_refusal_is_kept() {
    let story = Story::new();
    let disk = story.phone();
    // The server hides the role that revokes: the rest is learned, and cannot be taken back.
    let mut hiding = story.after.clone();
    hiding.files.retain(|name, _| !name.ends_with(".c-production.json"));
    let (synced, content) = story.round(&disk, &story.server(&hiding, 1));
    assert_eq!((synced, content), (false, slot(1)));
    let (synced, content) = story.round(&disk, &story.server(&story.before, 2));
    assert_eq!((synced, content), (false, slot(1)), "the older timestamp is refused");
    story.catches_up(&disk, false, "after the lies");
}
