//! The storage fails, or the process dies, at each call of download, installation and switch: the next start returns
//! complete content, and the phone reaches its target.

use launchway_device::boot::{Content, Ending};
use launchway_device::{Device, Mark, StartOutcome, SyncOutcome};

use crate::disk::{ALL_DEATHS, Disk, Fault};
use crate::phone::{Server, Trouble, Update, files, launch, process};

/// The content returned by a start is complete: the embedded app, or all files of one version and no others.
fn assert_whole(disk: &Disk, started: &StartOutcome, what: &str) {
    let Some(folder) = &started.folder else { return };
    let found = disk.files_below(folder);
    assert!(
        [1, 2].iter().any(|version| found == files(*version)),
        "{what}: {:?}",
        found.keys()
    );
}

fn runs(started: &StartOutcome, number: u32) -> bool {
    started.content == Content::Slot(Update::number(number).sha256())
}

/// A start with a window whose content is checked.
fn start(device: &Device<'_>, disk: &Disk, ending: Ending, what: &str) -> StartOutcome {
    let started = device.start(&launch(ending));
    if !disk.is_dead() {
        assert_whole(disk, &started, what);
    }
    started
}

/// Two updates, one after the other; the first download breaks once.
fn two_updates(disk: &Disk, what: &str) {
    let server = Server::offering(Update::number(1));
    server.troubles.borrow_mut().push(Trouble::Breaks(200));
    process(disk, &server, |device| {
        start(device, disk, Ending::Explained, what);
        let _ = device.sync(&mut |_| ());
        start(device, disk, Ending::Explained, what);
        let _ = device.confirm();
        server.offer(Update::number(2));
        let _ = device.sync(&mut |_| ());
        start(device, disk, Ending::Explained, what);
        let _ = device.confirm();
        let _ = device.sync(&mut |_| ());
    });
}

/// Continues until no work is left, and ends with the second update.
fn settles_on_the_second_update(disk: &Disk, what: &str) {
    let server = Server::offering(Update::number(2));
    for _ in 0..6 {
        let done = process(disk, &server, |device| {
            let started = start(device, disk, Ending::Explained, what);
            device.confirm().unwrap();
            let synced = device.sync(&mut |_| ());
            runs(&started, 2) && matches!(synced, Ok(SyncOutcome::Nothing))
        });
        if done {
            let state = process(disk, &server, |device| device.status().unwrap().unwrap().state);
            assert!(!state.boot.trial, "{what}");
            assert_eq!(disk.files_below("tmp").len(), 0, "{what}: partial files stay");
            return;
        }
    }
    panic!("{what}: the second update never runs");
}

#[test]
fn after_a_death_at_any_call_the_update_arrives_whole() {
    let whole = Disk::new();
    two_updates(&whole, "undisturbed");
    let calls = whole.calls();
    assert!(calls > 300, "{calls} calls");
    for call in 1..=calls {
        let disk = Disk::new().with_fault(call, Fault::Dies);
        two_updates(&disk, "before the death");
        assert!(disk.is_dead());
        for leaves in ALL_DEATHS {
            let what = format!("death at call {call}, {leaves:?}");
            settles_on_the_second_update(&disk.after_death(leaves), &what);
        }
    }
}

#[test]
fn after_a_failure_at_any_call_the_update_arrives_whole() {
    let whole = Disk::new();
    two_updates(&whole, "undisturbed");
    for call in 1..=whole.calls() {
        let what = format!("failure at call {call}");
        let disk = Disk::new().with_fault(call, Fault::Fails);
        two_updates(&disk, &what);
        settles_on_the_second_update(&disk.copy(), &what);
    }
}

/// A disk on which the first update is good and the second, which crashes, is staged.
fn before_a_bad_update() -> Disk {
    let disk = Disk::new();
    let server = Server::offering(Update::number(1));
    process(&disk, &server, |device| {
        let _ = device.start(&launch(Ending::Explained));
        device.sync(&mut |_| ()).unwrap();
        let _ = device.start(&launch(Ending::Explained));
        assert!(device.confirm().unwrap());
        server.offer(Update::number(2));
        device.sync(&mut |_| ()).unwrap();
    });
    disk
}

/// Returns whether the crash reached the disk.
fn crash_and_come_back(disk: &Disk, what: &str) -> bool {
    let server = Server::offering(Update::number(2));
    let marked = process(disk, &server, |device| {
        let started = start(device, disk, Ending::Explained, what);
        runs(&started, 2) && device.mark(Mark::Crash(Some("at app.js:1".to_owned()))).is_ok()
    });
    process(disk, &server, |device| start(device, disk, Ending::Unexplained, what));
    marked
}

