//! The file form of the index's rows: what was written comes back, and what is damaged, foreign, old or incomplete is
//! refused whole.

mod disk;
mod faults;
mod folder;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::mac::MacKey;
use launchway_domain::platform::Platform;
use launchway_domain::release::{BinaryRange, Format, Protocol, RuntimeVersion, Sequence, UpdateKind};
use launchway_domain::time::{EpochMs, HOUR};
use launchway_domain::update::UpdateStatus;
use launchway_os::clock::Clock;
use launchway_store::{IssueRow, OfferedUpdate, ReleaseRow, TrustFileRow};
use proptest::prelude::*;
use proptest::sample::select;

use crate::oracle;
use crate::packed_tests::{KEYS, any_rows, of_bundle, plain_update};
use crate::snapshot::{BundleRows, Entry, ExpoText, Found, Keeper, Row, Seal, SnapshotError, TextKind};
use disk::MemoryDisk;

/// When everything is saved.
const NOW: EpochMs = 1_790_000_000_000;
const DATABASE: &str = "db.internal:5432/launchway";
/// The master keys.
const SEAL_ONE: u8 = 1;
const SEAL_TWO: u8 = 2;

struct TestClock(AtomicI64);

impl Clock for TestClock {
    fn now(&self) -> EpochMs {
        self.0.load(Ordering::Relaxed)
    }
}

/// The rows of each bundle, by its key.
type Bundles = BTreeMap<String, BundleRows>;

/// A node's snapshot.
struct Kept {
    keeper: Arc<Keeper>,
    clock: Arc<TestClock>,
}

impl Kept {
    fn find(&self, key: u8) -> Result<Option<Found>, SnapshotError> {
        self.keeper.find(&seal(key).key, DATABASE, 24 * HOUR)
    }

    /// Saves these rows as those of a database at this revision.
    fn save(&self, rows: &[Row], revision: i64) {
        let save = self.keeper.begin_save(&seal(SEAL_ONE)).expect("a journal");
        let mut writer = save.writer(revision).expect("a file");
        rows.iter().for_each(|row| writer.take(row));
        save.finish(writer).expect("saved");
    }

    /// What a node reads that starts from the snapshot it found.
    fn read(&self, found: &Found) -> Result<Bundles, SnapshotError> {
        let (mut bundles, mut last) = (Bundles::new(), String::new());
        self.keeper.read(found, |row| {
            match &row {
                Row::Offered(update) => last = update.bundle_id.to_ascii_lowercase(),
                Row::TrustFile { key, .. }
                | Row::Retired { key, .. }
                | Row::Document { key, .. }
                | Row::Pair { key, .. }
                | Row::Foreign { key, .. } => last.clone_from(key),
                Row::DeploymentKey { .. } | Row::Release(_) | Row::Issue(_) | Row::ExpoText(_) => {}
            }
            bundles.entry(last.clone()).or_default().push(row);
            true
        })?;
        self.keeper.read_changes(found, |key, rows| {
            bundles.insert(key.to_owned(), rows);
        })?;
        Ok(bundles)
    }
}

/// What a start from this folder reads.
fn restored(disk: &MemoryDisk) -> Result<Bundles, SnapshotError> {
    let kept = start(disk);
    let found = kept.find(SEAL_ONE)?.expect("a snapshot");
    kept.read(&found)
}

fn start(disk: &MemoryDisk) -> Kept {
    let clock = Arc::new(TestClock(AtomicI64::new(NOW)));
    let keeper = Arc::new(Keeper::new(Box::new(disk.clone()), clock.clone()).expect("a keeper"));
    Kept { keeper, clock }
}

fn seal(key: u8) -> Seal {
    Seal {
        key: MacKey::new(&[key; 32]),
        database: DATABASE.to_owned(),
        installation_key: "sealed".to_owned(),
    }
}

/// An update of one bundle.
fn update(place: u32) -> OfferedUpdate {
    OfferedUpdate {
        bundle_id: KEYS[0].to_owned(),
        configuration: Some(format!("c{place}")),
        ..plain_update(0, place, Platform::Android)
    }
}

/// The updates of that bundle.
fn offered(bundles: &Bundles) -> BTreeSet<UpdateId> {
    let rows = bundles.get(KEYS[0]).into_iter().flatten();
    let ids = rows.filter_map(|row| match row {
        Row::Offered(update) => Some(update.id),
        _ => None,
    });
    ids.collect()
}

/// The rows of bundles in order.
fn rows_of(bundles: &BTreeMap<&str, oracle::BundleRows>) -> Vec<Row> {
    let mut rows: Vec<Row> = bundles.iter().flat_map(|(key, rows)| bundle_rows(key, rows)).collect();
    rows.sort_by_key(Row::phase);
    rows
}

