//! What is served of an app's metadata, which of its updates are offered, and what one trip brings.

use std::collections::BTreeMap;

use launchway_domain::build_number::BuildNumber;
use launchway_domain::id::{OrgId, UpdateId};
use launchway_domain::platform::Platform;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::UpdateStatus;
use launchway_domain::version::Version;
use launchway_store::{OfferedUpdate, TrustFileRow};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{
    Body, Delegation, Delegations, Header, MetaFile, RoleKeys, Snapshot, Target, Targets, Timestamp,
};
use launchway_trust::one_trip::{MAX_ROOTS_OF_ANSWER, TrustAnswer};

use super::*;

/// The repository's files. Nothing here verifies signatures, so they have none.
#[derive(Clone)]
struct Repository {
    roots: u64,
    snapshots: Vec<(u64, BTreeMap<&'static str, u64>)>,
    delegated: Vec<&'static str>,
    roles: BTreeMap<&'static str, Targets>,
}

const HASH: [&str; 2] = [
    "1111111111111111111111111111111111111111111111111111111111111111",
    "2222222222222222222222222222222222222222222222222222222222222222",
];
const PATH: &str = "c-production/android/1.2.3_4.zip";

/// What makes an update another one.
type Change = fn(&mut OfferedUpdate);

fn text<T: Body>(version: u64, body: &T) -> String {
    let header = Header {
        version,
        expires: 2_000_000_000_000,
        identity: None,
    };
    Draft::new(&header, body).to_text().expect("a file")
}

fn row(role: &str, version: u64, content: String) -> TrustFileRow {
    TrustFileRow {
        role: role.to_owned(),
        version,
        content,
        expires_at: 0,
        accepted_at: 0,
        accepted_by: String::new(),
    }
}

impl Repository {
    /// `c-production` lists one update; snapshot 20 followed 10 with its second version.
    fn new() -> Repository {
        let target = Target {
            length: 5,
            hashes: BTreeMap::from([("sha256".to_owned(), HASH[0].to_owned())]),
            custom: None,
        };
        let production = Targets {
            targets: BTreeMap::from([(PATH.to_owned(), target)]),
            ..Targets::default()
        };
        Repository {
            roots: 2,
            snapshots: vec![
                (10, BTreeMap::from([("targets", 1), ("c-production", 1), ("any", 1)])),
                (20, BTreeMap::from([("targets", 1), ("c-production", 2), ("any", 1)])),
            ],
            delegated: vec!["c-production", "c-staging", "any"],
            roles: BTreeMap::from([("c-production", production), ("any", Targets::default())]),
        }
    }

    fn rows(&self) -> Vec<TrustFileRow> {
        let mut rows: Vec<_> = (1..=self.roots)
            .map(|version| row("root", version, format!("root {version} \"ü\"")))
            .collect();
        for (number, (version, listed)) in self.snapshots.iter().enumerate() {
            let meta = listed
                .iter()
                .map(|(role, version)| (format!("{role}.json"), MetaFile::of_version(*version)));
            let snapshot = Snapshot { meta: meta.collect() };
            rows.push(row("snapshot", *version, text(*version, &snapshot)));
            if number + 1 == self.snapshots.len() {
                let timestamp = Timestamp {
                    snapshot: MetaFile::of_version(*version),
                };
                rows.push(row("timestamp", *version, text(*version, &timestamp)));
            }
            for (role, version) in listed {
                let file = if *role == "targets" {
                    self.targets()
                } else {
                    self.roles[role].clone()
                };
                rows.push(row(role, *version, text(*version, &file)));
            }
        }
        rows
    }

    fn targets(&self) -> Targets {
        let delegation = |name: &&str| Delegation {
            name: (*name).to_owned(),
            role: RoleKeys {
                key_ids: Vec::new(),
                threshold: 1,
            },
            terminating: true,
            paths: vec![format!("{name}/*/*")],
        };
        Targets {
            delegations: Some(Delegations {
                keys: BTreeMap::new(),
                roles: self.delegated.iter().map(delegation).collect(),
            }),
            ..Targets::default()
        }
    }

