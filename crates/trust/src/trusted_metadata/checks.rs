//! The checks that every file of metadata passes before it is trusted.

use launchway_domain::time::EpochMs;

use crate::identity::Identity;
use crate::metadata::{Authority, Body, MetaFile, Metadata};
use crate::role_error::{Reason, RoleError};

/// Reads a file of this repository and app.
pub(super) fn read<T: Body>(role: &str, bytes: &[u8], identity: Option<&Identity>) -> Result<Metadata<T>, RoleError> {
    let file: Metadata<T> = Metadata::parse(bytes).map_err(|error| RoleError::new(role, error))?;
    if identity.is_some() && file.header().identity.as_ref() != identity {
        return Err(RoleError::new(role, Reason::Identity));
    }
    Ok(file)
}

/// Reads a file that another one lists: its bytes, signatures and version must be as listed.
pub(super) fn read_listed<T: Body>(
    role: &str,
    bytes: &[u8],
    listed: &MetaFile,
    identity: Option<&Identity>,
    authority: Authority<'_>,
) -> Result<Metadata<T>, RoleError> {
    listed.check(bytes).map_err(|error| RoleError::new(role, error))?;
    let file = read(role, bytes, identity)?;
    verify(role, authority, &file)?;
    expect_version(role, listed.version, &file)?;
    Ok(file)
}

/// Whether the trusted file is the one that is listed, and valid.
pub(super) fn is_current<T: Body>(file: Option<&Metadata<T>>, listed: &MetaFile, now: EpochMs) -> bool {
    file.is_some_and(|file| {
        file.version() == listed.version && !file.is_expired(now) && listed.check(file.bytes()).is_ok()
    })
}

pub(super) fn verify<T: Body>(role: &str, authority: Authority<'_>, file: &Metadata<T>) -> Result<(), RoleError> {
    authority.verify(file).map_err(|error| RoleError::new(role, error))
}

pub(super) fn expect_version<T: Body>(role: &str, expected: u64, file: &Metadata<T>) -> Result<(), RoleError> {
    let found = file.version();
    if found == expected {
        Ok(())
    } else {
        Err(RoleError::new(role, Reason::Version { expected, found }))
    }
}

pub(super) fn expect_no_rollback(role: &str, trusted: u64, found: u64) -> Result<(), RoleError> {
    if found >= trusted {
        Ok(())
    } else {
        Err(RoleError::new(role, Reason::Rollback { trusted, found }))
    }
}

pub(super) fn expect_valid<T: Body>(role: &str, file: &Metadata<T>, now: EpochMs) -> Result<(), RoleError> {
    let expires = file.header().expires;
    if file.is_expired(now) {
        Err(RoleError::new(role, Reason::Expired { expires }))
    } else {
        Ok(())
    }
}

pub(super) fn listed_rollback_error(role: &str, name: &str, trusted: u64, found: u64) -> RoleError {
    let name = name.to_owned();
    RoleError::new(role, Reason::NamesRollback { name, trusted, found })
}

pub(super) fn missing_error(role: &str) -> RoleError {
    RoleError::new(role, Reason::Missing)
}
