//! Landlock: closes the file system except for some paths, tracing, signals, abstract sockets, and TCP ports. It needs
//! no privileges.

use std::collections::BTreeSet;
use std::path::Path;

use ::landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use super::{Landlock, Places};

/// The newest ABI in use; older kernels get the part that they support.
const NEWEST: ABI = ABI::V6;

/// The level that the kernel supports.
pub(super) fn level() -> Landlock {
    let whole = |abi: ABI| -> Result<RulesetCreated, RulesetError> {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        let ruleset = ruleset.handle_access(AccessFs::from_all(abi))?;
        let scopes = Scope::from_all(abi);
        let ruleset = if scopes.is_empty() {
            ruleset
        } else {
            ruleset.scope(scopes)?
        };
        ruleset.create()
    };
    if whole(NEWEST).is_ok() {
        Landlock::Full
    } else if whole(ABI::V1).is_ok() {
        Landlock::Partial
    } else {
        Landlock::Missing
    }
}

/// Whether the kernel can close TCP ports.
pub(super) fn closes_ports() -> bool {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let created = ruleset.handle_access(AccessNet::ConnectTcp).and_then(Ruleset::create);
    created.is_ok()
}

/// Closes everything except these paths, and closes these TCP ports, for this thread and its children.
///
/// # Errors
/// A message; no part of the step may run then.
pub(super) fn restrict(places: &Places, closed: Option<&BTreeSet<u16>>) -> Result<(), String> {
    let failed = |error: RulesetError| format!("cannot apply Landlock: {error}");
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(|ruleset| match closed {
            Some(_) => ruleset.handle_access(AccessNet::ConnectTcp),
            None => Ok(ruleset),
        })
        .and_then(Ruleset::create);
    let mut ruleset = ruleset.map_err(failed)?;
    let read = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let groups = [
        (&places.read, read),
        (&places.write, AccessFs::from_all(NEWEST)),
        (&places.devices, device),
    ];
    for (paths, access) in groups {
        for path in paths {
            ruleset = allow(ruleset, path, access).map_err(failed)?;
        }
    }
    if let Some(closed) = closed {
        // Landlock knows only what is open, so every other port is listed.
        let open = (0..=u16::MAX).filter(|port| !closed.contains(port));
        let rules = open.map(|port| Ok::<_, RulesetError>(NetPort::new(port, AccessNet::ConnectTcp)));
        ruleset = ruleset.add_rules(rules).map_err(failed)?;
    }
    match ruleset.restrict_self().map_err(failed)?.ruleset {
        RulesetStatus::NotEnforced => Err("cannot apply Landlock: the kernel does not enforce it".to_owned()),
        _ => Ok(()),
    }
}

/// Opens one path. A missing path needs no rule.
fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, RulesetError> {
    let Ok(place) = PathFd::new(path) else {
        return Ok(ruleset);
    };
    let access = if path.is_dir() {
        access
    } else {
        access & AccessFs::from_file(NEWEST)
    };
    ruleset.add_rule(PathBeneath::new(place, access))
}
