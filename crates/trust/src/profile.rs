//! The rules of Launchway's own metadata beyond The Update Framework. The server and the command line check it before a
//! file is published, so that no phone has to refuse it (`docs/reference/trust.md#repository`).

use launchway_domain::time::{DAY, EpochMs};

use crate::key::PublicKey;
use crate::metadata::{Authority, FormError, Metadata, Root, Targets};
use crate::role::{TopLevel, UpdateRole};
use crate::trusted_metadata::delegation;
use crate::update::{Update, platform_of};

/// A root is valid for at most this long: two years.
pub const MAX_ROOT_LIFETIME: EpochMs = 731 * DAY;
/// How long a root is valid unless its developers say otherwise.
pub const ROOT_LIFETIME: EpochMs = 365 * DAY;
/// How long `targets` is valid.
pub const TARGETS_LIFETIME: EpochMs = 365 * DAY;
/// How long a role that signs updates is valid. Each signing renews it.
pub const UPDATE_ROLE_LIFETIME: EpochMs = 180 * DAY;
/// How long snapshot and timestamp are valid by default.
pub const ONLINE_LIFETIME: EpochMs = 7 * DAY;

/// The rule that a file breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// `consistent_snapshot` is not `true`.
    #[error("the root has no consistent snapshots")]
    ConsistentSnapshot,
    /// It is valid for too long.
    #[error("the root is valid for more than two years")]
    Lifetime,
    /// A key is not a P-256 key.
    #[error("`{role}` has the key {key_id}, which is missing or not an ECDSA P-256 key")]
    Key {
        /// The role.
        role: String,
        /// The id of the key.
        key_id: String,
    },
    /// Fewer keys than must sign.
    #[error("`{role}` needs {threshold} signatures and has {keys} distinct keys")]
    Threshold {
        /// The role.
        role: String,
        /// How many must sign.
        threshold: u64,
        /// How many there are.
        keys: usize,
    },
    /// Snapshot or timestamp is signed by another key than the server's alone.
    #[error("`{role}` must be signed by the server's key alone")]
    OnlineKey {
        /// The role.
        role: TopLevel,
    },
    /// The server's key may sign for developers.
    #[error("`{role}` must not be signed by the server's key")]
    ServerSigns {
        /// The role.
        role: String,
    },
    /// The role has another name than `any` and `c-<configuration>`.
    #[error("`{role}` is not a role of this repository")]
    Role {
        /// The role.
        role: String,
    },
    /// The delegation is for other paths, or lets later roles sign for them.
    #[error("the delegation to `{role}` must be terminating and only for its own paths")]
    Delegation {
        /// The role.
        role: String,
    },
    /// `targets` lists updates, or a role that signs updates delegates.
    #[error("`{role}` must not {what}")]
    Content {
        /// The role.
        role: String,
        /// What it must not do.
        what: &'static str,
    },
    /// A target is not an update of the role.
    #[error("`{path}` is not an update of its role")]
    Target {
        /// The path.
        path: String,
    },
    /// A target cannot be read.
    #[error("`{path}` {error}")]
    Custom {
        /// The path.
        path: String,
        /// What is wrong.
        error: FormError,
    },
}

/// Checks a root that the server is about to accept. `online` is the key that this server signs with.
///
/// # Errors
/// See [`ProfileError`].
pub fn check_root(root: &Metadata<Root>, online: &PublicKey, now: EpochMs) -> Result<(), ProfileError> {
    if !root.body().consistent_snapshot {
        return Err(ProfileError::ConsistentSnapshot);
    }
    if root.header().expires.saturating_sub(now) > MAX_ROOT_LIFETIME {
        return Err(ProfileError::Lifetime);
    }
    for role in TopLevel::ALL {
        let authority = root.body().authority(role);
        check_authority(role.name(), authority)?;
        let signers = authority.signers();
        match role {
            TopLevel::Snapshot | TopLevel::Timestamp => {
                if signers.len() != 1 || !signers.contains(online) {
                    return Err(ProfileError::OnlineKey { role });
                }
            }
            TopLevel::Root | TopLevel::Targets => refuse_server(role.name(), authority, online)?,
        }
    }
    Ok(())
}

/// Checks targets: they list no updates and delegate to roles of configurations and to `any`, each for its own paths.
///
/// # Errors
/// See [`ProfileError`].
pub fn check_targets(targets: &Metadata<Targets>, online: &PublicKey) -> Result<(), ProfileError> {
    if !targets.body().targets.is_empty() {
        return Err(ProfileError::Content {
            role: "targets".to_owned(),
            what: "list updates",
        });
    }
    for named in targets.body().delegations.iter().flat_map(|all| &all.roles) {
        let name = || named.name.clone();
        let role: UpdateRole = named.name.parse().map_err(|_| ProfileError::Role { role: name() })?;
        if !named.terminating || named.paths != [role.path_pattern()] {
            return Err(ProfileError::Delegation { role: name() });
        }
        if let Some((_, authority)) = delegation(targets, &named.name) {
            check_authority(&named.name, authority)?;
            refuse_server(&named.name, authority, online)?;
        }
    }
    Ok(())
}

/// Checks a role that signs updates: it delegates no further, and every target is an update under its own path.
///
/// # Errors
/// See [`ProfileError`].
pub fn check_role(role: &UpdateRole, file: &Metadata<Targets>) -> Result<(), ProfileError> {
    if file.body().delegations.is_some() {
        return Err(ProfileError::Content {
            role: role.to_string(),
            what: "delegate",
        });
    }
    for (path, target) in &file.body().targets {
        let path = || path.clone();
        let update = Update::of(target).map_err(|error| ProfileError::Custom { path: path(), error })?;
        if target.sha256().is_none() || platform_of(&path(), role, &update).is_none() {
            return Err(ProfileError::Target { path: path() });
        }
    }
    Ok(())
}

fn check_authority(role: &str, authority: Authority<'_>) -> Result<(), ProfileError> {
    if let Some((key_id, _)) = authority.key_ids().find(|(_, key)| key.is_none()) {
        return Err(ProfileError::Key {
            role: role.to_owned(),
            key_id: key_id.to_owned(),
        });
    }
    let (threshold, keys) = (authority.threshold(), authority.signers().len());
    if (keys as u64) < threshold {
        return Err(ProfileError::Threshold {
            role: role.to_owned(),
            threshold,
            keys,
        });
    }
    Ok(())
}

fn refuse_server(role: &str, authority: Authority<'_>, online: &PublicKey) -> Result<(), ProfileError> {
    if authority.signers().contains(online) {
        return Err(ProfileError::ServerSigns { role: role.to_owned() });
    }
    Ok(())
}
