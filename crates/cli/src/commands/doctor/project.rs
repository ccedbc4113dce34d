//! Whether the project is as its framework needs it.

use std::path::Path;

use launchway_domain::platform::Platform;
use launchway_project::file::NAME;
use launchway_project::framework::{Framework, recognise};
use launchway_project::packages::Packages;
use launchway_project::source::Source;

use super::Finding;
use crate::context::Context;

/// Whether there is a `launchway.toml`. One that cannot be read ended the reading of the settings before.
pub fn settings(context: &Context) -> Finding {
    let path = context.settings.root.join(NAME);
    match path.exists() || context.settings.project != launchway_project::file::Project::default() {
        true => Finding::ok("settings", format!("{} can be read", path.display())),
        false => Finding::warning(
            "settings",
            format!("there is no {NAME} here or above"),
            "`launchway init` writes one",
        ),
    }
}

/// Looks at the project in `root`, and gives what it is made with.
pub fn look(root: &Path, findings: &mut Vec<Finding>) -> Option<Framework> {
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    let source = Source::new(&std::path::absolute(root).unwrap_or_default());
    let packages = Packages::read(&source, "");
    let Some(framework) = recognise(&source, "", packages.as_ref(), Platform::Android) else {
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
    if let Some(packages) = &packages {
        findings.push(installed(&source, packages));
    }
    findings.extend(native(&source, framework));
    Some(framework)
}

fn installed(source: &Source, packages: &Packages) -> Finding {
    let folder = match packages.place.as_str() {
        "" => "node_modules".to_owned(),
        place => format!("{place}/node_modules"),
    };
    let lockfile = match &packages.lockfile {
        Some(lockfile) => lockfile,
        None => {
            let fix = format!("run `{}` and keep the lockfile with the source", packages.install());
            return Finding::warning("packages", "there is no lockfile: builds may get other packages", fix);
        }
    };
    match source.has_directory(&folder) {
        true => Finding::ok(
            "packages",
            format!("packages are installed, and {lockfile} fixes their versions"),
        ),
        false => Finding::problem(
            "packages",
            format!("there is no {folder}: fingerprints and versions of plugins are read there"),
            format!("run `{}`", packages.install()),
        ),
    }
}

/// The native projects, where the framework keeps them in the source.
fn native(source: &Source, framework: Framework) -> Option<Finding> {
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
        // Made anew by each build, or the project itself.
        Framework::Expo | Framework::Gradle | Framework::Xcode => return None,
    };
    let here: Vec<_> = folders
        .iter()
        .copied()
        .filter(|folder| source.has_directory(folder))
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
