//! What a caller without the admin scope may send: files that differ from the present ones in version and expiry only, and
//! signatures of open drafts (`docs/reference/trust.md#who-may-change-what`).

use std::collections::BTreeSet;

use launchway_trust::json::{self, Value};
use launchway_trust::metadata::{Body, Metadata};

use super::error::TrustError;
use super::present::Present;
use super::proposal::Proposal;
use crate::api_error::ApiError;

/// Checks that a proposal changes nothing else. `completed` names the files that are open drafts with more signatures.
///
/// # Errors
/// A file changes more, or skips a version.
pub fn check(present: &Present, proposal: &Proposal, completed: &BTreeSet<String>) -> Result<(), ApiError> {
    let is_new = |role: &str| !completed.contains(role);
    // A draft is the next root alone: what follows it in a chain is another change.
    if proposal.roots.len() > 1 {
        return Err(forbidden("root"));
    }
    for root in proposal.roots.iter().filter(|_| is_new("root")) {
        check_file("root", Some(&present.set.root), root)?;
    }
    if let Some(targets) = proposal.targets.as_ref().filter(|_| is_new("targets")) {
        check_file("targets", Some(&present.set.targets), targets)?;
    }
    for (role, file) in &proposal.roles {
        let name = role.to_string();
        if is_new(&name) {
            check_file(&name, present.set.roles.get(role), file)?;
        }
    }
    Ok(())
}

fn check_file<T: Body>(role: &str, present: Option<&Metadata<T>>, next: &Metadata<T>) -> Result<(), ApiError> {
    let renewed = present.filter(|present| is_renewal(present.bytes(), next.bytes(), T::LIMIT));
    let Some(present) = renewed else {
        return Err(forbidden(role));
    };
    let (expected, found) = (present.version() + 1, next.version());
    if found > expected {
        let role = role.to_owned();
        return Err(TrustError::Skipped { role, expected, found }.into());
    }
    Ok(())
}

fn forbidden(role: &str) -> ApiError {
    ApiError::Forbidden(format!(
        "This changes more of `{role}` than version and expiry, which requires an admin"
    ))
}

/// Whether two files say the same except for version and expiry, fields included that this version does not know.
fn is_renewal(present: &[u8], next: &[u8], limit: usize) -> bool {
    let content = |bytes| {
        let Ok(Value::Object(mut file)) = json::parse(bytes, limit) else {
            return None;
        };
        let Some(Value::Object(mut signed)) = file.remove("signed") else {
            return None;
        };
        signed.remove("version");
        signed.remove("expires");
        Some(signed)
    };
    content(present).is_some_and(|present| content(next) == Some(present))
}

#[cfg(test)]
mod tests {
    use super::is_renewal;

    #[test]
    fn only_version_and_expiry_may_differ() {
        let file = |signed: &str| format!(r#"{{"signatures":[],"signed":{{{signed}}}}}"#);
        let present = file(r#""version":1,"expires":"a","x":{"y":1}"#);
        let rows = [
            (r#""version":2,"expires":"b","x":{"y":1}"#, true),
            (r#""x":{"y":1},"version":2,"expires":"b""#, true),
            (r#""version":2,"expires":"b","x":{"y":2}"#, false),
            (r#""version":2,"expires":"b","x":{"y":1,"version":1}"#, false),
            (r#""version":2,"expires":"b","x":{"y":1},"z":null"#, false),
            (r#""version":2,"expires":"b""#, false),
        ];
        for (next, expected) in rows {
            let found = is_renewal(present.as_bytes(), file(next).as_bytes(), 1000);
            assert_eq!(found, expected, "{next}");
        }
        assert!(
            !is_renewal(b"{}", b"{}", 1000),
            "files without content are no renewals of each other"
        );
    }
}
