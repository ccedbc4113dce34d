//! Reads the metadata of an app while its updates are loaded, and decides which of them are offered: an update that a
//! role signs only while the role's file lists it, and none that is revoked.

use std::collections::BTreeMap;

use bytes::Bytes;
use launchway_blob::Key;
use launchway_domain::rollout::Rollout;
use launchway_domain::update::UpdateStatus;
use launchway_store::{OfferedUpdate, TrustFileRow};
use launchway_trust::metadata::{Body, Metadata, Snapshot, Targets, Timestamp};
use launchway_trust::{Sha256, UpdateRole, target_path};

use super::{Download, Listing, ServedFile, TrustSet, etag_of, file_name};

/// The role whose revocations hold for apps of every configuration.
const ANY: &str = "any";

/// The metadata of one app while its updates are loaded.
#[derive(Debug)]
pub struct TrustLoad {
    bundle_key: Box<str>,
    /// The stored files, until the first update is looked at.
    files: Vec<TrustFileRow>,
    read: Option<ReadTrust>,
}

/// Metadata that was read.
#[derive(Debug)]
struct ReadTrust {
    set: TrustSet,
    /// The roles that `targets` delegates to.
    roles: BTreeMap<String, SignedRole>,
}

/// What the current file of a role says.
#[derive(Debug)]
struct SignedRole {
    targets: BTreeMap<String, Sha256>,
    revoked: Vec<Sha256>,
}

impl TrustLoad {
    /// The metadata of the app with this key, of which nothing is known yet.
    pub fn new(bundle_key: &str) -> TrustLoad {
        TrustLoad {
            bundle_key: bundle_key.into(),
            files: Vec::new(),
            read: None,
        }
    }

    /// Adds a stored file. All of them come before the first update.
    pub fn push(&mut self, file: TrustFileRow) {
        self.files.push(file);
    }

    /// Whether an update may be offered. If it is published for everybody, [`TrustSet::download`] finds it from now on.
    pub fn admit(&mut self, update: &OfferedUpdate) -> bool {
        self.read_files();
        match &mut self.read {
            Some(read) => read.admit(update),
            None => update.trust_role.is_none(),
        }
    }

    /// What is served, once all updates were looked at; `None` if the stored files are not a complete set.
    pub fn finish(mut self) -> Option<TrustSet> {
        self.read_files();
        self.read.map(|read| read.set)
    }

    fn read_files(&mut self) {
        if !self.files.is_empty() {
            let files = std::mem::take(&mut self.files);
            self.read = ReadTrust::new(&self.bundle_key, files);
            if self.read.is_none() {
                let bundle_key = &*self.bundle_key;
                tracing::error!(
                    bundle_key,
                    "the stored metadata is incomplete; signed updates are not offered"
                );
            }
        }
    }
}

