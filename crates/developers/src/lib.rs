//! Test support: the developers of an app, with their keys, what they sign, and the requests that carry it to a server.
//! Every error ends the test.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use launchway_delta::FileList;
use launchway_domain::build_number::BuildNumber;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_domain::time::EpochMs;
use launchway_domain::version::Version;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{
    Authority, Body, Delegation, Delegations, Header, Key, Keys, Metadata, RoleKeys, Root, Targets,
};
use launchway_trust::next_role::Pruning;
use launchway_trust::profile::{ROOT_LIFETIME, TARGETS_LIFETIME, UPDATE_ROLE_LIFETIME};
use launchway_trust::{Identity, PublicKey, RepositoryId, Sha256, SigningKey, TopLevel, TrustFile, Update, UpdateRole};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

/// The developers of one app. They hold every key but the server's, and know the versions that they signed last.
pub struct Developers {
    /// The repository and app.
    pub identity: Identity,
    /// The keys of root and targets.
    pub root_keys: Vec<SigningKey>,
    /// How many of them must sign.
    pub root_threshold: u64,
    /// The server's key, as roots name it.
    pub online: PublicKey,
    /// The version of the root that was signed last.
    pub root_version: u64,
    /// The version of targets that was signed last.
    pub targets_version: u64,
    /// The roles that sign updates.
    pub roles: BTreeMap<UpdateRole, Signers>,
    first_root: String,
    last_root: Option<Root>,
}

/// A role that signs updates.
pub struct Signers {
    /// Its keys.
    pub keys: Vec<SigningKey>,
    /// How many of them must sign.
    pub threshold: u64,
    /// The version that was signed last.
    pub version: u64,
    /// What it lists and revokes.
    pub content: Targets,
}

/// An update to be signed and published.
#[derive(Clone, Copy, Debug)]
pub struct Release<'a> {
    /// Its role.
    pub role: &'a UpdateRole,
    /// Its platform.
    pub platform: Platform,
    /// Its version.
    pub version: &'a str,
    /// Its build number.
    pub build: u64,
    /// Its package.
    pub package: &'a [u8],
}

/// A new key.
pub fn new_key() -> SigningKey {
    SigningKey::generate(&SystemRandom::new()).expect("a key")
}

/// The role of a configuration, `c-<configuration>`.
pub fn role_of(configuration: &str) -> UpdateRole {
    format!("c-{configuration}").parse().expect("a configuration")
}

impl Signers {
    /// A role of which nothing was signed yet.
    pub fn new() -> Self {
        Self {
            keys: vec![new_key()],
            threshold: 1,
            version: 0,
            content: Targets::default(),
        }
    }
}

impl Default for Signers {
    fn default() -> Self {
        Self::new()
    }
}

impl Release<'_> {
    /// What is signed about it.
    pub fn update(&self) -> Update {
        let list = FileList::of_archive(Cursor::new(self.package)).expect("a package");
        let manifest = list.manifest().to_string().parse().expect("a digest");
        let version = Version::parse(self.version).expect("a version");
        let build = BuildNumber::from_value(self.build).expect("a build number");
        Update::new(version, build, None, manifest)
    }

    /// The path of its target.
    pub fn path(&self) -> String {
        self.update().path(self.role, self.platform)
    }
}

impl Developers {
    /// Developers of an app who signed nothing yet. `online` is the server's key in PEM.
    pub fn new(bundle_id: &str, online: &str, roles: &[UpdateRole]) -> Self {
        let mut repository = [0; 16];
        SystemRandom::new().fill(&mut repository).expect("random bytes");
        Self {
            identity: Identity {
                repository: RepositoryId::from_bytes(repository),
                bundle_id: BundleId::parse(bundle_id).expect("a bundle id"),
            },
            root_keys: vec![new_key()],
            root_threshold: 1,
            online: PublicKey::from_pem(online).expect("a key"),
            root_version: 0,
            targets_version: 0,
            roles: roles.iter().map(|role| (role.clone(), Signers::new())).collect(),
            first_root: String::new(),
            last_root: None,
        }
    }

