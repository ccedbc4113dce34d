//! Checks that `launchway.toml` and the native projects have the same identifiers. An update for a different identifier
//! reaches no device.

use std::path::Path;

use launchway_domain::bundle_id::BundleId;
use launchway_domain::platform::Platform;
use launchway_project::file::{BundleIdEntry, NAME, Project, line_of};
use launchway_project::native_version::{self, LocatedValue};
use launchway_project::resolve::{app_profile, variant};
use launchway_project::source::Source;

use super::Finding;

/// The app that a profile builds for a platform.
struct ProfileApp {
    platform: Platform,
    /// The profile, if one is named.
    profile: Option<String>,
    /// Whether a build without a named profile uses this one.
    is_usual: bool,
    stated: Option<BundleIdEntry>,
    native: Option<LocatedValue>,
    has_version: bool,
}

/// Compares the identifiers for each profile and platform. `text` is that of `launchway.toml`, to find line numbers.
/// `platforms` are those of the project, for which `update` needs an identifier and a version.
pub fn look(root: &Path, project: &Project, text: &str, platforms: &[Platform], findings: &mut Vec<Finding>) {
    let mut named = Vec::new();
    let mut missing = Vec::new();
    for platform in Platform::ALL {
        let mut seen = Vec::new();
        for built in profile_apps(root, project, platform) {
            let ids = (
                built.stated.as_ref().map(|stated| stated.value.clone()),
                built.native.as_ref().map(|found| found.value.clone()),
            );
            if !seen.contains(&ids) {
                findings.extend(built.finding(text));
                seen.push(ids);
            }
            if built.is_usual && platforms.contains(&platform) && !built.has_version {
                missing.push(no_version(platform));
            }
            if built.stated.is_some() || built.native.is_some() {
                named.push(platform);
            }
        }
    }
    findings.extend(no_id(&named, platforms));
    findings.append(&mut missing);
}

/// A platform without an identifier, whose updates and builds cannot say which app they are for.
fn no_id(named: &[Platform], platforms: &[Platform]) -> Option<Finding> {
    let nameless: Vec<Platform> = platforms.iter().copied().filter(|one| !named.contains(one)).collect();
    let fix = format!("set bundle_id under [app] in {NAME}, or under [app.android] and [app.ios] if they differ");
    let message = format!("no bundle identifier in {NAME} or a native project");
    match (named.is_empty(), &nameless[..]) {
        (true, []) => Some(Finding::warning("app", message, fix)),
        (true, _) => Some(Finding::problem("app", message, fix)),
        (false, []) => None,
        // Nobody may build for this platform.
        (false, [platform, ..]) => {
            let fix = format!("set bundle_id under [app.{platform}] in {NAME} if there is an app for {platform}");
            Some(Finding::warning("app", format!("{message} on {platform}"), fix))
        }
    }
}

fn no_version(platform: Platform) -> Finding {
    let message = format!("no version of the app on {platform} found");
    let fix = format!("give --version VERSION with each `launchway update {platform}`, or set it in the project");
    Finding::warning("app", message, fix)
}

/// The app of each profile; that of a build without a named profile comes first.
fn profile_apps(root: &Path, project: &Project, platform: Platform) -> Vec<ProfileApp> {
    let names = project.build.keys().map(|name| Some(name.as_str()));
    let mut found = Vec::new();
    for requested in std::iter::once(None).chain(names) {
        let Ok((profile, merged)) = app_profile(&project.build, requested, platform) else {
            continue;
        };
        let root = root.join(merged.directory.as_deref().unwrap_or_default());
        if platform == Platform::Visionos && !is_for_vision(&root) {
            continue;
        }
        let native = native_version::read(&root, platform, &variant(&merged, None));
        found.push(ProfileApp {
            platform,
            stated: project.bundle_id(profile.as_deref(), platform),
            profile,
            is_usual: requested.is_none(),
            has_version: native.version.is_some(),
            native: native.bundle_id,
        });
    }
    found
}

/// Few projects support visionOS, although most configurations would name an app there too.
fn is_for_vision(root: &Path) -> bool {
    let source = Source::new(root);
    source.has_directory("visionos") || source.has_directory("App_Resources/visionOS")
}

impl ProfileApp {
    fn finding(&self, text: &str) -> Option<Finding> {
        let platform = self.platform;
        let found = match (&self.stated, &self.native) {
            (Some(stated), native) => match (BundleId::parse(&stated.value), native) {
                (Err(problem), _) => {
                    let message = format!("{}: bundle_id {problem}", place(stated, text));
                    return Some(Finding::problem("app", message, "set it to the native project's value"));
                }
                (Ok(id), Some(found)) if BundleId::parse(&found.value).is_ok_and(|native| native != id) => {
                    return Some(self.mismatch(stated, found, text));
                }
                (Ok(_), found) => found.as_ref()?,
            },
            (None, native) => native.as_ref()?,
        };
        let message = format!("the app is {} on {platform} ({})", found.value, found.place);
        Some(Finding::ok("app", message))
    }

    fn mismatch(&self, stated: &BundleIdEntry, found: &LocatedValue, text: &str) -> Finding {
        let platform = self.platform;
        let by = match &self.profile {
            Some(profile) => format!("the {platform} app of [build.{profile}]"),
            None => format!("the app on {platform}"),
        };
        let message = format!(
            "{} says {}, but {by} is {} ({}): updates would go to an app that nobody has",
            place(stated, text),
            stated.value,
            found.value,
            found.place
        );
        // A value for all platforms may be right for another one.
        let table = match (&stated.tables[..], &self.profile) {
            ([first, ..], Some(profile)) if first == "app" && !self.is_usual => format!("build.{profile}.{platform}"),
            ([first], _) if first == "app" => format!("app.{platform}"),
            ([first, profile], _) if first == "build" => format!("build.{profile}.{platform}"),
            (tables, _) => tables.join("."),
        };
        let fix = format!(
            "set bundle_id = \"{}\" under [{table}] in {NAME}, or correct {}",
            found.value, found.place
        );
        Finding::problem("app", message, fix)
    }
}

fn place(stated: &BundleIdEntry, text: &str) -> String {
    match line_of(text, &stated.tables, "bundle_id") {
        Some(line) => format!("{NAME}, line {line}"),
        None => format!("{NAME}, [{}]", stated.tables.join(".")),
    }
}