fn bundle_rows(key: &str, rows: &oracle::BundleRows) -> BundleRows {
    let key = || key.to_owned();
    let offered = rows.updates.iter().map(|update| Row::Offered(Box::new(update.clone())));
    let retired = rows.retired.iter().map(|update| Row::Retired {
        key: key(),
        update: update.clone(),
    });
    let documents = rows.documents.iter().map(|(hash, document)| Row::Document {
        key: key(),
        hash: hash.clone(),
        document: document.clone(),
    });
    let pairs = rows.pairs.iter().map(|(hash, lwfp2)| Row::Pair {
        key: key(),
        hash: hash.clone(),
        lwfp2: lwfp2.clone(),
    });
    // A bundle without updates has no other rows.
    let none = rows.updates.is_empty();
    let all = offered.chain(retired).chain(documents).chain(pairs);
    all.filter(|_| !none).collect()
}

/// All rows of all bundles as text; a bundle without rows is none.
fn text_of(bundles: &Bundles) -> String {
    let bundles = bundles.iter().filter(|(_, rows)| !rows.is_empty());
    format!("{:#?}", bundles.collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_start_reads_what_was_saved_and_recorded(
        first in prop::collection::vec((select(KEYS.to_vec()), any_rows()), 0..4),
        later in prop::collection::vec((select(KEYS.to_vec()), any_rows()), 0..4),
        saved_before in 0..5usize,
    ) {
        let disk = MemoryDisk::default();
        let kept = start(&disk);
        let mut bundles: BTreeMap<_, _> = first.into_iter().map(|(key, rows)| (key, of_bundle(key, rows))).collect();
        kept.save(&rows_of(&bundles), 1);
        for (number, (key, rows)) in later.into_iter().enumerate() {
            let rows = of_bundle(key, rows);
            let revision = number as i64 + 2;
            kept.keeper.record(&[Entry::new(key, &bundle_rows(key, &rows))], revision);
            bundles.insert(key, rows);
            if number == saved_before {
                kept.save(&rows_of(&bundles), revision);
            }
        }
        let expected = bundles.iter().map(|(key, rows)| ((*key).to_owned(), bundle_rows(key, rows))).collect();
        let read = restored(&disk.restarted(true)).expect("a snapshot");
        prop_assert_eq!(text_of(&read), text_of(&expected));
    }

    #[test]
    fn rows_come_back(texts in prop::collection::vec(any::<String>(), 6), numbers: [i64; 3], flags: [bool; 4]) {
        let issue = IssueRow {
            update_id: update(1).id,
            platform: Platform::Android,
            id: texts[2].clone(),
            created_at: numbers[0],
            undoes: flags[1].then(|| update(2).id),
        };
        let text = Row::ExpoText(ExpoText {
            update_id: update(1).id,
            kind: [TextKind::Export, TextKind::Signed, TextKind::Undo][usize::from(flags[0]) + usize::from(flags[1])],
            text: texts[3].clone(),
        });
        let all = [trust_file(&texts, numbers), release(&texts, numbers, flags), Row::Issue(issue), text, Row::DeploymentKey {
            key: texts[0].clone(),
            platform: Platform::Ios,
            configuration: flags[0].then(|| texts[1].clone()),
        }];
        let mut written = Vec::new();
        all.iter().for_each(|row| row.write(&mut written));
        let read = Row::read_all(&written).expect("rows");
        prop_assert_eq!(format!("{read:?}"), format!("{all:?}"));
    }

    #[test]
    fn bytes_that_are_no_rows_are_refused_or_read(bytes: Vec<u8>) {
        // Nothing panics, and no length of the bytes is believed.
        drop(Row::read_all(&bytes));
    }
}

fn trust_file(texts: &[String], [version, expires_at, accepted_at]: [i64; 3]) -> Row {
    Row::TrustFile {
        key: texts[0].clone(),
        file: TrustFileRow {
            role: texts[1].clone(),
            version: version.unsigned_abs(),
            content: texts[2].clone(),
            expires_at,
            accepted_at,
            accepted_by: texts[3].clone(),
        },
    }
}

fn release(texts: &[String], [size, sequence, number]: [i64; 3], flags: [bool; 4]) -> Row {
    let text = |at: usize, some: bool| some.then(|| texts[at].clone());
    Row::Release(Box::new(ReleaseRow {
        id: update(number.unsigned_abs() as u32 % 1000).id,
        status: UpdateStatus::Withdrawn,
        bundle_id: texts[0].clone(),
        platform: Platform::Android,
        version: texts[1].clone(),
        configuration: text(2, flags[0]),
        fingerprint: text(3, flags[1]),
        release_notes: texts[4].clone(),
        mandatory: flags[2],
        rollout: update(0).rollout,
        kind: UpdateKind::Embedded,
        format: Format::Codepush,
        sequence: Sequence::new(sequence.unsigned_abs()),
        runtime_version: flags[3].then(|| RuntimeVersion::parse("1.0").expect("a version")),
        binary_range: flags[0].then(|| BinaryRange::parse(">=1.2  <2 || 3.x").expect("a range")),
        content_id: text(5, flags[2]),
        size,
        sha256: texts[3].clone(),
        blob_key: texts[2].clone(),
        ids: vec![
            (Protocol::Codepush, texts[0].clone()),
            (Protocol::Capgo, texts[1].clone()),
        ],
        file_hash: text(4, flags[1]),
        is_signed: flags[3],
        has_undo: flags[0],
        has_files: true,
    }))
}

/// A folder with a small snapshot and a journal with one change.
fn small() -> MemoryDisk {
    let disk = MemoryDisk::default();
    let kept = start(&disk);
    let foreign = [
        Row::Foreign {
            key: KEYS[1].to_owned(),
            org_id: OrgId::from_uuid(uuid::Uuid::from_u128(7)),
        },
        Row::DeploymentKey {
            key: "key".to_owned(),
            platform: Platform::Ios,
            configuration: None,
        },
    ];
    let rows: Vec<Row> = [0, 1]
        .map(|place| Row::Offered(Box::new(update(place))))
        .into_iter()
        .chain(foreign)
        .collect();
    kept.save(&rows, 1);
    kept.keeper
        .record(&[Entry::new(KEYS[0], &vec![Row::Offered(Box::new(update(1)))])], 2);
    disk
}

const SNAPSHOT: &str = "index.snapshot";
const JOURNAL: &str = "index.journal.1";

/// Whether a start with this file in place of the intact one is refused. Without an index, so that many can be tried.
fn is_refused(folder: &MemoryDisk, name: &str, bytes: &[u8]) -> bool {
    let disk = folder.restarted(false);
    disk.put(name, bytes.to_vec());
    let clock = Arc::new(TestClock(AtomicI64::new(NOW)));
    let keeper = Keeper::new(Box::new(disk), clock).expect("a keeper");
    let Ok(found) = keeper.find(&seal(SEAL_ONE).key, DATABASE, 24 * HOUR) else {
        return true;
    };
    let found = found.expect("the file is there");
    keeper.read(&found, |_| true).is_err() || keeper.read_changes(&found, |_, _| ()).is_err()
}

#[test]
fn a_small_snapshot_is_used() {
    let bundles = restored(&small()).expect("a snapshot");
    assert_eq!(offered(&bundles), BTreeSet::from([update(1).id]));
    assert_eq!(bundles[KEYS[1]].len(), 2);
}

#[test]
fn each_part_of_a_snapshot_and_its_extension_are_refused() {
    let folder = small();
    let intact = folder.get(SNAPSHOT).expect("a snapshot");
    assert!(!is_refused(&folder, SNAPSHOT, &intact));
    for length in 0..intact.len() {
        assert!(is_refused(&folder, SNAPSHOT, &intact[..length]), "{length} bytes");
    }
    for more in [&b"\0"[..], &[0; 64], &intact] {
        assert!(is_refused(&folder, SNAPSHOT, &[&intact, more].concat()));
    }
}

#[test]
fn a_snapshot_with_any_other_byte_is_refused() {
    let folder = small();
    let intact = folder.get(SNAPSHOT).expect("a snapshot");
    assert!(!is_refused(&folder, SNAPSHOT, &intact));
    for place in 0..intact.len() {
        for flip in [1, 0x80, 0xff] {
            let mut bytes = intact.clone();
            bytes[place] ^= flip;
            assert!(is_refused(&folder, SNAPSHOT, &bytes), "{flip} at {place}");
        }
    }
}

#[test]
fn a_journal_with_any_other_byte_is_refused() {
    let folder = small();
    let intact = folder.get(JOURNAL).expect("a journal");
    assert!(!is_refused(&folder, JOURNAL, &intact));
    for place in 0..intact.len() {
        let mut bytes = intact.clone();
        bytes[place] ^= 1;
        assert!(is_refused(&folder, JOURNAL, &bytes), "at {place}");
    }
    assert!(is_refused(&folder, JOURNAL, &[&intact[..], &[0; 64]].concat()));
    assert!(is_refused(&folder, JOURNAL, b""));
}

#[test]
fn a_missing_journal_is_noticed() {
    let disk = small();
    let kept = start(&disk);
    drop(kept.keeper.begin_save(&seal(SEAL_ONE)).expect("a second journal"));
    kept.keeper
        .record(&[Entry::new(KEYS[0], &vec![Row::Offered(Box::new(update(1)))])], 3);
    assert!(restored(&disk).is_ok());
    crate::snapshot::Disk::remove(&disk, JOURNAL).expect("removed");
    assert!(matches!(restored(&disk), Err(SnapshotError::Damaged(_))));
}

#[test]
fn lengths_that_a_file_claims_take_no_memory() {
    let folder = small();
    let intact = folder.get(SNAPSHOT).expect("a snapshot");
    assert!(!is_refused(&folder, SNAPSHOT, &intact));
    for length in [0u32, u32::MAX, 1 << 31, 3 << 20, 2 << 20] {
        let mut bytes = intact[..18].to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend((!length).to_le_bytes());
        bytes.extend([1; 40]);
        assert!(is_refused(&folder, SNAPSHOT, &bytes), "{length}");
    }
}

#[test]
fn another_master_key_and_another_database_are_refused() {
    let kept = start(&small());
    assert!(matches!(kept.find(SEAL_TWO), Err(SnapshotError::Key)));
    let key = seal(SEAL_ONE).key;
    let other = kept.keeper.find(&key, "other.internal:5432/launchway", 24 * HOUR);
    assert!(matches!(other, Err(SnapshotError::Database(name)) if name == DATABASE));
}

#[test]
fn the_age_counts_from_the_last_sign_of_the_database() {
    let disk = small();
    let kept = start(&disk);
    for (later, is_used) in [
        (24 * HOUR, true),
        (24 * HOUR + 1, false),
        (-HOUR, true),
        (-HOUR - 1, false),
    ] {
        kept.clock.0.store(NOW + later, Ordering::Relaxed);
        assert_eq!(kept.find(SEAL_ONE).is_ok(), is_used, "{later}");
    }
    // Nothing changes for two days.
    let disk = MemoryDisk::default();
    let kept = start(&disk);
    kept.save(&[], 1);
    kept.keeper.beat(NOW + 48 * HOUR);
    assert_eq!(kept.keeper.saved_until(), Some(NOW + 48 * HOUR));
    kept.clock.0.store(NOW + 72 * HOUR, Ordering::Relaxed);
    let found = kept.find(SEAL_ONE).expect("valid").expect("a snapshot");
    assert_eq!(found.time, NOW + 48 * HOUR);
}

#[test]
fn a_snapshot_that_is_given_up_is_gone() {
    let disk = small();
    let kept = start(&disk);
    kept.keeper.give_up();
    assert!(kept.find(SEAL_ONE).expect("nothing is wrong").is_none());
    assert_eq!((disk.get(SNAPSHOT), disk.get(JOURNAL)), (None, None));
    // A save that began before does not bring it back.
    let save = kept.keeper.begin_save(&seal(SEAL_ONE)).expect("a journal");
    let writer = save.writer(1).expect("a file");
    kept.keeper.give_up();
    assert!(save.finish(writer).is_err());
    assert!(kept.find(SEAL_ONE).expect("nothing is wrong").is_none());
}

#[test]
fn a_late_record_changes_nothing() {
    let disk = small();
    let kept = start(&disk);
    kept.save(&[Row::Offered(Box::new(update(1)))], 5);
    let entry = |place| [Entry::new(KEYS[0], &vec![Row::Offered(Box::new(update(place)))])];
    kept.keeper.record(&entry(0), 4);
    assert_eq!(
        offered(&restored(&disk).expect("a snapshot")),
        BTreeSet::from([update(1).id])
    );
    kept.keeper.record(&entry(2), 7);
    kept.keeper.record(&entry(0), 6);
    assert_eq!(
        offered(&restored(&disk).expect("a snapshot")),
        BTreeSet::from([update(2).id])
    );
}

#[test]
fn a_new_snapshot_is_due_after_many_changes_or_another_key() {
    let kept = start(&MemoryDisk::default());
    assert!(kept.keeper.is_due("sealed"), "nothing is saved");
    kept.save(&[], 1);
    assert!(!kept.keeper.is_due("sealed") && kept.keeper.is_due("sealed again"));
    let notes = OfferedUpdate {
        release_notes: "n".repeat(100_000),
        ..update(0)
    };
    let entry = Entry::new(KEYS[0], &vec![Row::Offered(Box::new(notes))]);
    for view in 2..44 {
        assert!(!kept.keeper.is_due("sealed"), "{view}");
        kept.keeper.record(std::slice::from_ref(&entry), view);
    }
    assert!(kept.keeper.is_due("sealed"));
    kept.save(&[], 50);
    assert!(!kept.keeper.is_due("sealed"));
}
