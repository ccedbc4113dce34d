//! Looks for a target through delegations: depth first, in the order of the delegations, each role once (section 5.6.7).

use std::collections::BTreeSet;

use launchway_trust::metadata::{Delegation, Target};

use crate::Failure;
use crate::session::Session;

/// At most this many roles are asked.
const MAX_ROLES: usize = 256;

/// The target of this name, by the first role that has it.
pub fn find(session: &mut Session, name: &str) -> Result<Option<Target>, Failure> {
    // Each role with the role that delegates to it; the next one is last.
    let mut waiting = vec![("targets".to_owned(), None::<String>)];
    let mut visited = BTreeSet::new();
    while let Some((role, delegator)) = waiting.pop() {
        if visited.len() == MAX_ROLES || !visited.insert(role.clone()) {
            continue;
        }
        if let Some(delegator) = delegator.and_then(|delegator| session.role(&delegator).cloned()) {
            session.load(&delegator, &role)?;
        }
        let Some(file) = session.role(&role) else { continue };
        if let Some(target) = file.body().targets.get(name) {
            return Ok(Some(target.clone()));
        }
        let mut next = Vec::new();
        for delegation in file.body().delegations.iter().flat_map(|all| &all.roles) {
            if !signs_for(delegation, name) {
                continue;
            }
            next.push((delegation.name.clone(), Some(role.clone())));
            if delegation.terminating {
                waiting.clear();
                break;
            }
        }
        waiting.extend(next.into_iter().rev());
    }
    Ok(None)
}

fn signs_for(delegation: &Delegation, name: &str) -> bool {
    delegation.paths.iter().any(|pattern| {
        let (patterns, parts): (Vec<_>, Vec<_>) = (pattern.split('/').collect(), name.split('/').collect());
        let mut pairs = patterns.iter().zip(&parts);
        patterns.len() == parts.len() && pairs.all(|(pattern, part)| matches(pattern.as_bytes(), part.as_bytes()))
    })
}

/// Whether a part of a path fits a pattern of `*` and `?`: going back to the last star suffices.
fn matches(pattern: &[u8], part: &[u8]) -> bool {
    let (mut at, mut position, mut star) = (0, 0, None);
    while position < part.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, position));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == part[position] => {
                at += 1;
                position += 1;
            }
            _ => match star {
                Some((star_at, from)) => {
                    star = Some((star_at, from + 1));
                    at = star_at + 1;
                    position = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}