    /// `POST /trust` of the first root, targets and roles.
    pub fn first_trust(&mut self, now: EpochMs) -> Value {
        let root = self.sign_root(&[], now);
        let targets = self.sign_targets(now);
        let mut signed = BTreeMap::from([("targets".to_owned(), targets)]);
        for role in self.roles.keys().cloned().collect::<Vec<_>>() {
            signed.insert(role.to_string(), self.sign_role(&role, now));
        }
        json!({"bundleId": self.identity.bundle_id.as_str(), "roots": [root], "roles": signed})
    }

    /// `POST /update` of a release, signed by its role. The upload holds the package.
    pub fn publication(&mut self, release: &Release<'_>, upload_id: &str, now: EpochMs) -> Value {
        let metadata = self.sign_release(release, now);
        let mut body = json!({
            "uploadId": upload_id, "bundleId": self.identity.bundle_id.as_str(),
            "platform": release.platform.to_string(), "version": release.version,
            "buildNumber": release.build.to_string(),
            "signed": {"role": release.role.to_string(), "metadata": metadata},
        });
        if let UpdateRole::Configuration(configuration) = release.role {
            body["configuration"] = configuration.to_string().into();
        }
        body
    }

    /// The next version of a role, which lists a release in addition, and no longer what it does not keep.
    pub fn sign_release(&mut self, release: &Release<'_>, now: EpochMs) -> String {
        let (hash, length) = (Sha256::of(release.package), release.package.len() as u64);
        let signers = self.signers(release.role);
        let pruning = Pruning {
            role: release.role,
            published_at: &|_| None,
            now,
            signers: signers.keys.len(),
        };
        let content = &mut signers.content;
        content.publish(release.role, release.platform, &release.update(), hash, length);
        content.prune(&pruning);
        self.sign_role(release.role, now)
    }

    /// The next version of a role, which revokes a package in addition.
    pub fn revoke(&mut self, role: &UpdateRole, package: &[u8], now: EpochMs) -> String {
        let content = &mut self.signers(role).content;
        content.revoke(Sha256::of(package)).expect("room for a revocation");
        self.sign_role(role, now)
    }

    /// The next root, signed by its own keys, and by these too, which the root before may have named.
    pub fn sign_root(&mut self, former: &[&SigningKey], now: EpochMs) -> String {
        let root = self.root();
        self.root_version += 1;
        let mut draft = Draft::new(&self.header(self.root_version, now + ROOT_LIFETIME), &root);
        let before = self.last_root.as_ref();
        for key in self.root_keys.iter().chain(former.iter().copied()) {
            for signing in [Some(&root), before].into_iter().flatten() {
                // A key that one of both does not name signs for the other.
                let _ = draft.sign(signing.authority(TopLevel::Root), key, &SystemRandom::new());
            }
        }
        let text = draft.to_text().expect("a root");
        if self.last_root.is_none() {
            self.first_root.clone_from(&text);
        }
        self.last_root = Some(root);
        text
    }

    /// The next targets, which delegate to the roles.
    pub fn sign_targets(&mut self, now: EpochMs) -> String {
        self.targets_version += 1;
        let (root, targets) = (self.root(), self.targets());
        let header = self.header(self.targets_version, now + TARGETS_LIFETIME);
        signed(&header, &targets, root.authority(TopLevel::Targets), &self.root_keys)
    }

    /// The next version of a role as it is, signed by all of its keys.
    pub fn sign_role(&mut self, role: &UpdateRole, now: EpochMs) -> String {
        let signers = self.signers(role);
        signers.version += 1;
        let version = signers.version;
        self.sign_role_as(role, version, now + UPDATE_ROLE_LIFETIME)
    }