    fn load(&self) -> TrustLoad {
        load(self.rows())
    }

    fn set(&self) -> TrustSet {
        self.load().finish().expect("a set")
    }

    fn offers(&self, update: &OfferedUpdate) -> bool {
        self.load().admit(update)
    }
}

fn load(rows: Vec<TrustFileRow>) -> TrustLoad {
    let mut load = TrustLoad::new("com.example.app");
    rows.into_iter().for_each(|row| load.push(row));
    load
}

/// The update that `c-production` lists.
fn update() -> OfferedUpdate {
    OfferedUpdate {
        id: UpdateId::from_uuid(uuid::Uuid::from_u128(1)),
        org_id: OrgId::from_uuid(uuid::Uuid::nil()),
        status: UpdateStatus::Published,
        bundle_id: "com.example.App".to_owned(),
        platform: Platform::Android,
        version: Version::parse("1.2.3+meta").expect("a version"),
        version_text: "1.2.3+meta".to_owned(),
        build_number: BuildNumber::parse("04").expect("a build"),
        configuration: Some("production".to_owned()),
        fingerprint: None,
        release_notes: String::new(),
        mandatory: false,
        rollout: Rollout::FULL,
        size: 5,
        sha256: HASH[0].to_owned(),
        blob_key: "packages/one".to_owned(),
        trust_role: Some("c-production".to_owned()),
        created_at: 0,
    }
}

#[test]
fn every_stored_file_is_served_under_its_name() {
    let set = Repository::new().set();
    let names: Vec<&str> = set.files.keys().map(|name| &**name).collect();
    assert_eq!(
        names,
        [
            "1.any.json",
            "1.c-production.json",
            "1.root.json",
            "1.targets.json",
            "10.snapshot.json",
            "2.c-production.json",
            "2.root.json",
            "20.snapshot.json",
            "timestamp.json",
        ]
    );
    let root = set.file("2.root.json").expect("a root");
    assert_eq!(root.bytes, "root 2 \"ü\"");
    assert_eq!((root.etag.len(), &root.etag[..1], &root.etag[33..]), (34, "\"", "\""));
    assert_ne!(root.etag, set.file("1.root.json").expect("a root").etag);
}

#[test]
fn a_check_announces_root_and_snapshot() {
    let mut repository = Repository::new();
    assert_eq!(repository.set().announcement(), r#"{"root":2,"snapshot":20}"#);
    repository.snapshots[1].0 = 1_795_168_800;
    repository.roots = 999;
    let set = repository.set();
    assert_eq!(set.announcement(), r#"{"root":999,"snapshot":1795168800}"#);
    assert!(set.announcement().len() <= 40);
}

#[test]
fn the_timestamp_decides_which_files_belong_together() {
    let mut rows = Repository::new().rows();
    // A newer snapshot that no timestamp names.
    rows.push(row("snapshot", 30, text(30, &Snapshot::default())));
    let set = load(rows).finish().expect("a set");
    assert_eq!(set.announcement(), r#"{"root":2,"snapshot":20}"#);
    assert_eq!(set.previous.as_ref().map(|listing| listing.snapshot), Some(10));
}

#[test]
fn a_signed_update_is_offered_while_its_role_lists_it() {
    let repository = Repository::new();
    assert!(repository.offers(&update()));
    let changes: [(&str, Change); 6] = [
        ("hash", |update| update.sha256 = HASH[1].to_owned()),
        ("version", |update| {
            update.version = Version::parse("1.2.4").expect("one")
        }),
        ("build", |update| {
            update.build_number = BuildNumber::parse("5").expect("one")
        }),
        ("platform", |update| update.platform = Platform::Ios),
        ("role", |update| update.trust_role = Some("any".to_owned())),
        ("no role", |update| update.trust_role = Some("c-none".to_owned())),
    ];
    for (what, change) in changes {
        let mut other = update();
        change(&mut other);
        assert!(!repository.offers(&other), "{what}");
    }
    let mut pruned = repository.clone();
    pruned.roles.insert("c-production", Targets::default());
    assert!(!pruned.offers(&update()));
    let mut removed = repository;
    removed.delegated = vec!["any"];
    assert!(!removed.offers(&update()), "the snapshot still lists the role");
}

#[test]
fn what_a_role_revokes_is_not_offered() {
    let unsigned = OfferedUpdate {
        trust_role: None,
        ..update()
    };
    for (role, signed_stays, unsigned_stays) in [
        ("c-production", false, false),
        ("any", false, false),
        // Phones of one configuration do not ask the role of another.
        ("c-staging", true, false),
    ] {
        let mut repository = Repository::new();
        let last = repository.snapshots.last_mut().expect("a snapshot");
        last.1.insert(role, 2);
        let file = repository.roles.entry(role).or_default();
        file.revoked.push(HASH[0].parse().expect("a hash"));
        assert_eq!(repository.offers(&update()), signed_stays, "{role}");
        assert_eq!(repository.offers(&unsigned), unsigned_stays, "{role}");
    }
    assert!(Repository::new().offers(&unsigned));
}

#[test]
fn without_a_complete_set_no_signed_update_is_offered() {
    let unsigned = OfferedUpdate {
        trust_role: None,
        ..update()
    };
    for lost in ["root", "timestamp", "snapshot", "targets", "c-production"] {
        for content in [None, Some("{}")] {
            let mut rows = Repository::new().rows();
            match content {
                None => rows.retain(|row| row.role != lost),
                // What a root says is not read here.
                Some(_) if lost == "root" => continue,
                Some(content) => {
                    let lost = rows.iter_mut().filter(|row| row.role == lost);
                    lost.for_each(|row| row.content = content.to_owned());
                }
            }
            assert!(!load(rows.clone()).admit(&update()), "{lost}");
            assert!(load(rows.clone()).admit(&unsigned), "{lost}");
            assert_eq!(load(rows).finish().is_some(), lost == "c-production", "{lost}");
        }
    }
}

#[test]
fn a_package_that_everybody_gets_is_found_by_its_target() {
    let consistent = format!("c-production/android/{}.1.2.3_4.zip", HASH[0]);
    let found = |update: &OfferedUpdate| {
        let mut load = Repository::new().load();
        load.admit(update);
        let set = load.finish().expect("a set");
        assert!(set.download(PATH).is_none(), "without the hash");
        set.download(&consistent).cloned()
    };
    let download = found(&update()).expect("a package");
    assert_eq!(download.blob_key.as_str(), "packages/one");
    assert_eq!(&*download.file_name, "com.example.App-1.2.3+meta-04.zip");
    let changes: [Change; 4] = [
        |update| update.status = UpdateStatus::Paused,
        |update| update.rollout = Rollout::new(99).expect("a rollout"),
        |update| update.trust_role = None,
        |update| update.sha256 = HASH[1].to_owned(),
    ];
    for change in changes {
        let mut other = update();
        change(&mut other);
        assert!(found(&other).is_none());
    }
}

/// What an answer carries, as the first letters of its files.
fn parts(set: &TrustSet, root: u64, snapshot: u64, configuration: Option<&str>) -> String {
    let query = TrustQuery {
        root,
        snapshot,
        configuration,
    };
    let answer = TrustAnswer::parse(set.answer(&query).as_bytes()).expect("an answer");
    let mut parts: Vec<String> = answer.roots.iter().map(|root| root[5..6].to_owned()).collect();
    let files = [
        ("time", &answer.timestamp),
        ("snap", &answer.snapshot),
        ("targets", &answer.targets),
    ];
    parts.extend(
        files
            .iter()
            .filter(|(_, file)| file.is_some())
            .map(|(name, _)| (*name).to_owned()),
    );
    parts.extend(answer.delegated.into_keys());
    parts.join(" ")
}

#[test]
fn an_answer_brings_only_what_a_client_lacks() {
    let set = Repository::new().set();
    for (root, snapshot, configuration, expected) in [
        (0, 0, Some("production"), "1 2 time snap targets any c-production"),
        (1, 0, Some("production"), "2 time snap targets any c-production"),
        (2, 0, Some("production"), "time snap targets any c-production"),
        (2, 0, None, "time snap targets any"),
        (2, 0, Some("staging"), "time snap targets any"),
        (2, 0, Some("../1"), "time snap targets any"),
        // It has the previous snapshot, and the version of `any` that both list.
        (2, 10, Some("production"), "time snap c-production"),
        (2, 10, None, "time snap"),
        (2, 20, Some("production"), "time"),
        // What a client of another snapshot has is not known, nor what it keeps after a new root.
        (2, 15, Some("production"), "time snap targets any c-production"),
        (2, 30, Some("production"), "time snap targets any c-production"),
        (1, 20, Some("production"), "2 time snap targets any c-production"),
        (3, 20, Some("production"), "time"),
        (u64::MAX, u64::MAX, None, "time snap targets any"),
    ] {
        let found = parts(&set, root, snapshot, configuration);
        assert_eq!(found, expected, "{root} {snapshot} {configuration:?}");
    }
}

#[test]
fn new_targets_bring_the_roles_that_they_delegate_to() {
    let mut repository = Repository::new();
    repository.snapshots[1].1.insert("targets", 2);
    repository.snapshots[1].1.insert("c-production", 1);
    let found = parts(&repository.set(), 2, 10, Some("production"));
    assert_eq!(found, "time snap targets any c-production");
}

#[test]
fn an_answer_carries_the_texts_as_they_were_signed() {
    let repository = Repository::new();
    let json = repository.set().answer(&TrustQuery::default());
    let answer = TrustAnswer::parse(json.as_bytes()).expect("an answer");
    assert_eq!(answer.roots, ["root 1 \"ü\"", "root 2 \"ü\""]);
    let rows = repository.rows();
    let timestamp = rows.iter().find(|row| row.role == "timestamp").expect("a row");
    assert_eq!(answer.timestamp.as_ref(), Some(&timestamp.content));
}

#[test]
fn a_client_with_many_roots_to_go_gets_sixteen() {
    let mut repository = Repository::new();
    repository.roots = 40;
    let set = repository.set();
    for (root, count, is_whole) in [
        (1, 16, false),
        (23, 16, false),
        (24, 16, false),
        (25, 15, true),
        (40, 0, true),
    ] {
        let query = TrustQuery {
            root,
            snapshot: 20,
            configuration: None,
        };
        let answer = TrustAnswer::parse(set.answer(&query).as_bytes()).expect("an answer");
        assert_eq!(
            (answer.roots.len(), answer.timestamp.is_some()),
            (count, is_whole),
            "{root}"
        );
        let first = answer.roots.first().map(String::as_str);
        assert!(first.is_none_or(|text| text == format!("root {} \"ü\"", root + 1)));
        assert!(answer.roots.len() <= MAX_ROOTS_OF_ANSWER);
    }
}

#[test]
fn the_tag_of_answers_changes_with_any_file() {
    let before = Repository::new().set();
    assert_eq!(before.etag(), Repository::new().set().etag());
    let mut more_roots = Repository::new();
    more_roots.roots = 3;
    let mut other_role = Repository::new();
    other_role.roles.insert("any", other_role.roles["c-production"].clone());
    for changed in [more_roots, other_role] {
        assert_ne!(before.etag(), changed.set().etag());
    }
}
