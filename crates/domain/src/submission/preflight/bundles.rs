//! What App Store Connect would refuse of each bundle in an app, the app itself and its extensions: profile, entitlements,
//! architectures, bundle id, signature.

use super::{Binary, Code, Entitlements, Expectations, Extension, Profile, ProfileKind, Report, excerpt};

pub(super) fn check(binary: &Binary, asked: &Expectations<'_>, report: Report<'_>) {
    if let Some(found) = &binary.profile {
        profile(
            "The embedded provisioning profile",
            found,
            &binary.bundle_id,
            asked,
            report,
        );
    }
    if let Some(found) = &binary.entitlements {
        entitlements("The app", found, &binary.bundle_id, report);
    }
    for extension in &binary.extensions {
        check_extension(binary, extension, asked, report);
    }
}

fn check_extension(binary: &Binary, extension: &Extension, asked: &Expectations<'_>, report: Report<'_>) {
    let path = excerpt(&extension.path);
    let bundle_id = extension.bundle_id.as_deref();
    if let Some(id) = bundle_id
        && begins_with(id, &binary.bundle_id).is_none_or(|rest| !rest.starts_with('.'))
    {
        report(
            Code::BundleIdMismatch,
            format!(
                "The bundle id {} of {path} does not begin with that of the app, {}, and a dot; the store would refuse it",
                excerpt(id),
                excerpt(&binary.bundle_id)
            ),
        );
    }
    if extension.signed == Some(false) {
        report(
            Code::Unsigned,
            format!("{path} is not signed. The store would say: ITMS-90034: missing or invalid signature."),
        );
    }
    if let (Some(found), Some(id)) = (&extension.profile, bundle_id) {
        profile(&format!("The provisioning profile of {path}"), found, id, asked, report);
    }
    if let (Some(found), Some(id)) = (&extension.entitlements, bundle_id) {
        entitlements(&path, found, id, report);
    }
    // Watches have processors of their own.
    if let Some(known) = extension
        .architectures
        .as_ref()
        .filter(|_| !binary.simulator && !path.starts_with("Watch/"))
    {
        architectures(&path, known, report);
    }
}

/// Checks the architectures of all slices of an executable.
pub(super) fn architectures(what: &str, known: &[String], report: Report<'_>) {
    let has = |wanted: [&str; 2]| known.iter().any(|name| wanted.contains(&name.as_str()));
    if !has(["arm64", "arm64e"]) {
        report(
            Code::ArchitectureMissing,
            format!("{what} has no code for arm64. The store would say: ITMS-90085 or ITMS-90502."),
        );
    } else if has(["x86_64", "i386"]) {
        simulated(what, report);
    }
}

/// Reports code that only simulators run.
pub(super) fn simulated(what: &str, report: Report<'_>) {
    report(
        Code::SimulatorBuild,
        format!(
            "{what} contains code for x86_64 or i386, which only simulators run. The store would say: ITMS-90087, \
             unsupported architectures."
        ),
    );
}

fn profile(what: &str, profile: &Profile, bundle_id: &str, asked: &Expectations<'_>, report: Report<'_>) {
    let pattern = &profile.bundle_id_pattern;
    let problem = if profile.kind != ProfileKind::AppStore {
        "is not for the App Store".to_owned()
    } else if profile.expires_at.is_some_and(|end| end <= asked.now) {
        "has expired".to_owned()
    } else if !covers(pattern, bundle_id) {
        format!("is for {}, not for {}", excerpt(pattern), excerpt(bundle_id))
    } else {
        return;
    };
    report(
        Code::ProfileUnfit,
        format!("{what} {problem}. The store would say: ITMS-90161, invalid provisioning profile."),
    );
}

/// Whether a profile's pattern covers a bundle id. Without a pattern nothing is known.
fn covers(pattern: &str, bundle_id: &str) -> bool {
    match pattern.strip_suffix('*') {
        _ if pattern.is_empty() => true,
        Some(start) => begins_with(bundle_id, start).is_some(),
        None => bundle_id.eq_ignore_ascii_case(pattern),
    }
}

/// What follows the beginning of a bundle id. Letter case that differs is another finding.
fn begins_with<'t>(bundle_id: &'t str, start: &str) -> Option<&'t str> {
    let (beginning, rest) = bundle_id.split_at_checked(start.len())?;
    beginning.eq_ignore_ascii_case(start).then_some(rest)
}

fn entitlements(what: &str, found: &Entitlements, bundle_id: &str, report: Report<'_>) {
    let id = found.application_id.as_deref().and_then(|id| id.split_once('.'));
    if let Some((_, signed_for)) = id
        && !signed_for.eq_ignore_ascii_case(bundle_id)
    {
        report(
            Code::ProfileUnfit,
            format!(
                "{what} is signed for {}, not for {}. The store would say: ITMS-90046, invalid code signing \
                 entitlements.",
                excerpt(signed_for),
                excerpt(bundle_id)
            ),
        );
    }
    if found.debuggable {
        report(
            Code::Debuggable,
            format!("{what} is signed for development: its entitlement get-task-allow lets a debugger attach"),
        );
    }
    if !found.not_granted.is_empty() {
        let names: Vec<_> = found.not_granted.iter().map(|name| excerpt(name)).collect();
        report(
            Code::ProfileUnfit,
            format!(
                "{what} has entitlements that its provisioning profile does not grant: {}. The store would say: \
                 ITMS-90163, invalid code signing entitlements.",
                names.join(", ")
            ),
        );
    }
}

#[cfg(test)]
mod tests;
