//! Where the root of signed updates is written, and which root takes the place of another one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use launchway_domain::bundle_id::BundleId;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Header, Key, RoleKeys, Root};
use launchway_trust::{Identity, RepositoryId, Sha256, SigningKey, TopLevel, TrustFile};
use ring::rand::SystemRandom;

use super::embed::{EmbedError, Embedded, embed_trust};
use super::*;
use crate::trust_file::{self, AppTrust, NAME};

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate(&SystemRandom::new()).unwrap());

/// The trust file with this version of the root, which one key signs.
pub fn signed_file(version: u64) -> TrustFile {
    let id = KEY.public().id();
    let role = || RoleKeys {
        key_ids: vec![id.clone()],
        threshold: 1,
    };
    let root = Root {
        keys: BTreeMap::from([(id.clone(), Key::from(*KEY.public()))]),
        root: role(),
        timestamp: role(),
        snapshot: role(),
        targets: role(),
        consistent_snapshot: true,
    };
    let repository = RepositoryId::from_bytes([7; 16]);
    let bundle_id = BundleId::parse("com.example.app").unwrap();
    let header = Header {
        version,
        expires: 1_800_000_000_000,
        identity: Some(Identity { repository, bundle_id }),
    };
    let mut draft = Draft::new(&header, &root);
    let authority = root.authority(TopLevel::Root);
    draft.sign(authority, &KEY, &SystemRandom::new()).unwrap();
    TrustFile {
        root: draft.to_text().unwrap(),
        repository,
        floors: BTreeMap::from([("c-production".to_owned(), 4)]),
        revoked: BTreeSet::from([Sha256::of(b"bad")]),
    }
}

/// The trust file as a project has it.
pub fn app_trust(version: u64) -> AppTrust {
    let project = Project::new(&[(NAME, &signed_file(version).to_json())]);
    trust_file::find(&project.root(), || None).unwrap().unwrap()
}

fn embedded(project: &Project, platform: Platform, trust: &TrustFile) -> Result<Vec<Embedded>, EmbedError> {
    project.write(NAME, trust.to_json());
    let framework = framework(&project.root(), platform).unwrap();
    let trust = trust_file::find(&project.root(), || None).unwrap().expect("the file");
    embed_trust(&project.root(), framework, platform, &trust)
}

/// What the app finds in its binary.
fn found(project: &Project, path: &str) -> TrustFile {
    let text = fs::read(project.root().join(path)).unwrap();
    if !path.ends_with(".plist") {
        return TrustFile::parse(&text).unwrap();
    }
    let list = plist::Value::from_reader(std::io::Cursor::new(text)).expect("a property list");
    let value = list
        .as_dictionary()
        .and_then(|list| list.get("LaunchwayTrust"))
        .and_then(plist::Value::as_string);
    TrustFile::parse(value.expect("the key").as_bytes()).unwrap()
}

#[test]
fn each_framework_has_its_place_for_the_root() {
    let rows: [(Make, Platform, &str); 6] = [
        (
            capacitor,
            Platform::Android,
            "android/app/src/main/assets/launchway.trust.json",
        ),
        (capacitor, Platform::Ios, "ios/App/App/Info.plist"),
        (
            nativescript,
            Platform::Android,
            "App_Resources/Android/src/main/assets/launchway.trust.json",
        ),
        (nativescript, Platform::Ios, "App_Resources/iOS/Info.plist"),
        (react_native, Platform::Ios, "ios/App/Info.plist"),
        (
            flutter,
            Platform::Android,
            "android/app/src/main/assets/launchway.trust.json",
        ),
    ];
    let (first, second) = (signed_file(1), signed_file(2));
    for (make, platform, path) in rows {
        let project = make();
        let outcome = |changed| {
            vec![Embedded {
                path: path.to_owned(),
                changed,
            }]
        };
        let before = project.document(platform);
        assert_eq!(embedded(&project, platform, &first).unwrap(), outcome(true));
        assert_eq!(embedded(&project, platform, &first).unwrap(), outcome(false), "{path}");
        assert_eq!(found(&project, path), first);
        assert_eq!(embedded(&project, platform, &second).unwrap(), outcome(true));
        assert_eq!(found(&project, path), second);
        assert_eq!(project.document(platform), before, "{path} is outside the fingerprint");
    }
}

#[test]
fn an_older_root_is_not_embedded() {
    for (platform, path) in [
        (Platform::Android, "android/app/src/main/assets/launchway.trust.json"),
        (Platform::Ios, "ios/App/App/Info.plist"),
    ] {
        let project = capacitor();
        let third = signed_file(3);
        embedded(&project, platform, &third).unwrap();
        let refused = embedded(&project, platform, &signed_file(2)).unwrap_err().to_string();
        let expected = format!(
            "launchway.trust.json has version 2 of the root, which is older than version 3, and {path} contains the other \
             one; if the file is right, remove the other one from {path}"
        );
        assert_eq!(refused, expected);
        assert_eq!(found(&project, path), third);
    }
}

#[test]
fn what_is_embedded_and_unreadable_stays() {
    let project = capacitor();
    let path = "android/app/src/main/assets/launchway.trust.json";
    project.write(path, "{}");
    let refused = embedded(&project, Platform::Android, &signed_file(1)).unwrap_err();
    assert!(matches!(refused, EmbedError::EmbeddedTrust(_)), "{refused}");
    assert_eq!(fs::read_to_string(project.root().join(path)).unwrap(), "{}");
}

#[test]
fn a_root_that_nobody_signed_is_refused() {
    let mut trust = signed_file(1);
    trust.root = trust.root.replace("\"version\":1", "\"version\":2");
    let project = Project::new(&[(NAME, &trust.to_json())]);
    let refused = trust_file::find(&project.root(), || None).unwrap_err().to_string();
    let expected = "launchway.trust.json has a root that is signed by 0 of the 1 keys that must sign";
    assert_eq!(refused, expected);
}

#[test]
fn an_app_of_several_has_a_trust_file_of_its_own() {
    let project = capacitor();
    let app = |text: &str| BundleId::parse(text).ok();
    let found = |text: &str| {
        trust_file::find(&project.root(), || app(text))
            .unwrap()
            .map(|trust| trust.path)
    };
    let unasked = trust_file::find(&project.root(), || panic!("no trust file, so the app does not matter"));
    assert!(unasked.unwrap().is_none());
    project.write("launchway.trust.com.example.tv.json", signed_file(1).to_json());
    assert_eq!(found("com.example.app"), None);
    assert_eq!(
        found("com.example.tv").as_deref(),
        Some("launchway.trust.com.example.tv.json")
    );
    project.write(NAME, signed_file(1).to_json());
    assert_eq!(found("com.example.app").as_deref(), Some(NAME));
    assert_eq!(found("com.example.app.debug").as_deref(), Some(NAME));
    assert_eq!(
        found("com.example.tv").as_deref(),
        Some("launchway.trust.com.example.tv.json")
    );
    project.write(NAME, "{");
    assert!(trust_file::find(&project.root(), || app("com.example.app")).is_err());
}