#[test]
fn a_death_at_any_call_of_a_roll_back_ends_on_the_good_update() {
    let staged = before_a_bad_update();
    let whole = staged.copy();
    crash_and_come_back(&whole, "undisturbed");
    for call in 1..=whole.calls() {
        let disk = staged.with_fault(call, Fault::Dies);
        let marked = crash_and_come_back(&disk, "before the death");
        for leaves in ALL_DEATHS {
            ends_on_the_good_update(
                &disk.after_death(leaves),
                marked,
                &format!("death at call {call}, {leaves:?}"),
            );
        }
    }
}

#[test]
fn a_failure_in_a_roll_back_ends_on_the_good_update() {
    let staged = before_a_bad_update();
    let whole = staged.copy();
    crash_and_come_back(&whole, "undisturbed");
    for call in 1..=whole.calls() {
        let disk = staged.with_fault(call, Fault::Fails);
        let marked = crash_and_come_back(&disk, "failure");
        ends_on_the_good_update(&disk.copy(), marked, &format!("failure at call {call}"));
    }
}

/// The bad update crashes whenever it runs: never again once a crash is on the disk, otherwise one last time.
fn ends_on_the_good_update(disk: &Disk, marked: bool, what: &str) {
    let server = Server::offering(Update::number(2));
    let (mut ending, mut crashes) = (Ending::Explained, 0);
    for _ in 0..6 {
        process(disk, &server, |device| {
            let started = start(device, disk, ending, what);
            ending = Ending::Explained;
            if runs(&started, 2) {
                crashes += 1;
                device.mark(Mark::Crash(None)).unwrap();
                ending = Ending::Crash;
            }
        });
    }
    assert!(crashes <= u32::from(!marked), "{what}: crashed {crashes} times");
    process(disk, &server, |device| {
        let started = start(device, disk, Ending::Explained, what);
        assert!(runs(&started, 1), "{what}: {started:?}");
        let synced = device.sync(&mut |_| ()).unwrap();
        assert!(matches!(synced, SyncOutcome::Quarantined(_)), "{what}: {synced:?}");
    });
}

#[test]
fn a_trial_that_cannot_be_recorded_does_not_run() {
    let staged = before_a_bad_update();
    let server = Server::offering(Update::number(2));
    let whole = staged.copy();
    process(&whole, &server, |device| {
        assert!(runs(&device.start(&launch(Ending::Explained)), 2))
    });
    let mut recorded = 0;
    for call in 1..=whole.calls() {
        let disk = staged.with_fault(call, Fault::Fails);
        let started = process(&disk, &server, |device| device.start(&launch(Ending::Explained)));
        let boot = disk.bytes("boot.json").unwrap();
        let second = Update::number(2).sha256().to_string();
        let on_disk = String::from_utf8(boot).unwrap().contains(&second);
        assert!(on_disk || !runs(&started, 2), "call {call}");
        recorded += u32::from(runs(&started, 2));
    }
    assert!(recorded < whole.calls() as u32 / 2, "{recorded}");
}

#[test]
fn what_stands_in_for_a_trial_confirms_nothing() {
    let trial = before_a_bad_update();
    let server = Server::offering(Update::number(2));
    process(&trial, &server, |device| {
        assert!(runs(&device.start(&launch(Ending::Explained)), 2));
    });
    let whole = trial.copy();
    process(&whole, &server, |device| device.start(&launch(Ending::Unexplained)));
    let mut stand_ins = 0;
    for call in 1..=whole.calls() {
        let disk = trial.with_fault(call, Fault::Fails);
        process(&disk, &server, |device| {
            let started = device.start(&launch(Ending::Unexplained));
            assert_eq!(started.recorded, runs(&started, 2), "call {call}");
            if started.recorded {
                return;
            }
            stand_ins += 1;
            let before = disk.bytes("boot.json");
            assert!(!device.confirm().unwrap(), "call {call}");
            device.mark(Mark::Hang).unwrap();
            device.mark(Mark::Crash(Some("at app.js:1".to_owned()))).unwrap();
            assert_eq!(disk.bytes("boot.json"), before, "call {call}");
            assert!(device.status().unwrap().unwrap().state.boot.trial, "call {call}");
        });
    }
    assert!(stand_ins > 2, "{stand_ins}");
}
