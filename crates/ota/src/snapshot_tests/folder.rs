//! The folder of a running node: its files are deleted, cannot be deleted, or say only that something changed.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use launchway_domain::time::{HOUR, SECOND};

use super::disk::{Fault, MemoryDisk};
use super::{JOURNAL, KEYS, NOW, SEAL_ONE, SNAPSHOT, offered, restored, start, update};
use crate::snapshot::{Entry, Row, SnapshotError};

/// A part of what changed was recorded, and then the database went away for hours.
#[test]
fn a_recorded_change_makes_a_snapshot_no_younger() {
    let disk = MemoryDisk::default();
    let kept = start(&disk);
    kept.save(&[], 1);
    kept.keeper.beat(NOW + SECOND);
    kept.clock.0.store(NOW + HOUR, Ordering::Relaxed);
    kept.keeper.record(&[Entry::new(KEYS[0], &Vec::new())], 2);
    assert_eq!(kept.keeper.saved_until(), Some(NOW + SECOND));
    let next = start(&disk);
    next.clock.0.store(NOW + HOUR, Ordering::Relaxed);
    assert_eq!(next.find(SEAL_ONE).unwrap().unwrap().time, NOW + SECOND);
}

#[test]
fn files_that_somebody_deletes_are_written_again() {
    for file in [SNAPSHOT, JOURNAL] {
        let disk = MemoryDisk::default();
        let kept = start(&disk);
        kept.save(&[], 1);
        kept.keeper.beat(NOW);
        assert!(!kept.keeper.is_due("sealed"));
        disk.delete(file);
        kept.keeper.beat(NOW + SECOND);
        assert!(kept.keeper.is_due("sealed"), "{file}");
        assert_eq!(kept.keeper.saved_until(), None);
        kept.save(&[], 1);
        assert!(!kept.keeper.is_due("sealed"));
        assert!(start(&disk).find(SEAL_ONE).unwrap().is_some());
    }
}

#[test]
fn a_snapshot_that_cannot_be_removed_is_emptied() {
    let disk = MemoryDisk::default();
    let kept = start(&disk);
    kept.save(&[], 1);
    disk.fault_after(0, Fault::Fails);
    kept.keeper.give_up();
    assert_eq!(disk.get(SNAPSHOT), Some(Vec::new()));
    assert!(matches!(start(&disk).find(SEAL_ONE), Err(SnapshotError::Damaged(_))));
}

#[test]
fn a_bundle_with_an_unread_change_offers_nothing() {
    let rows = |place| vec![Row::Offered(Box::new(update(place)))];
    let disk = MemoryDisk::default();
    let kept = start(&disk);
    kept.save(&rows(1), 5);
    let ids = || offered(&restored(&disk).unwrap());
    let unread = |revision| kept.keeper.record_unread(&[(KEYS[0].to_owned(), revision)]);
    // The snapshot has this change already.
    unread(5);
    assert_eq!(ids(), BTreeSet::from([update(1).id]));
    unread(6);
    assert_eq!(ids(), BTreeSet::new());
    kept.keeper.record(&[Entry::new(KEYS[0], &rows(2))], 6);
    assert_eq!(ids(), BTreeSet::from([update(2).id]));
    // Another change was read with a later revision.
    kept.keeper.record(&[Entry::new(KEYS[1], &Vec::new())], 9);
    unread(8);
    assert_eq!(ids(), BTreeSet::new());
}
