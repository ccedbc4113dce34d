//! Checks that the project meets the requirements of its framework.

use std::path::{Path, PathBuf};

use launchway_domain::platform::Platform;
use launchway_project::file::profile::{Profile, merge};
use launchway_project::file::{NAME, Project};
use launchway_project::framework::{Framework, detect};
use launchway_project::packages::{self, Packages, join};
use launchway_project::source::Source;

use super::Finding;
use crate::context::Context;

/// Checks that `launchway.toml`, or the file that a flag names, exists. An unreadable file has already failed as
/// settings.
pub fn settings(context: &Context, told: Option<&Path>) -> Finding {
    let path = place(context, told);
    match path.exists() {
        true => Finding::ok("settings", format!("{} can be read", path.display())),
        false => Finding::warning(
            "settings",
            format!("there is no {NAME} here or above"),
            "`launchway init` writes one",
        ),
    }
}

/// The path of that file, whether or not it exists.
pub fn place(context: &Context, told: Option<&Path>) -> PathBuf {
    told.map_or_else(|| context.settings.root.join(NAME), Path::to_owned)
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
    let source = Source::new(root);
    let directory = profile.directory.as_deref().unwrap_or_default();
    let packages = Packages::read(&source, directory);
    let found = detect(&source, directory, packages.as_ref(), Platform::Android);
    let found = profile.framework.or(found);
    if found.is_none() && profile.steps.is_some() {
        findings.push(Finding::ok("project", format!("{NAME} has the steps of builds itself")));
        return None;
    }
    if let Some(problem) = packages::manifest_problem(&source, directory) {
        let fix = "correct package.json: what the project is made with and what it needs stands there";
        findings.push(Finding::problem("packages", problem, fix));
    }
    let Some(framework) = found else {
        let message = "what this project is made with was not recognised";
        let fix =
            "run this in the app's directory, or name it: framework = \"…\" below [build.<profile>] in launchway.toml";
        findings.push(Finding::warning("project", message, fix));
        return None;
    };
    findings.push(Finding::ok(
        "project",
        format!("this is a project of {}", framework.title()),
    ));
    findings.extend(rival_configs(&source, directory, framework));
    if let Some(packages) = &packages {
        findings.extend(lockfile(&source, packages));
        findings.push(installed(&source, packages));
    }
    findings.extend(native(&source, directory, framework));
    Some(framework)
}

/// Configurations that are ignored, although they look effective.
fn rival_configs(source: &Source, directory: &str, framework: Framework) -> Vec<Finding> {
    let rivals = framework.configs(source, directory).into_iter();
    rivals
        .filter_map(|files| {
            let (used, unused) = files.split_first()?;
            let message = format!("{used} is used, and {} is not", unused.join(", "));
            let fix = "delete what is not used, so that nobody changes it in vain";
            (!unused.is_empty()).then(|| Finding::warning("project", message, fix))
        })
        .collect()
}

/// The problem with the lockfile.
fn lockfile(source: &Source, packages: &Packages) -> Vec<Finding> {
    let Some(lockfile) = &packages.lockfile else {
        let fix = format!("run `{}` and keep the lockfile with the source", packages.install());
        let message = "there is no lockfile: builds may get other packages";
        return vec![Finding::warning("packages", message, fix)];
    };
    let mut findings = Vec::new();
    let others = packages.other_lockfiles(source);
    if !others.is_empty() {
        let message = format!("{lockfile} counts, and {} does not", others.join(", "));
        let fix = "keep the lockfile of the package manager that you use, and delete the others";
        findings.push(Finding::warning("packages", message, fix));
    }
    if let Some(problem) = packages.lockfile_problem(source) {
        let fix = format!("correct it, or delete it and run `{}`", packages.lockfile_command());
        findings.push(Finding::problem("packages", problem, fix));
    }
    findings
}

fn installed(source: &Source, packages: &Packages) -> Finding {
    let folder = join(&packages.place, "node_modules");
    if source.has_directory(&folder) {
        return Finding::ok("packages", "packages are installed");
    }
    if source.has_file(&join(&packages.place, ".pnp.cjs")) {
        let fix = "write `nodeLinker: node-modules` into .yarnrc.yml and run `yarn install`";
        return Finding::problem("packages", "packages in .pnp.cjs cannot be read", fix);
    }
    Finding::problem(
        "packages",
        format!("there is no {folder}: fingerprints and versions of plugins are read there"),
        format!("run `{}`", packages.install()),
    )
}

/// The native projects, where the framework keeps them in the source.
fn native(source: &Source, directory: &str, framework: Framework) -> Option<Finding> {
    let (folders, fix): (&[&str], &str) = match framework {
        Framework::Capacitor => (&["android", "ios"], "run `npx cap add android` or `npx cap add ios`"),
        Framework::ReactNative => (
            &["android", "ios"],
            "take the folders android and ios of the project's template",
        ),
        Framework::Flutter => (&["android", "ios"], "run `flutter create .`"),
        Framework::NativeScript => (
            &["App_Resources"],
            "take the folder App_Resources of the project's template",
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
            format!("there is no native project: {}", folders.join(", ")),
            fix,
        ),
    })
}
