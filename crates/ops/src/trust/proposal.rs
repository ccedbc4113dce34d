//! The files of a request: read within bounds, and not yet trusted.

use std::collections::BTreeMap;

use launchway_trust::UpdateRole;
use launchway_trust::metadata::{Body, Metadata, Root, Targets};

use super::error::TrustError;

/// A request has at most this many roots.
pub const MAX_ROOTS: usize = 16;
/// A request has at most this many other roles.
pub const MAX_ROLES: usize = 64;
/// A file has at most this many signatures.
pub const MAX_SIGNATURES: usize = 32;

/// Files that somebody sent, to be accepted together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Proposal {
    /// Roots, the next version first.
    pub roots: Vec<Metadata<Root>>,
    /// The next version of `targets`.
    pub targets: Option<Metadata<Targets>>,
    /// The next versions of roles that sign updates.
    pub roles: BTreeMap<UpdateRole, Metadata<Targets>>,
}

impl Proposal {
    /// Reads the files of a request.
    ///
    /// # Errors
    /// There are too many of them, or one cannot be read.
    pub fn read(roots: &[String], roles: &BTreeMap<String, String>) -> Result<Self, TrustError> {
        if roots.len() > MAX_ROOTS {
            return Err(TrustError::TooMany {
                what: "roots",
                limit: MAX_ROOTS,
            });
        }
        if roles.len() > MAX_ROLES {
            return Err(TrustError::TooMany {
                what: "roles",
                limit: MAX_ROLES,
            });
        }
        let mut proposal = Self::default();
        for text in roots {
            proposal.roots.push(read_file("root", text.as_bytes())?);
        }
        for (name, text) in roles {
            if name == "targets" {
                proposal.targets = Some(read_file(name, text.as_bytes())?);
                continue;
            }
            let role = name.parse().map_err(|_| TrustError::Name(shown(name)))?;
            proposal.roles.insert(role, read_file(name, text.as_bytes())?);
        }
        Ok(proposal)
    }

    /// The next version of one role that signs updates.
    pub fn of_role(role: UpdateRole, file: Metadata<Targets>) -> Self {
        Self {
            roles: BTreeMap::from([(role, file)]),
            ..Self::default()
        }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty() && self.targets.is_none() && self.roles.is_empty()
    }
}

/// Reads one file.
///
/// # Errors
/// It is no metadata of this type, or has more signatures than are verified.
pub fn read_file<T: Body>(role: &str, bytes: &[u8]) -> Result<Metadata<T>, TrustError> {
    let file = Metadata::<T>::parse(bytes).map_err(|error| TrustError::Metadata {
        role: role.to_owned(),
        error,
    })?;
    if file.signatures().count() > MAX_SIGNATURES {
        return Err(TrustError::TooManySignatures {
            role: role.to_owned(),
            limit: MAX_SIGNATURES,
        });
    }
    Ok(file)
}

/// The beginning of a name, for a message.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(80).collect()
}
