//! The packed index against what the index answered before: byte for byte the same, however its bundles arrived.

use std::collections::BTreeMap;
use std::sync::Arc;

use launchway_domain::build_number::{BuildNumber, CurrentBuild};
use launchway_domain::fingerprint::FingerprintDocument;
use launchway_domain::id::{Id, OrgId, PackageId, UploadId};
use launchway_domain::ota::{Caller, Candidate, Decision, decide};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use launchway_store::{OfferedUpdate, RetiredUpdate};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;

use crate::loader::{Loaded, LoadedBundle, Loader, Places, SHARDS};
use crate::oracle::{BundleRows, Known};
use crate::shard::Shard;
use crate::snapshot::Row;
use crate::{Entry, LongTexts, Updates};

/// The offered updates of a bundle in these tests.
const LIMIT: usize = 6;
/// Checks of each set of bundles.
const CALLERS: usize = 40;

pub const KEYS: [&str; 4] = ["com.example.app", "com.example.other", "a", "com.example.app-2"];
const VERSIONS: [&str; 8] = [
    "1.0.0",
    "1",
    "1.2",
    "1.2.0+meta.7",
    "1.2.0-rc.1",
    "2.0.0",
    "2.0.0-a+b",
    "10.300.70000",
];
const BUILDS: [&str; 6] = ["1", "01", "7", "42", "007", "999999999999999999"];
const FINGERPRINTS: [&str; 5] = ["one", "two", "three", "four", "lwfp-2:five"];
const NOW: i64 = 1_790_000_000_000;

/// A check, before its texts are borrowed.
#[derive(Clone, Debug)]
struct Asking {
    platform: Option<Platform>,
    version: &'static str,
    build: Option<&'static str>,
    current_update: Option<u8>,
    fingerprint: Option<&'static str>,
    configuration: Option<&'static str>,
    device: Option<u8>,
}

fn id_of<K: launchway_domain::id::Kind>(number: u8) -> Id<K> {
    Id::new(NOW + i64::from(number) * 1000, [number; 10])
}

fn any_notes() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("It is \"faster\".\n".to_owned()),
        Just("ü".repeat(200)),
        "[a-z\"\\\\\u{0}é]{0,12}",
    ]
}

prop_compose! {
    fn any_update()(
        number in any::<u8>(),
        is_published in prop::bool::weighted(0.85),
        is_spelled in prop::bool::weighted(0.1),
        platform in select(Platform::ALL.to_vec()),
        version in select(VERSIONS.to_vec()),
        build in select(BUILDS.to_vec()),
        configuration in select(vec![None, Some("production"), Some("staging")]),
        fingerprint in prop::option::of(select(FINGERPRINTS.to_vec())),
        notes in any_notes(),
        mandatory in any::<bool>(),
        rollout in select(vec![100, 100, 100, 0, 1, 50, 99]),
        (size, form, later) in (
            select(vec![0, 1, 127, 128, 4_000_000, i64::MAX]),
            0..5u8,
            select(vec![0, 0, 1, -70_000, 5_000_000_000]),
        ),
    ) -> OfferedUpdate {
        let (upload, package): (UploadId, PackageId) = (id_of(number.wrapping_mul(3)), id_of(number));
        OfferedUpdate {
            id: id_of(number),
            org_id: OrgId::from_uuid(uuid::Uuid::from_u128(7)),
            status: if is_published { UpdateStatus::Published } else { UpdateStatus::Paused },
            bundle_id: if is_spelled { "SPELLED".to_owned() } else { String::new() },
            platform,
            version: Version::parse(version).expect("a version"),
            version_text: version.to_owned(),
            build_number: BuildNumber::parse(build).expect("a build"),
            configuration: configuration.map(str::to_owned),
            fingerprint: fingerprint.map(str::to_owned),
            release_notes: notes,
            mandatory,
            rollout: Rollout::new(rollout).expect("a rollout"),
            size,
            sha256: match form {
                0 => "not a hash".to_owned(),
                1 => format!("{number:064X}"),
                _ => format!("{number:064x}"),
            },
            blob_key: match form {
                2 => format!("packages/{upload}"),
                3 => "not a key/".to_owned(),
                _ => format!("packages/{upload}/{package}"),
            },
            trust_role: (form == 4 && number < 10).then(|| "c-production".to_owned()),
            created_at: id_of::<launchway_domain::id::Update>(number).created_at() + later,
        }
    }
}

