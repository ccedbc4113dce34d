//! A repository as created by server and developers: its files by name, and all keys.

use std::collections::BTreeMap;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::configuration::Configuration;
use launchway_domain::platform::Platform;
use launchway_domain::time::{DAY, EpochMs};
use launchway_domain::version::Version;
use launchway_trust::client::{Client, Refresh, StoredTrust};
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Delegation, Delegations, Header, Key, Metadata, RoleKeys, Root, Snapshot, Targets};
use launchway_trust::online::{OnlineRequest, sign_online};
use launchway_trust::{
    Identity, PublicKey, RepositoryId, RoleError, Sha256, SigningKey, TopLevel, TrustFile, Update, UpdateRole,
};
use ring::rand::SystemRandom;

/// The default time of all actions.
pub const NOW: EpochMs = 1_795_000_000_000;
pub const PACKAGE: &[u8] = b"the package of an update";

pub struct Repository {
    pub identity: Identity,
    pub now: EpochMs,
    pub root_key: SigningKey,
    pub ci_key: SigningKey,
    pub online_key: SigningKey,
    pub root: Root,
    pub root_version: u64,
    pub root_expires: EpochMs,
    pub targets: Targets,
    pub versions: BTreeMap<String, u64>,
    pub roles: BTreeMap<UpdateRole, Targets>,
    /// The files that the server serves.
    pub files: BTreeMap<String, String>,
    online: Option<(u64, Snapshot, u64)>,
}

/// The role of the configuration of the tests' app.
pub fn production() -> UpdateRole {
    UpdateRole::Configuration(Configuration::parse("production").unwrap())
}

pub fn key() -> SigningKey {
    SigningKey::generate(&SystemRandom::new()).unwrap()
}

pub fn role_keys(keys: &[&SigningKey], threshold: u64) -> RoleKeys {
    RoleKeys {
        key_ids: keys.iter().map(|key| key.public().id()).collect(),
        threshold,
    }
}

pub fn update(version: &str, build: u64) -> Update {
    let build = launchway_domain::build_number::BuildNumber::from_value(build).unwrap();
    let manifest = Sha256::of(b"a list of files");
    Update::new(
        Version::parse(version).unwrap(),
        build,
        Some("native-1".to_owned()),
        manifest,
    )
}

impl Repository {
    /// A repository whose role `c-production` signed version 1.1.0, build 2, for Android.
    pub fn new() -> Self {
        let (root_key, ci_key, online_key) = (key(), key(), key());
        let online = role_keys(&[&online_key], 1);
        let developers = role_keys(&[&root_key], 1);
        let mut repository = Self {
            identity: Identity {
                repository: RepositoryId::from_bytes([7; 16]),
                bundle_id: BundleId::parse("com.example.app").unwrap(),
            },
            now: NOW,
            root: Root {
                keys: keys([root_key.public(), online_key.public()]),
                root: developers.clone(),
                timestamp: online.clone(),
                snapshot: online,
                targets: developers,
                consistent_snapshot: true,
            },
            root_key,
            ci_key,
            online_key,
            root_version: 0,
            root_expires: NOW + 365 * DAY,
            targets: Targets::default(),
            versions: BTreeMap::new(),
            roles: BTreeMap::new(),
            files: BTreeMap::new(),
            online: None,
        };
        repository.sign_root(&[]);
        let ci = repository.ci_key.public().to_owned();
        repository.delegate(&production(), &[ci], 1);
        repository.sign_targets();
        repository.publish_update(&production(), Platform::Android, &update("1.1.0", 2), PACKAGE);
        repository.publish();
        repository
    }

    /// Signs the next root with the root key and these.
    pub fn sign_root(&mut self, others: &[&SigningKey]) {
        self.root_version += 1;
        let header = self.header(self.root_version, self.root_expires);
        let mut draft = Draft::new(&header, &self.root);
        let random = SystemRandom::new();
        let before = self.file::<Root>(&format!("{}.root.json", self.root_version - 1));
        for key in [&self.root_key].iter().chain(others) {
            let signed = draft.sign(self.root.authority(TopLevel::Root), key, &random);
            let previous = before.as_ref().map(|root| root.body().authority(TopLevel::Root));
            let also = previous.is_some_and(|authority| draft.sign(authority, key, &random).is_ok());
            assert!(signed.is_ok() || also);
        }
        let name = format!("{}.root.json", self.root_version);
        self.files.insert(name, draft.to_text().unwrap());
    }

    /// Delegates to a role. Sign targets afterwards.
    pub fn delegate(&mut self, role: &UpdateRole, signers: &[PublicKey], threshold: u64) {
        let delegations = self.targets.delegations.get_or_insert_with(Delegations::default);
        delegations.keys.extend(keys(signers.iter()));
        delegations.roles.retain(|known| known.name != role.to_string());
        delegations.roles.push(Delegation {
            name: role.to_string(),
            role: RoleKeys {
                key_ids: signers.iter().map(PublicKey::id).collect(),
                threshold,
            },
            terminating: true,
            paths: vec![role.path_pattern()],
        });
    }

    pub fn sign_targets(&mut self) {
        let version = self.next("targets");
        let header = self.header(version, self.now + 365 * DAY);
        let mut draft = Draft::new(&header, &self.targets);
        let authority = self.root.authority(TopLevel::Targets);
        draft.sign(authority, &self.root_key, &SystemRandom::new()).unwrap();
        self.files
            .insert(format!("{version}.targets.json"), draft.to_text().unwrap());
    }