impl ReadTrust {
    fn new(bundle_key: &str, files: Vec<TrustFileRow>) -> Option<ReadTrust> {
        let stored = StoredFiles {
            bundle_key,
            files: &files,
        };
        let root = stored.newest("root", u64::MAX)?.version;
        let timestamp: Metadata<Timestamp> = stored.parse(stored.newest("timestamp", u64::MAX)?)?;
        let version = timestamp.body().snapshot.version;
        let snapshot: Metadata<Snapshot> = stored.parse(stored.find("snapshot", version)?)?;
        let targets = snapshot.body().role("targets")?.version;
        let targets: Metadata<Targets> = stored.parse(stored.find("targets", targets)?)?;
        let delegated = targets.body().delegations.iter().flat_map(|all| &all.roles);
        let names: Vec<&str> = delegated.map(|delegation| delegation.name.as_str()).collect();
        let read = |name: &str| {
            let listed = snapshot.body().role(name)?;
            let file = stored.parse(stored.find(name, listed.version)?)?;
            Some((name.to_owned(), SignedRole::of(file.body())))
        };
        let roles = names.iter().filter_map(|name| read(name)).collect();
        let before = stored.newest("snapshot", version.saturating_sub(1));
        let before = before.and_then(|file| stored.parse(file));
        let (current, previous) = (
            Listing::of(&snapshot, &names),
            before.map(|before| Listing::of(&before, &names)),
        );
        let files = served(files, timestamp.version());
        let set = TrustSet {
            announcement: format!(r#"{{"root":{root},"snapshot":{version}}}"#).into(),
            etag: etag_of_all(&files),
            files,
            root,
            current,
            previous,
            downloads: BTreeMap::new(),
        };
        Some(ReadTrust { set, roles })
    }

    fn admit(&mut self, update: &OfferedUpdate) -> bool {
        let Ok(sha256) = update.sha256.parse::<Sha256>() else {
            return false;
        };
        let revokes = |name: &str| self.roles.get(name).is_some_and(|role| role.revoked.contains(&sha256));
        let Some(name) = &update.trust_role else {
            // Published before the app had a root, so every role speaks for it.
            return !self.roles.keys().any(|name| revokes(name));
        };
        let (Some(signed), Ok(role)) = (self.roles.get(name), name.parse::<UpdateRole>()) else {
            return false;
        };
        let path = target_path(&role, update.platform, &update.version, update.build_number.value());
        let is_listed = signed.targets.get(&path) == Some(&sha256);
        let is_offered = is_listed && !revokes(name) && !revokes(ANY);
        if is_offered && update.status == UpdateStatus::Published && update.rollout == Rollout::FULL {
            self.add_download(&path, sha256, update);
        }
        is_offered
    }

    fn add_download(&mut self, path: &str, sha256: Sha256, update: &OfferedUpdate) {
        let (Some((folder, name)), Ok(blob_key)) = (path.rsplit_once('/'), Key::new(&update.blob_key)) else {
            return;
        };
        let download = Download {
            blob_key,
            file_name: download_name(update),
        };
        let path = format!("{folder}/{sha256}.{name}");
        self.set.downloads.insert(path.into(), download);
    }
}

impl SignedRole {
    fn of(file: &Targets) -> SignedRole {
        let targets = file.targets.iter();
        SignedRole {
            targets: targets
                .filter_map(|(path, target)| Some((path.clone(), target.sha256()?)))
                .collect(),
            revoked: file.revoked.clone(),
        }
    }
}

impl Listing {
    /// What a snapshot says of `targets` and these roles.
    fn of(snapshot: &Metadata<Snapshot>, names: &[&str]) -> Listing {
        let roles = names.iter().chain(&["targets"]);
        Listing {
            snapshot: snapshot.version(),
            roles: roles
                .filter_map(|name| Some(((*name).to_owned(), snapshot.body().role(name)?.version)))
                .collect(),
        }
    }
}

/// The file name of an update's download.
fn download_name(update: &OfferedUpdate) -> Box<str> {
    let OfferedUpdate {
        bundle_id,
        version_text,
        build_number,
        ..
    } = update;
    format!("{bundle_id}-{version_text}-{}.zip", build_number.as_str()).into()
}

/// What is stored of one app.
struct StoredFiles<'f> {
    bundle_key: &'f str,
    files: &'f [TrustFileRow],
}

impl<'f> StoredFiles<'f> {
    /// The newest version of a role up to this one.
    fn newest(&self, role: &str, version: u64) -> Option<&'f TrustFileRow> {
        let versions = self
            .files
            .iter()
            .filter(|file| file.role == role && file.version <= version);
        versions.max_by_key(|file| file.version)
    }

    fn find(&self, role: &str, version: u64) -> Option<&'f TrustFileRow> {
        self.newest(role, version).filter(|file| file.version == version)
    }

    /// What a file says; `None` if it is unreadable, which the log says.
    fn parse<T: Body>(&self, file: &TrustFileRow) -> Option<Metadata<T>> {
        let (bundle_key, role, version) = (self.bundle_key, file.role.as_str(), file.version);
        let parsed = Metadata::parse(file.content.as_bytes());
        parsed
            .map_err(|error| tracing::error!(bundle_key, role, version, %error, "stored metadata is not readable"))
            .ok()
    }
}

/// The files by name: of the timestamp only the current one, which has no version in its name.
fn served(files: Vec<TrustFileRow>, timestamp: u64) -> BTreeMap<Box<str>, ServedFile> {
    let named = files
        .into_iter()
        .filter(|file| file.role != "timestamp" || file.version == timestamp);
    named
        .map(|file| {
            let name = file_name(&file.role, file.version);
            let bytes = Bytes::from(file.content.into_boxed_str().into_boxed_bytes());
            let etag = etag_of(&bytes);
            (name.into(), ServedFile { bytes, etag })
        })
        .collect()
}

fn etag_of_all(files: &BTreeMap<Box<str>, ServedFile>) -> Box<str> {
    let all: Vec<&str> = files.iter().flat_map(|(name, file)| [&**name, &*file.etag]).collect();
    etag_of(all.concat().as_bytes())
}
