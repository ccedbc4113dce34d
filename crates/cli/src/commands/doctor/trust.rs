//! Checks the signed updates of the project's app: the committed file, and which roles expire soon.

use launchway_api::trust::TrustView;
use launchway_domain::bundle_id::BundleId;
use launchway_domain::time::{DAY, EpochMs, from_rfc3339};
use launchway_project::trust_file::NAME;

use super::Finding;
use crate::context::Context;
use crate::failure::Failure;
use crate::trust::file::ProjectTrust;

/// A role that expires within this time is a warning.
const SOON: EpochMs = 30 * DAY;

/// Nothing for a project without signed updates.
pub async fn look(context: &Context) -> Vec<Finding> {
    match ProjectTrust::only_app(&context.settings.root) {
        Ok(None) => Vec::new(),
        Err(failure) => vec![Finding::failure("trust", failure)],
        Ok(Some(bundle_id)) => match read(bundle_id.as_str(), context).await {
            Ok((repository, trust)) => judge(&repository, &trust, context.now()),
            Err(failure) => vec![Finding::failure("trust", failure)],
        },
    }
}

/// The repository of the committed file, and what the server says.
async fn read(bundle_id: &str, context: &Context) -> Result<(String, TrustView), Failure> {
    let trust = context.client()?.trust(bundle_id).await?.value;
    let bundle_id = bundle_id
        .parse::<BundleId>()
        .map_err(|error| Failure::usage(format!("the app of {NAME} {error}")))?;
    let project = ProjectTrust::of(&context.settings.root, &bundle_id)?;
    Ok((project.required()?.repository.to_string(), trust))
}

fn judge(repository: &str, trust: &TrustView, now: EpochMs) -> Vec<Finding> {
    if trust.repository.as_deref() != Some(repository) {
        let message = format!("{NAME} is for another repository than the server's");
        let fix = "check the address of the server, and get the newest file from the source repository";
        return vec![Finding::problem("trust", message, fix)];
    }
    let mut findings = Vec::new();
    for role in &trust.roles {
        let Some(expires) = role.expires_at.as_deref().filter(|_| !is_online(&role.role)) else {
            continue;
        };
        let left = from_rfc3339(expires).map_or(0, |expires| expires.saturating_sub(now));
        let fix = format!("run `launchway trust sign {}` where a key of the role is", role.role);
        if left <= 0 {
            let message = format!("{} expired at {expires}: phones take no update", role.role);
            findings.push(Finding::problem("trust", message, fix));
        } else if left < SOON {
            let message = format!("{} expires at {expires}: phones take no update afterwards", role.role);
            findings.push(Finding::warning("trust", message, fix));
        }
    }
    for draft in &trust.drafts {
        let message = format!("version {} of {} waits for signatures", draft.version, draft.role);
        let fix = format!(
            "run `launchway trust sign {0}`, or `launchway update sign` if it publishes updates",
            draft.role
        );
        findings.push(Finding::warning("trust", message, fix));
    }
    if findings.is_empty() {
        let message = format!("{} has signed updates; no role expires within 30 days", trust.bundle_id);
        findings.push(Finding::ok("trust", message));
    }
    findings
}

/// The server renews these.
fn is_online(role: &str) -> bool {
    matches!(role, "snapshot" | "timestamp")
}

#[cfg(test)]
mod tests {
    use launchway_api::trust::TrustRoleView;

    use super::*;
    use crate::commands::doctor::Status;

    const NOW: EpochMs = 1_795_000_000_000;

    fn role(name: &str, left: EpochMs) -> TrustRoleView {
        TrustRoleView {
            role: name.to_owned(),
            version: Some(1),
            threshold: 1,
            keys: Vec::new(),
            expires_at: Some(launchway_domain::time::iso(NOW + left)),
            expired: left <= 0,
            accepted_at: None,
            targets: 0,
            revoked: 0,
        }
    }

    fn trust(roles: Vec<TrustRoleView>) -> TrustView {
        TrustView {
            bundle_id: "com.example.app".to_owned(),
            repository: Some("07".repeat(16)),
            snapshot: Some(1),
            online_key: None,
            pending_online_key: None,
            roles,
            drafts: Vec::new(),
            other_formats_allowed: false,
        }
    }

    #[test]
    fn a_role_near_its_end_is_a_warning_an_ended_one_a_problem() {
        let rows = [
            (role("root", 40 * DAY), Status::Ok),
            (role("c-production", 20 * DAY), Status::Warning),
            (role("targets", 0), Status::Problem),
            // The server renews it by itself.
            (role("timestamp", DAY), Status::Ok),
        ];
        for (role, expected) in rows {
            let name = role.role.clone();
            let findings = judge(&"07".repeat(16), &trust(vec![role]), NOW);
            let statuses: Vec<_> = findings.iter().map(|finding| finding.status).collect();
            assert_eq!(statuses, [expected], "{name}");
        }
        let other = judge(&"08".repeat(16), &trust(Vec::new()), NOW);
        assert_eq!(other[0].status, Status::Problem);
    }
}
