//! The first files of a repository, and the keys that sign them. Everything is saved before the next step, so that a command
//! that dies in between goes on where it was.

use std::fs;
use std::io;
use std::path::PathBuf;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::EpochMs;
use launchway_trust::draft::Draft;
use launchway_trust::metadata::{Body, Delegation, Delegations, Key, Keys, RoleKeys, Root, Targets};
use launchway_trust::{Identity, PublicKey, RepositoryId, TopLevel, UpdateRole};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::developer_role::DeveloperRole;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::private_file;
use crate::trust::keys::{KeyDirectory, generate};
use crate::trust::repository::header;
use crate::trust::signers::{self, Signers};

/// What was done so far. Public keys are PEM.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub repository: String,
    pub root_key: String,
    pub signing_key: String,
    /// Absent until its holder has stored the private key.
    pub recovery_key: Option<String>,
    /// The root that was sent last.
    pub root: Option<String>,
}

/// Where the progress of an app's setup is kept.
#[derive(Debug)]
pub struct ProgressFile(PathBuf);

impl ProgressFile {
    /// `doing` is `init` or `reset`.
    pub fn of(environment: &Environment, doing: &str, bundle_id: &BundleId) -> Result<Self, Failure> {
        let directory = private_file::directory(environment).ok_or_else(|| {
            Failure::failed("no directory to save keys in").hint("set HOME or XDG_CONFIG_HOME to a directory")
        })?;
        Ok(Self(directory.join("trust").join(format!(
            "{doing}.{}.json",
            bundle_id.as_str().to_ascii_lowercase()
        ))))
    }

    /// What was done; `None` if nothing was begun.
    pub fn load(&self) -> Result<Option<Progress>, Failure> {
        let shown = self.0.display();
        match fs::read_to_string(&self.0) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|_| Failure::failed(format!("{shown} is damaged")).hint("delete it to begin with new keys")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::failed(format!("cannot read {shown}: {error}"))),
        }
    }

    pub fn save(&self, progress: &Progress) -> Result<(), Failure> {
        let text = serde_json::to_string(progress).map_err(|error| Failure::failed(error.to_string()))?;
        private_file::write(&self.0, &text)
    }

    /// Everything is done.
    pub fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::failed(format!("cannot delete {}: {error}", self.0.display())))
            }
            _ => Ok(()),
        }
    }
}

/// Makes the root key and the signing key, unless an earlier run did.
pub async fn make_keys(file: &ProgressFile, signers: &mut Signers, context: &Context) -> Result<Progress, Failure> {
    let directory = KeyDirectory::of(&context.environment);
    if let Some(progress) = file.load()? {
        let keys = [public(&progress.root_key)?, public(&progress.signing_key)?];
        let here = keys
            .iter()
            .map(|key| Ok(directory.load(key)?.is_some()))
            .collect::<Result<Vec<_>, Failure>>()?;
        if here.iter().all(|here| *here) {
            context.printer.note("Continuing with the keys of an earlier run");
            return Ok(progress);
        }
    }
    let random = SystemRandom::new();
    let passphrase = signers.passphrases().choose().await?;
    let (root, signing) = (generate(&random)?, generate(&random)?);
    for key in [&root, &signing] {
        directory.save(key, &passphrase, &random)?;
    }
    let mut repository = [0; 16];
    let filled = random.fill(&mut repository);
    filled.map_err(|_| Failure::failed("the system has no randomness"))?;
    let progress = Progress {
        repository: RepositoryId::from_bytes(repository).to_string(),
        root_key: root.public().to_pem(),
        signing_key: signing.public().to_pem(),
        recovery_key: None,
        root: None,
    };
    file.save(&progress)?;
    signers.add(root);
    signers.add(signing);
    Ok(progress)
}

/// The first files of a repository, signed.
pub struct FirstFiles {
    pub root: String,
    pub targets: String,
    pub role: String,
}

/// What the first files say.
pub struct FirstVersions<'a> {
    pub identity: Identity,
    pub root_version: u64,
    pub role: &'a UpdateRole,
    pub online: PublicKey,
    pub now: EpochMs,
}

impl FirstVersions<'_> {
    /// Signs root, targets and role by the keys of this machine. The recovery key holds root and targets too.
    pub async fn sign(&self, progress: &Progress, signers: &mut Signers) -> Result<FirstFiles, Failure> {
        let root_key = public(&progress.root_key)?;
        let recovery = progress.recovery_key.as_deref().map(public).transpose()?;
        let developers: Vec<_> = [Some((root_key, "root")), recovery.map(|key| (key, "recovery"))]
            .into_iter()
            .flatten()
            .collect();
        let signing = public(&progress.signing_key)?;
        let root = self.root(&developers);
        let targets = self.targets(signing);
        let top_level = |role| [root.authority(role)];
        let delegations = targets.delegations.clone().unwrap_or_default();
        let named = delegations.get(&self.role.to_string());
        let named: Vec<_> = named.map(|named| delegations.authority(named)).into_iter().collect();
        Ok(FirstFiles {
            root: self
                .file(&DeveloperRole::Root, &root, &top_level(TopLevel::Root), signers)
                .await?,
            targets: self
                .file(
                    &DeveloperRole::Targets,
                    &targets,
                    &top_level(TopLevel::Targets),
                    signers,
                )
                .await?,
            role: self
                .file(
                    &DeveloperRole::Update(self.role.clone()),
                    &Targets::default(),
                    &named,
                    signers,
                )
                .await?,
        })
    }

    fn root(&self, developers: &[(PublicKey, &str)]) -> Root {
        let named = developers
            .iter()
            .map(|(key, name)| (key.id(), Key::with_name(*key, name)));
        let online = RoleKeys {
            key_ids: vec![self.online.id()],
            threshold: 1,
        };
        let developers = RoleKeys {
            key_ids: developers.iter().map(|(key, _)| key.id()).collect(),
            threshold: 1,
        };
        Root {
            keys: named
                .chain([(self.online.id(), Key::from(self.online))])
                .collect::<Keys>(),
            root: developers.clone(),
            timestamp: online.clone(),
            snapshot: online,
            targets: developers,
            consistent_snapshot: true,
        }
    }

    fn targets(&self, signing: PublicKey) -> Targets {
        let delegations = Delegations {
            keys: Keys::from([(signing.id(), Key::from(signing))]),
            roles: vec![Delegation {
                name: self.role.to_string(),
                role: RoleKeys {
                    key_ids: vec![signing.id()],
                    threshold: 1,
                },
                terminating: true,
                paths: vec![self.role.path_pattern()],
            }],
        };
        Targets {
            delegations: Some(delegations),
            ..Targets::default()
        }
    }

    async fn file<T: Body>(
        &self,
        role: &DeveloperRole,
        body: &T,
        authorities: &[launchway_trust::metadata::Authority<'_>],
        signers: &mut Signers,
    ) -> Result<String, Failure> {
        let version = match role {
            DeveloperRole::Root => self.root_version,
            _ => 1,
        };
        let mut draft = Draft::new(&header(&self.identity, role, version, self.now), body);
        signers.sign::<T>(&mut draft, &role.to_string(), authorities).await?;
        signers::text(&draft)
    }
}

/// A public key of the progress.
pub fn public(pem: &str) -> Result<PublicKey, Failure> {
    PublicKey::from_pem(pem).map_err(|error| Failure::failed(format!("a saved public key {error}")))
}
