//! Checks that the project meets the requirements of its framework.

use std::fs;
use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;
use launchway_project::file::profile::{Profile, merge};
use launchway_project::file::{NAME, Project};
use launchway_project::framework::{Framework, detect};
use launchway_project::packages::{self, Packages, join};
use launchway_project::source::Source;
use launchway_project::workspace::{ProjectSource, declared_above};

use super::Finding;
use crate::context::Context;

/// Checks that `launchway.toml`, or the file that a flag names, exists. An unreadable file has already failed as
/// settings.
pub fn settings(context: &Context, config_path: Option<&Path>) -> Finding {
    let path = place(context, config_path);
    match path.exists() {
        true => Finding::ok("settings", format!("{} is valid", path.display())),
        false => Finding::warning(
            "settings",
            format!("no {NAME} here or in a parent directory"),
            "run `launchway init` to create it",
        ),
    }
}

/// The path of that file, whether or not it exists.
pub fn place(context: &Context, config_path: Option<&Path>) -> PathBuf {
    config_path.map_or_else(|| context.settings.root.join(NAME), Path::to_owned)
}

/// How the project is built by default: with the profile `production`, or the first one.
pub fn usual_profile(project: &Project) -> Profile {
    let profiles = &project.build;
    let name = match profiles.contains_key("production") {
        true => Some("production"),
        false => profiles.keys().next().map(String::as_str),
    };
    name.and_then(|name| merge(profiles, name, Platform::Android).ok())
        .unwrap_or_default()
}

/// Checks the project in `root`, and returns its framework. `profile` is the default one.
pub fn look(root: &Path, profile: &Profile, findings: &mut Vec<Finding>) -> Option<Framework> {
    let directory = profile.directory.as_deref().unwrap_or_default();
    let place = ProjectSource::find(root, directory);
    let source = Source::new(&place.root);
    let app = place.place(directory);
    let directory = app.as_str();
    let packages = Packages::read(&source, directory);
    let found = detect(&source, directory, packages.as_ref(), Platform::Android);
    let found = profile.framework.or(found);
    if found.is_none() && profile.steps.is_some() {
        findings.push(Finding::ok("project", format!("{NAME} defines the steps of builds")));
        return None;
    }
    if let Some(problem) = packages::manifest_problem(&source, directory) {
        let fix = "correct package.json: it names the project's framework and dependencies";
        findings.push(Finding::problem("packages", problem, fix));
    }
    let Some(framework) = found else {
        let message = "cannot detect the framework of this project";
        let fix = "run this in the app's directory, or set framework = \"…\" under [build.<profile>] in launchway.toml";
        findings.push(Finding::warning("project", message, fix));
        return None;
    };
    findings.push(Finding::ok(
        "project",
        format!("the framework is {}", framework.title()),
    ));
    findings.extend(rival_configs(&source, directory, framework));
    if let Some(packages) = &packages {
        findings.extend(workspace(root, &place, packages));
        findings.extend(lockfile(&source, &place, packages));
        findings.push(installed(&source, &place, packages));
    }
    findings.extend(native(&source, directory, framework));
    Some(framework)
}

fn or_current_dir(root: &Path) -> &Path {
    match root.as_os_str().is_empty() {
        true => Path::new("."),
        false => root,
    }
}

/// Configurations that are ignored, although they look effective.
fn rival_configs(source: &Source, directory: &str, framework: Framework) -> Vec<Finding> {
    let rivals = framework.configs(source, directory).into_iter();
    rivals
        .filter_map(|files| {
            let (used, unused) = files.split_first()?;
            let message = format!("{used} is used, and {} is ignored", unused.join(", "));
            let fix = "delete the ignored file, so that nobody edits it by mistake";
            (!unused.is_empty()).then(|| Finding::warning("project", message, fix))
        })
        .collect()
}

