//! What the next version of a file changes, line by line, for the person who signs it.

use std::collections::BTreeSet;

use launchway_domain::time::minute;
use launchway_trust::metadata::{Authority, Header, Keys, Root, Targets};
use launchway_trust::{Sha256, TopLevel};

use crate::trust::keys::short_id;

/// The heading of a file's next version.
pub fn heading(role: &str, present: Option<u64>, next: &Header) -> String {
    let from = present.map_or("new".to_owned(), |version| format!("version {version}"));
    format!(
        "{role}: {from} → version {}, expires {}",
        next.version,
        minute(next.expires)
    )
}

/// What a root changes.
pub fn of_root(before: &Root, after: &Root) -> Vec<String> {
    let mut lines = Vec::new();
    for role in TopLevel::ALL {
        let (old, new) = (before.authority(role), after.authority(role));
        lines.extend(of_keys(role.name(), Some((old, &before.keys)), (new, &after.keys)));
    }
    if before.consistent_snapshot != after.consistent_snapshot {
        lines.push("changes consistent_snapshot".to_owned());
    }
    lines
}

/// What a version of `targets`, or of a role that signs updates, changes.
pub fn of_targets(before: &Targets, after: &Targets) -> Vec<String> {
    let mut lines = of_delegations(before, after);
    for (path, target) in &after.targets {
        let sha256 = target.sha256().map(|hash| hash.to_string()).unwrap_or_default();
        match before.targets.get(path) {
            None => lines.push(format!("adds {path}, SHA-256 {sha256}")),
            Some(old) if old != target => lines.push(format!("changes {path}, SHA-256 {sha256}")),
            Some(_) => {}
        }
    }
    let removed = before.targets.keys().filter(|path| !after.targets.contains_key(*path));
    lines.extend(removed.map(|path| format!("removes {path}")));
    let hashes = |targets: &Targets| targets.revoked.iter().copied().collect::<BTreeSet<Sha256>>();
    let (old, new) = (hashes(before), hashes(after));
    lines.extend(new.difference(&old).map(|hash| format!("revokes {hash}")));
    lines.extend(old.difference(&new).map(|hash| format!("no longer revokes {hash}")));
    lines
}

/// Whether a version publishes or changes updates.
pub fn publishes(before: &Targets, after: &Targets) -> bool {
    after
        .targets
        .iter()
        .any(|(path, target)| before.targets.get(path) != Some(target))
}

fn of_delegations(before: &Targets, after: &Targets) -> Vec<String> {
    let mut lines = Vec::new();
    let (old, new) = (before.delegations.as_ref(), after.delegations.as_ref());
    for delegation in new.iter().flat_map(|all| &all.roles) {
        let Some(new) = new else { continue };
        let known = old.and_then(|old| Some((old, old.get(&delegation.name)?)));
        let known = known.map(|(old, known)| (old.authority(known), &old.keys));
        if known.is_none() {
            lines.push(format!("creates the role {}", delegation.name));
        }
        lines.extend(of_keys(&delegation.name, known, (new.authority(delegation), &new.keys)));
    }
    for delegation in old.iter().flat_map(|all| &all.roles) {
        if new.is_none_or(|new| new.get(&delegation.name).is_none()) {
            lines.push(format!("removes the role {}", delegation.name));
        }
    }
    lines
}

fn of_keys(role: &str, before: Option<(Authority<'_>, &Keys)>, (after, keys): (Authority<'_>, &Keys)) -> Vec<String> {
    let mut lines = Vec::new();
    let ids = |authority: Authority<'_>| {
        authority
            .key_ids()
            .map(|(id, _)| id.to_owned())
            .collect::<BTreeSet<_>>()
    };
    let old = before.map(|(authority, _)| ids(authority)).unwrap_or_default();
    let new = ids(after);
    for id in new.difference(&old) {
        lines.push(format!("adds key {} to {role}", named(keys, id)));
    }
    for id in old.difference(&new) {
        let keys = before.map_or(keys, |(_, keys)| keys);
        lines.push(format!("removes key {} from {role}", named(keys, id)));
    }
    if let Some((authority, old)) = before {
        // A key under a known id that is another key.
        for id in new.intersection(&ids(authority)) {
            if old.get(id).and_then(|key| key.public()) != keys.get(id).and_then(|key| key.public()) {
                lines.push(format!("replaces the key under the id {} of {role}", short_id(id)));
            }
        }
    }
    let threshold = before.map(|(authority, _)| authority.threshold());
    if threshold != Some(after.threshold()) {
        let from = threshold.map_or(String::new(), |from| format!(" instead of {from}"));
        let of = new.len();
        lines.push(format!("{role} needs {}{from} of {of} signatures", after.threshold()));
    }
    lines
}

/// The first digits of a key's id, with its name.
pub fn named(keys: &Keys, id: &str) -> String {
    match keys.get(id).and_then(|key| key.name()) {
        Some(name) => format!("{} ({})", short_id(id), name.chars().take(64).collect::<String>()),
        None => short_id(id).to_owned(),
    }
}
