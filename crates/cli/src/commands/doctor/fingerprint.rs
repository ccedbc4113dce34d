//! Runs what `fingerprint` and `update` run: computes the fingerprint of each platform of the project.

use launchway_domain::platform::Platform;

use super::{Finding, Status};
use crate::args::fingerprint::AppArgs;
use crate::commands::fingerprint::{find_platforms, look as compute};
use crate::context::Context;
use crate::failure::Exit;

/// Digits of a fingerprint in a finding.
const SHOWN: usize = 12;

/// The platforms of the project's apps; empty when there is none, which another check reports.
pub fn project_platforms(context: &Context) -> Vec<Platform> {
    let mut found: Vec<Platform> = Vec::new();
    for app in apps(context) {
        for platform in find_platforms(&app, context).unwrap_or_default() {
            if !found.contains(&platform) {
                found.push(platform);
            }
        }
    }
    found
}

/// Computes the fingerprint of each app and platform.
pub async fn look(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    for app in apps(context) {
        let platforms = match find_platforms(&app, context) {
            Ok(platforms) => platforms,
            Err(failure) => {
                findings.push(Finding::failure("fingerprint", failure));
                continue;
            }
        };
        let mut of_app = Vec::new();
        for platform in platforms {
            of_app.push(of_platform(platform, &app, context).await);
        }
        // An app may have a native project for a platform that nobody builds on this machine, as `fingerprint` accepts.
        let is_partial = of_app.iter().any(|finding| finding.status == Status::Ok);
        for finding in of_app.iter_mut().filter(|finding| finding.status == Status::Problem) {
            if is_partial {
                finding.status = Status::Warning;
            }
        }
        findings.append(&mut of_app);
    }
    findings
}

/// The app that commands mean without a profile, or the apps of all profiles when these differ.
fn apps(context: &Context) -> Vec<AppArgs> {
    let usual = AppArgs::default();
    match find_platforms(&usual, context) {
        Err(failure) if failure.exit == Exit::Usage => {
            let names = context.settings.project.build.keys();
            names
                .map(|name| AppArgs {
                    profile: Some(name.clone()),
                })
                .collect()
        }
        _ => vec![usual],
    }
}

async fn of_platform(platform: Platform, app: &AppArgs, context: &Context) -> Finding {
    let of_profile = match &app.profile {
        Some(profile) => format!(" with the profile {profile}"),
        None => String::new(),
    };
    match compute(platform, app.profile.as_deref(), false, context).await {
        Ok(Ok(found)) => {
            let hash = found.documents.hash();
            let start: String = hash.as_str().chars().take(SHOWN).collect();
            let message = format!("the fingerprint on {platform}{of_profile} begins with {start}");
            Finding::ok("fingerprint", message)
        }
        Ok(Err(error)) => {
            let told = error.to_string();
            // The message of a problem that has one ends with what to do.
            let (what, fix) = told
                .split_once("; ")
                .unwrap_or((&told, "correct it, or exclude it in [fingerprint]"));
            let message = format!("no fingerprint on {platform}{of_profile}: {what}");
            Finding::problem("fingerprint", message, fix)
        }
        Err(failure) => Finding::failure("fingerprint", failure),
    }
}