/// The workspace that the app belongs to, or would belong to without a lockfile of its own.
fn workspace(root: &Path, place: &ProjectSource, packages: &Packages) -> Option<Finding> {
    if place.is_workspace() {
        let manager = packages.manager.as_str();
        let message = format!(
            "the app belongs to the workspace in {}: {manager}",
            place.root.display()
        );
        return Some(Finding::ok("packages", message));
    }
    let lockfile = packages.lockfile.as_ref()?;
    let app = fs::canonicalize(or_current_dir(root)).ok()?.join(&packages.place);
    let above = declared_above(&app)?;
    let message = format!(
        "{lockfile} is used, although the app belongs to the workspace in {}",
        above.display()
    );
    let fix = "delete the lockfile of the app, unless its packages are not installed with those of the workspace";
    Some(Finding::warning("packages", message, fix))
}

/// Where to run the package manager, unless that is the project.
fn at(place: &ProjectSource, packages: &Packages) -> String {
    match packages.place.is_empty() && place.is_workspace() {
        true => format!(" in {}", place.root.display()),
        false => String::new(),
    }
}

/// The problem with the lockfile.
fn lockfile(source: &Source, place: &ProjectSource, packages: &Packages) -> Vec<Finding> {
    let at = at(place, packages);
    let Some(lockfile) = &packages.lockfile else {
        let fix = format!("run `{}`{at} and commit the lockfile", packages.install());
        let message = "no lockfile: builds may use different package versions";
        return vec![Finding::warning("packages", message, fix)];
    };
    let mut findings = Vec::new();
    let others = packages.other_lockfiles(source);
    if !others.is_empty() {
        let message = format!("{lockfile} is used, and {} is ignored", others.join(", "));
        let fix = "keep the lockfile of your package manager, and delete the others";
        findings.push(Finding::warning("packages", message, fix));
    }
    if let Some(problem) = packages.lockfile_problem(source) {
        let fix = format!(
            "correct the lockfile, or delete it and run `{}`{at}",
            packages.lockfile_command()
        );
        findings.push(Finding::problem("packages", problem, fix));
    }
    findings
}

fn installed(source: &Source, place: &ProjectSource, packages: &Packages) -> Finding {
    let folder = join(&packages.place, "node_modules");
    if source.has_directory(&folder) {
        return Finding::ok("packages", "the packages are installed");
    }
    if source.has_file(&join(&packages.place, ".pnp.cjs")) {
        let fix = "set `nodeLinker: node-modules` in .yarnrc.yml and run `yarn install`";
        return Finding::problem("packages", "cannot read the packages in .pnp.cjs", fix);
    }
    Finding::problem(
        "packages",
        format!("no {folder} found: the plugins' fingerprints and versions are read from it"),
        format!("run `{}`{}", packages.install(), at(place, packages)),
    )
}

/// The native projects, where the framework keeps them in the source.
fn native(source: &Source, directory: &str, framework: Framework) -> Option<Finding> {
    let (folders, fix): (&[&str], &str) = match framework {
        Framework::Capacitor => (&["android", "ios"], "run `npx cap add android` or `npx cap add ios`"),
        Framework::ReactNative => (
            &["android", "ios"],
            "copy the folders android and ios from the project's template",
        ),
        Framework::Flutter => (&["android", "ios"], "run `flutter create .`"),
        Framework::NativeScript => (
            &["App_Resources"],
            "copy the folder App_Resources from the project's template",
        ),
        // Generated by each build, or the project itself.
        Framework::Expo | Framework::Gradle | Framework::Xcode => return None,
    };
    let here: Vec<_> = folders
        .iter()
        .copied()
        .filter(|folder| source.has_directory(&join(directory, folder)))
        .collect();
    Some(match here.is_empty() {
        false => Finding::ok("native", format!("native projects: {}", here.join(", "))),
        true => Finding::problem(
            "native",
            format!("no native project found: {}", folders.join(", ")),
            fix,
        ),
    })
}