    /// Signs the next version of a role with the CI's key.
    pub fn sign_role(&mut self, role: &UpdateRole) {
        let version = self.next(&role.to_string());
        self.sign_role_as(role, version, self.now + 180 * DAY);
    }

    pub fn sign_role_as(&mut self, role: &UpdateRole, version: u64, expires: EpochMs) {
        let name = role.to_string();
        self.versions.insert(name.clone(), version);
        let mut draft = Draft::new(&self.header(version, expires), &self.roles[role]);
        let delegations = self.targets.delegations.as_ref().unwrap();
        let authority = delegations.authority(delegations.get(&name).unwrap());
        draft.sign(authority, &self.ci_key, &SystemRandom::new()).unwrap();
        self.files
            .insert(format!("{version}.{name}.json"), draft.to_text().unwrap());
    }

    pub fn publish_update(&mut self, role: &UpdateRole, platform: Platform, update: &Update, package: &[u8]) {
        let targets = self.roles.entry(role.clone()).or_default();
        targets.publish(role, platform, update, Sha256::of(package), package.len() as u64);
        self.sign_role(role);
    }

    /// Signs snapshot and timestamp like the server.
    pub fn publish(&mut self) {
        self.publish_until(self.now + 7 * DAY);
    }

    pub fn publish_until(&mut self, expires: EpochMs) {
        let request = OnlineRequest {
            root: &self.root,
            identity: &self.identity,
            previous_snapshot: self.online.as_ref().map(|(version, snapshot, _)| (*version, snapshot)),
            previous_timestamp: self.online.as_ref().map(|(_, _, version)| *version),
            roles: &self.versions,
            now: self.now,
            expires,
        };
        let signed = sign_online(&request, &self.online_key, &SystemRandom::new()).unwrap();
        let snapshot: Metadata<Snapshot> = Metadata::parse(signed.snapshot.as_bytes()).unwrap();
        self.online = Some((
            signed.snapshot_version,
            snapshot.body().clone(),
            signed.timestamp_version,
        ));
        self.files
            .insert(format!("{}.snapshot.json", signed.snapshot_version), signed.snapshot);
        self.files.insert("timestamp.json".to_owned(), signed.timestamp);
    }

    /// Gives the server a new key, and starts new versions of snapshot and timestamp.
    pub fn replace_online_key(&mut self) {
        self.online_key = key();
        let online = role_keys(&[&self.online_key], 1);
        self.root.keys.extend(keys([self.online_key.public()]));
        (self.root.timestamp, self.root.snapshot) = (online.clone(), online);
        self.online = None;
        self.sign_root(&[]);
    }

    /// The app's `launchway.trust.json`, with the first root.
    pub fn trust_file(&self) -> TrustFile {
        TrustFile {
            root: self.files["1.root.json"].clone(),
            repository: self.identity.repository,
            floors: BTreeMap::new(),
            revoked: Default::default(),
        }
    }

    pub fn client(&self) -> Client {
        self.client_with(&self.trust_file(), None)
    }

    pub fn client_with(&self, embedded: &TrustFile, stored: Option<&StoredTrust>) -> Client {
        let production = Configuration::parse("production").unwrap();
        Client::open(embedded, &self.identity.bundle_id, Some(&production), stored).unwrap()
    }

    /// Fetches with a client; returns the names of the requested files.
    pub fn refresh(&self, client: &mut Client) -> Result<Vec<String>, RoleError> {
        let mut asked = Vec::new();
        drive(&mut client.refresh(self.now), |name| {
            asked.push(name.to_owned());
            self.files.get(name).map(|text| text.as_bytes().to_vec())
        })?;
        Ok(asked)
    }

    /// The name of the file of a role that the last snapshot lists.
    pub fn name_of(&self, role: &str) -> String {
        match role {
            "timestamp" => "timestamp.json".to_owned(),
            "snapshot" => format!("{}.snapshot.json", self.online.as_ref().unwrap().0),
            "root" => format!("{}.root.json", self.root_version),
            role => format!("{}.{role}.json", self.versions[role]),
        }
    }

    pub fn file<T: launchway_trust::metadata::Body>(&self, name: &str) -> Option<Metadata<T>> {
        Some(Metadata::parse(self.files.get(name)?.as_bytes()).unwrap())
    }

    pub fn header(&self, version: u64, expires: EpochMs) -> Header {
        Header {
            version,
            expires,
            identity: Some(self.identity.clone()),
        }
    }

    fn next(&mut self, role: &str) -> u64 {
        let version = self.versions.entry(role.to_owned()).or_default();
        *version += 1;
        *version
    }
}

/// Fetches until the client requests nothing more.
pub fn drive(refresh: &mut Refresh<'_>, mut fetch: impl FnMut(&str) -> Option<Vec<u8>>) -> Result<(), RoleError> {
    while let Some(request) = refresh.next_request()? {
        match fetch(&request.to_string()) {
            Some(bytes) => drop(refresh.take(&bytes)?),
            None => refresh.report_missing()?,
        }
    }
    Ok(())
}

pub fn keys<'a>(keys: impl IntoIterator<Item = &'a PublicKey>) -> BTreeMap<String, Key> {
    keys.into_iter().map(|key| (key.id(), Key::from(*key))).collect()
}

/// The role and the code of a refusal.
pub fn outcome(result: Result<impl Sized, RoleError>) -> String {
    match result {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => format!("{} {}", refusal.role, refusal.reason.code()),
    }
}