prop_compose! {
    fn any_retired()(
        number in any::<u8>(),
        platform in select(Platform::ALL.to_vec()),
        version in select(VERSIONS.to_vec()),
        build in 0..100u64,
    ) -> RetiredUpdate {
        let version = Version::parse(version).expect("a version");
        RetiredUpdate { id: id_of(number), platform, version, build }
    }
}

fn document(camera: &str) -> String {
    let tree = "0".repeat(64);
    let value = serde_json::json!({
        "alg": "lwfp-1", "framework": "nativescript", "native": tree, "platform": "android",
        "plugins": { "@nativescript/camera": camera }, "resources": tree,
    });
    FingerprintDocument::from_value(value).expect("a document").canonical()
}

prop_compose! {
    /// The rows of a bundle. Ids are unique, as in the database.
    pub fn any_rows()(
        updates in prop::collection::vec(any_update(), 0..14),
        retired in prop::collection::vec(any_retired(), 0..4),
        documents in prop::collection::btree_map(select(FINGERPRINTS.to_vec()), 0..4u8, 0..4),
        pairs in prop::collection::vec((select(FINGERPRINTS.to_vec()), select(FINGERPRINTS.to_vec())), 0..3),
    ) -> BundleRows {
        let updates: BTreeMap<_, _> = updates.into_iter().map(|update| (update.id, update)).collect();
        let retired: BTreeMap<_, _> = retired.into_iter().map(|update| (update.id, update)).collect();
        let retired = retired.into_values().filter(|update| !updates.contains_key(&update.id)).collect();
        let text = |number: u8| if number == 0 { "broken".to_owned() } else { document(&format!("{number}.0.0")) };
        BundleRows {
            retired,
            updates: updates.into_values().collect(),
            documents: documents.into_iter().map(|(hash, number)| (hash.to_owned(), text(number))).collect(),
            pairs: pairs.into_iter().map(|(hash, lwfp2)| (hash.to_owned(), lwfp2.to_owned())).collect(),
        }
    }
}

prop_compose! {
    fn any_asking()(
        platform in prop::option::of(select(Platform::ALL.to_vec())),
        version in select(vec!["0.1.0", "1.0.0", "1.2.0", "1.2.0-rc.1", "2.0.0"]),
        build in prop::option::of(select(vec!["0", "1", "7.1", "42"])),
        current_update in prop::option::of(any::<u8>()),
        fingerprint in prop::option::of(select(FINGERPRINTS.to_vec())),
        configuration in select(vec![None, Some("production"), Some("staging")]),
        device in prop::option::of(any::<u8>()),
    ) -> Asking {
        Asking { platform, version, build, current_update, fingerprint, configuration, device }
    }
}

/// Rows of this bundle.
pub fn of_bundle(key: &str, mut rows: BundleRows) -> BundleRows {
    for update in &mut rows.updates {
        let is_spelled = !update.bundle_id.is_empty();
        update.bundle_id = if is_spelled {
            key.replace("com", "Com").replace('a', "A")
        } else {
            key.to_owned()
        };
    }
    rows
}

