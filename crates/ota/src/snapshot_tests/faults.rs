//! A process ends, or the disk fails, at each operation of a history: what was known to be withdrawn is never offered.

use std::collections::BTreeSet;

use launchway_domain::id::UpdateId;

use super::disk::{Fault, MemoryDisk};
use super::{Kept, SEAL_ONE, offered, seal, start, update};
use crate::snapshot::{Entry, Row};

/// Updates of one bundle, and what this node knows of them.
struct Node {
    kept: Kept,
    disk: MemoryDisk,
    offered: BTreeSet<u32>,
    /// What was served as withdrawn.
    withdrawn: BTreeSet<u32>,
    revision: i64,
}

impl Node {
    fn new(disk: &MemoryDisk) -> Node {
        Node {
            kept: start(disk),
            disk: disk.clone(),
            offered: BTreeSet::from([0, 1]),
            withdrawn: BTreeSet::new(),
            revision: 1,
        }
    }

    fn rows(&self) -> Vec<Row> {
        let rows = self.offered.iter().map(|place| Row::Offered(Box::new(update(*place))));
        rows.collect()
    }

    /// What follows a change in the database: it is recorded, then served.
    fn follow(&mut self, change: impl FnOnce(&mut BTreeSet<u32>)) {
        let before = self.offered.clone();
        change(&mut self.offered);
        self.revision += 1;
        if self.kept.keeper.is_recording() {
            let entry = Entry::new(&update(0).bundle_id, &self.rows());
            self.kept.keeper.record(&[entry], self.revision);
        }
        if !self.disk.is_dead() {
            self.withdrawn.extend(before.difference(&self.offered));
        }
    }

    fn save(&mut self, changes: &[fn(&mut BTreeSet<u32>)]) {
        // The save is finished by a node that has changed meanwhile.
        let keeper = self.kept.keeper.clone();
        let Ok(save) = keeper.begin_save(&seal(SEAL_ONE)) else {
            return;
        };
        let (rows, revision) = (self.rows(), self.revision);
        changes.iter().for_each(|change| self.follow(change));
        if let Ok(mut writer) = save.writer(revision) {
            rows.iter().for_each(|row| writer.take(row));
            // The snapshot before it stays.
            let _ = save.finish(writer);
        }
    }
}

/// A history with two snapshots, changes before, during and after them, and a quiet moment.
fn live(node: &mut Node) {
    node.save(&[]);
    node.follow(|offered| _ = offered.remove(&0));
    node.kept.keeper.beat(super::NOW + 5);
    node.follow(|offered| _ = offered.insert(2));
    node.save(&[|offered| _ = offered.remove(&2), |offered| _ = offered.insert(3)]);
    node.follow(|offered| _ = offered.remove(&3));
}

/// What the next process offers; `None` if it does not start from the snapshot.
fn next_start(disk: &MemoryDisk) -> Option<BTreeSet<UpdateId>> {
    let kept = start(disk);
    let found = kept.find(SEAL_ONE).ok()??;
    Some(offered(&kept.read(&found).expect("a snapshot that was verified")))
}

fn ids(places: impl IntoIterator<Item = u32>) -> BTreeSet<UpdateId> {
    places.into_iter().map(|place| update(place).id).collect()
}

#[test]
fn a_history_without_faults_is_known_at_the_next_start() {
    let disk = MemoryDisk::default();
    let mut node = Node::new(&disk);
    live(&mut node);
    assert_eq!(node.withdrawn, BTreeSet::from([0, 2, 3]));
    for power_cut in [false, true] {
        assert_eq!(next_start(&disk.restarted(power_cut)), Some(ids([1])));
    }
}

#[test]
fn what_was_withdrawn_is_not_offered_after_any_fault() {
    for fault in [Fault::Dies, Fault::Fails] {
        let mut starts = [0, 0];
        for operations in 0.. {
            let disk = MemoryDisk::default();
            disk.fault_after(operations, fault);
            let mut node = Node::new(&disk);
            live(&mut node);
            if !disk.had_fault() {
                assert!(operations > 20, "the history has {operations} operations");
                break;
            }
            for power_cut in [false, true] {
                let offered = next_start(&disk.restarted(power_cut));
                starts[usize::from(offered.is_some())] += 1;
                let offered = offered.unwrap_or_default();
                let wrong: Vec<_> = ids(node.withdrawn.clone()).intersection(&offered).copied().collect();
                assert!(wrong.is_empty(), "{fault:?} at {operations}, power cut: {power_cut}");
            }
        }
        assert!(
            starts[0] > 0 && starts[1] > 10,
            "{fault:?}: starts without and with a snapshot: {starts:?}"
        );
    }
}