    /// A version of a role as it is, signed by all of its keys.
    pub fn sign_role_as(&self, role: &UpdateRole, version: u64, expires: EpochMs) -> String {
        self.sign_role_with(role, version, expires, &self.roles[role].keys)
    }

    /// A version of a role as it is, signed by these of its keys.
    pub fn sign_role_with(&self, role: &UpdateRole, version: u64, expires: EpochMs, keys: &[SigningKey]) -> String {
        let targets = self.targets();
        let delegations = targets.delegations.as_ref().expect("delegations");
        let delegation = delegations.get(&role.to_string()).expect("a delegation");
        let authority = delegations.authority(delegation);
        let content = &self.roles[role].content;
        signed(&self.header(version, expires), content, authority, keys)
    }

    /// The signatures of a role's keys over a draft of its next version, for `POST /trust/signatures`.
    pub fn sign_draft(&mut self, role: &UpdateRole, draft: &str) -> Value {
        let file = Metadata::<Targets>::parse(draft.as_bytes()).expect("a draft");
        let signers = self.signers(role);
        (signers.version, signers.content) = (file.version(), file.body().clone());
        let sign = |key: &SigningKey| {
            let signature = key.sign(file.message(), &SystemRandom::new()).expect("a signature");
            json!({"keyid": key.public().id(), "sig": hex::encode(signature)})
        };
        signers.keys.iter().map(sign).collect()
    }

    /// `launchway.trust.json` with the first root.
    pub fn trust_file(&self) -> TrustFile {
        TrustFile {
            root: self.first_root.clone(),
            repository: self.identity.repository,
            floors: BTreeMap::new(),
            revoked: BTreeSet::new(),
        }
    }

    /// A role that signs updates.
    pub fn signers(&mut self, role: &UpdateRole) -> &mut Signers {
        self.roles.get_mut(role).expect("a role of the developers")
    }

    /// The root as it would be signed now.
    pub fn root(&self) -> Root {
        let online = role_keys([&self.online], 1);
        let developers = role_keys(self.root_keys.iter().map(SigningKey::public), self.root_threshold);
        let named = self.root_keys.iter().map(SigningKey::public).chain([&self.online]);
        Root {
            keys: keys(named),
            root: developers.clone(),
            timestamp: online.clone(),
            snapshot: online,
            targets: developers,
            consistent_snapshot: true,
        }
    }

    /// Targets as they would be signed now.
    pub fn targets(&self) -> Targets {
        let delegation = |(role, signers): (&UpdateRole, &Signers)| Delegation {
            name: role.to_string(),
            role: role_keys(signers.keys.iter().map(SigningKey::public), signers.threshold),
            terminating: true,
            paths: vec![role.path_pattern()],
        };
        let all = self.roles.values().flat_map(|signers| &signers.keys);
        Targets {
            delegations: Some(Delegations {
                keys: keys(all.map(SigningKey::public)),
                roles: self.roles.iter().map(delegation).collect(),
            }),
            ..Targets::default()
        }
    }

    /// What files of this version begin with.
    pub fn header(&self, version: u64, expires: EpochMs) -> Header {
        Header {
            version,
            expires,
            identity: Some(self.identity.clone()),
        }
    }
}

/// A file with the signatures of these keys.
pub fn signed<T: Body>(header: &Header, body: &T, authority: Authority<'_>, keys: &[SigningKey]) -> String {
    let mut draft = Draft::new(header, body);
    for key in keys {
        draft
            .sign(authority, key, &SystemRandom::new())
            .expect("a key of the role");
    }
    draft.to_text().expect("a file that clients read")
}

fn keys<'k>(keys: impl IntoIterator<Item = &'k PublicKey>) -> Keys {
    keys.into_iter().map(|key| (key.id(), Key::from(*key))).collect()
}

fn role_keys<'k>(keys: impl IntoIterator<Item = &'k PublicKey>, threshold: u64) -> RoleKeys {
    RoleKeys {
        key_ids: keys.into_iter().map(PublicKey::id).collect(),
        threshold,
    }
}