/// Calls `with` with the caller of a check.
fn ask<T>(asking: &Asking, with: impl FnOnce(&Caller<'_>, Option<&str>) -> T) -> T {
    let device = asking.device.map(|number| format!("device-{number}"));
    let current = asking
        .current_update
        .map(|number| id_of::<launchway_domain::id::Update>(number).to_string());
    let caller = Caller {
        platform: asking.platform,
        version: Version::parse(asking.version).expect("a version"),
        build: asking.build.map(|build| CurrentBuild::parse(build).expect("a build")),
        running: None,
        fingerprint: asking.fingerprint,
        configuration: asking.configuration,
        device_id: device.as_deref(),
    };
    with(&caller, current.as_deref())
}

fn expected(known: Option<&Known>, asking: &Asking) -> String {
    let Some(known) = known else {
        return "no updates".to_owned();
    };
    ask(asking, |caller, current| {
        let running = current.and_then(|current| known.running(caller, current));
        let caller = Caller {
            running,
            ..caller.clone()
        };
        let installed = caller.fingerprint.unwrap_or_default();
        match decide(&caller, &known.offered) {
            Decision::NoUpdate => format!("none {running:?}"),
            Decision::Update(entry) => format!("update {}", entry.answer(installed)),
            Decision::StoreUpdate(entry) => format!("store {}", entry.answer(installed)),
        }
    })
}

fn answered(updates: Option<Updates<'_>>, asking: &Asking) -> String {
    let Some(updates) = updates else {
        return "no updates".to_owned();
    };
    ask(asking, |caller, current| {
        let running = current.and_then(|current| updates.running(caller, current));
        let caller = Caller {
            running,
            ..caller.clone()
        };
        let installed = caller.fingerprint.unwrap_or_default();
        match decide(&caller, &updates) {
            Decision::NoUpdate => format!("none {running:?}"),
            Decision::Update(entry) => format!("update {}", answer(&entry, installed)),
            Decision::StoreUpdate(entry) => format!("store {}", answer(&entry, installed)),
        }
    })
}

fn answer(entry: &Entry<'_>, installed: &str) -> String {
    let mut out = Vec::new();
    entry.write_fields(&mut out).expect("fields");
    entry.write_device_fields(&mut out);
    let text = String::from_utf8(out).expect("text");
    let key = entry.blob_key().expect("a key");
    assert_eq!(Candidate::id(entry), entry.update_id.to_string());
    format!("{text} {key} {} {}", entry.file_name(), entry.reason(installed))
}

/// The shards in which a start puts these bundles.
fn load(places: &Places, texts: &Arc<LongTexts>, bundles: &BTreeMap<&str, BundleRows>) -> Loaded {
    let mut loader = Loader::new(places.clone(), LIMIT, texts.clone());
    // A scan has no order: the updates of all bundles arrive mixed.
    let mut updates: Vec<_> = bundles.values().flat_map(|rows| &rows.updates).collect();
    updates.sort_by_key(|update| (update.size, update.id));
    updates.into_iter().for_each(|update| loader.add_offered(update));
    for (key, rows) in bundles {
        rows.retired.iter().for_each(|update| loader.add_retired(key, update));
    }
    let threads = 1 + bundles.len() % 3;
    let mut loaded = loader.finish_on(threads, |_| Arc::default());
    for (key, rows) in bundles {
        loaded.add_documents(key, &rows.documents);
        loaded.add_pairs(key, &rows.pairs);
    }
    loaded
}

/// The shard after a change of this bundle was followed.
fn put(shard: &Shard, places: &Places, texts: &Arc<LongTexts>, key: &str, rows: &BundleRows) -> Shard {
    let mut bundle = LoadedBundle::new(LIMIT, texts.clone());
    for update in &rows.updates {
        bundle.take(&Row::Offered(Box::new(update.clone())));
    }
    for update in &rows.retired {
        bundle.take(&Row::Retired {
            key: key.to_owned(),
            update: update.clone(),
        });
    }
    bundle.documents = rows.documents.clone();
    bundle.pairs = rows.pairs.clone();
    let (_, hash) = places.of(key);
    bundle.finish(|record, _| match record {
        Some((record, extension)) => shard.with(record, extension, hash, || None),
        None => shard.without(key, hash),
    })
}

fn check(shard: &Shard, places: &Places, key: &str, known: Option<&Known>, callers: &[Asking]) {
    let (_, hash) = places.of(key);
    for asking in callers {
        // Only the time that an answer takes may depend on it.
        shard.prefetch_place(hash);
        shard.prefetch_start(hash);
        shard.prefetch_bundle(hash);
        shard.prefetch_counters(hash);
        let record = shard.find(key, hash);
        let updates = record.map(|record| Updates::new(record, shard.extension(&record)));
        assert_eq!(answered(updates, asking), expected(known, asking), "{key} {asking:?}");
    }
}

fn compare(cases: u32) {
    let dir = tempfile::tempdir().expect("a directory");
    let texts = LongTexts::open(dir.path()).expect("a file");
    let places = Places::in_shards(SHARDS);
    let config = ProptestConfig {
        cases,
        ..ProptestConfig::default()
    };
    let bundles = prop::collection::vec((select(KEYS.to_vec()), any_rows()), 1..8);
    let callers = prop::collection::vec(any_asking(), CALLERS);
    proptest!(config, |(changes in bundles, callers in callers)| {
        let (mut bundles, mut grown) = (BTreeMap::new(), Shard::default());
        for (key, rows) in changes {
            let rows = of_bundle(key, rows);
            // One shard for all, so that they share texts and memory.
            grown = put(&grown, &places, &texts, key, &rows);
            bundles.insert(key, rows);
        }
        let loaded = load(&places, &texts, &bundles);
        let share = callers.len() / bundles.len();
        for ((key, rows), callers) in bundles.iter().zip(callers.chunks(share.max(1))) {
            let known = rows.prepare(LIMIT);
            let (number, _) = places.of(key);
            check(&loaded.shards[number], &places, key, known.as_ref(), callers);
            check(&grown, &places, key, known.as_ref(), callers);
        }
    });
}

#[test]
fn answers_are_those_of_the_index_before() {
    compare(150);
}

/// summary: a million random checks of the packed index and the one before, compared byte for byte
#[test]
#[ignore = "long run"]
fn a_million_answers_are_those_of_the_index_before() {
    compare(1_000_000 / CALLERS as u32);
}

/// Bundles that change again and again leave no memory behind.
#[test]
fn a_shard_does_not_grow_with_its_changes() {
    let dir = tempfile::tempdir().expect("a directory");
    let texts = LongTexts::open(dir.path()).expect("a file");
    let places = Places::in_shards(SHARDS);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut shard = Shard::default();
    let mut most = 0;
    for round in 0..600 {
        let rows = any_rows().new_tree(&mut runner).expect("rows").current();
        let key = KEYS[round % KEYS.len()];
        let mut rows = of_bundle(key, rows);
        // A text of its own each time.
        rows.updates
            .iter_mut()
            .for_each(|update| update.release_notes = format!("notes {round}"));
        shard = put(&shard, &places, &texts, key, &rows);
        most = most.max(shard.bytes());
    }
    assert!(most < 20_000, "{most} bytes of four bundles");
}

/// A million apps pay for each byte: three updates with texts that others have, too.
#[test]
fn a_bundle_of_three_updates_takes_few_bytes() {
    let mut shards = 0;
    let dir = tempfile::tempdir().expect("a directory");
    let texts = LongTexts::open(dir.path()).expect("a file");
    let mut loader = Loader::new(Places::in_shards(SHARDS), LIMIT, texts);
    let bundles = 20_000;
    for number in 0..bundles {
        for (place, platform) in Platform::ALL.into_iter().enumerate() {
            loader.add_offered(&plain_update(number, place as u32, platform));
        }
    }
    for shard in loader.finish(|_| Arc::default()).shards {
        shards += shard.bytes();
    }
    let each = shards / bundles as usize;
    // Texts of a shard are shared by five bundles here, and by 250 with a million.
    assert!((250..360).contains(&each), "{each} bytes");
}

pub fn plain_update(bundle: u32, place: u32, platform: Platform) -> OfferedUpdate {
    let mut random = [7; 10];
    random[..4].copy_from_slice(&(bundle * 3 + place).to_be_bytes());
    let time = NOW + i64::from(bundle) * 1000 + i64::from(place);
    let (upload, package): (UploadId, PackageId) = (Id::new(time - 9_000, random), Id::new(time - 100, random));
    OfferedUpdate {
        id: Id::new(time, random),
        org_id: OrgId::from_uuid(uuid::Uuid::from_u128(7)),
        status: UpdateStatus::Published,
        bundle_id: format!("com.example.app{bundle:08x}"),
        platform,
        version: Version::parse("1.2.0").expect("a version"),
        version_text: "1.2.0".to_owned(),
        build_number: BuildNumber::parse("42").expect("a build"),
        configuration: Some("production".to_owned()),
        fingerprint: Some("1".repeat(64)),
        release_notes: "Faster".to_owned(),
        mandatory: false,
        rollout: Rollout::FULL,
        size: 4_000_000 + i64::from(bundle),
        sha256: format!("{bundle:064x}"),
        blob_key: format!("packages/{upload}/{package}"),
        trust_role: None,
        created_at: time,
    }
}
