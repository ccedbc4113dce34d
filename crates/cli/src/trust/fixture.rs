//! A repository for tests: what `trust init` makes, and the server's signatures.

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{DAY, EpochMs};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Header, Metadata, Targets};
use launchway_trust::online::{OnlineRequest, sign_online};
use launchway_trust::{Identity, RepositoryId, SigningKey, TrustFile, UpdateRole};
use ring::rand::SystemRandom;

use crate::environment::Environment;
use crate::terminal::Terminal;
use crate::trust::keys::generate;
use crate::trust::repository::VerifiedRepository;
use crate::trust::setup::{FirstVersions, Progress};
use crate::trust::signers::Signers;

/// The time of everything.
pub const NOW: EpochMs = 1_795_000_000_000;

/// The keys and files of an app.
pub struct Fixture {
    pub root_key: SigningKey,
    pub recovery_key: SigningKey,
    pub signing_key: SigningKey,
    online_key: SigningKey,
    pub identity: Identity,
    pub trust_file: TrustFile,
    /// What the server serves, by name.
    pub files: BTreeMap<String, String>,
}

/// A new key.
pub fn key() -> SigningKey {
    generate(&SystemRandom::new()).expect("a key")
}

/// `c-production`.
pub fn production() -> UpdateRole {
    "c-production".parse().expect("a role")
}

/// Whoever can sign in this environment, without a terminal.
pub fn signers(environment: &Environment, sign_with: Option<&str>) -> Signers {
    let terminal = Terminal::new(&Environment::from([("CI", "1")]));
    Signers::of(environment, terminal, sign_with).expect("a valid environment")
}

impl Fixture {
    /// What `trust init` made.
    pub async fn new() -> Self {
        let (root_key, recovery_key, signing_key, online_key) = (key(), key(), key(), key());
        let identity = Identity {
            repository: RepositoryId::from_bytes([7; 16]),
            bundle_id: BundleId::parse("com.example.app").expect("a bundle id"),
        };
        let progress = Progress {
            repository: identity.repository.to_string(),
            root_key: root_key.public().to_pem(),
            signing_key: signing_key.public().to_pem(),
            recovery_key: Some(recovery_key.public().to_pem()),
            root: None,
        };
        let first = FirstVersions {
            identity: identity.clone(),
            root_version: 1,
            role: &production(),
            online: *online_key.public(),
            now: NOW,
        };
        let mut signers = signers(&Environment::default(), None);
        for key in [&root_key, &signing_key] {
            signers.add(SigningKey::from_pem(&key.to_pem(), None).expect("the same key"));
        }
        let made = first.sign(&progress, &mut signers).await.expect("signed files");
        let files = [
            ("1.targets.json".to_owned(), made.targets),
            ("1.c-production.json".to_owned(), made.role),
        ];
        let trust_file = TrustFile {
            root: made.root,
            repository: identity.repository,
            floors: BTreeMap::new(),
            revoked: Default::default(),
        };
        let mut fixture = Self {
            root_key,
            recovery_key,
            signing_key,
            online_key,
            identity,
            trust_file,
            files: files.into(),
        };
        fixture.sign_online_roles(1);
        fixture
    }

    /// Signs and serves a version of `c-production`.
    pub fn publish(&mut self, header: &Header, body: &Targets) {
        let targets: Metadata<Targets> = Metadata::parse(self.files["1.targets.json"].as_bytes()).expect("targets");
        let delegations = targets.body().delegations.as_ref().expect("delegations");
        let delegation = delegations.get("c-production").expect("the role");
        let mut draft = Draft::new(header, body);
        let authority = delegations.authority(delegation);
        let signed = draft.sign(authority, &self.signing_key, &SystemRandom::new());
        signed.expect("the key of the role");
        let name = format!("{}.c-production.json", header.version);
        self.files.insert(name, draft.to_text().expect("a short file"));
        self.sign_online_roles(header.version);
    }

    /// Signs snapshot and timestamp as the server does, with this version of `c-production`.
    fn sign_online_roles(&mut self, version: u64) {
        let root = Metadata::parse(self.trust_file.root.as_bytes()).expect("a root");
        let online = OnlineRequest {
            root: root.body(),
            identity: &self.identity,
            previous_snapshot: None,
            previous_timestamp: None,
            roles: &BTreeMap::from([("targets".to_owned(), 1), ("c-production".to_owned(), version)]),
            now: NOW,
            expires: NOW + 7 * DAY,
        };
        let online = sign_online(&online, &self.online_key, &SystemRandom::new()).expect("signed files");
        let name = format!("{}.snapshot.json", online.snapshot_version);
        self.files.insert(name, online.snapshot);
        self.files.insert("timestamp.json".to_owned(), online.timestamp);
    }

    /// What a developer verified of it.
    pub fn verified(&self) -> VerifiedRepository {
        VerifiedRepository::of_files(&self.trust_file, &self.identity.bundle_id, &self.files, NOW)
    }
}
