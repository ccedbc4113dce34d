//! Plans of apps in workspaces: installed at the root, built in the app.

use launchway_domain::build::{BuildType, Distribution};
use launchway_domain::platform::Platform;
use launchway_project::resolve::{BuildRequest, resolve, resolve_in};
use launchway_project::workspace::ProjectSource;

use crate::fixtures::*;

/// The files that make a root, and how its packages are installed.
const ROOTS: [(Files, &str, &str); 4] = [
    (
        &[
            ("package.json", r#"{"workspaces": ["apps/*"]}"#),
            ("package-lock.json", "{}"),
        ],
        "npm ci",
        "package-lock.json",
    ),
    (
        &[
            ("package.json", r#"{"workspaces": {"packages": ["apps/*"]}}"#),
            ("yarn.lock", "# yarn lockfile v1\n"),
        ],
        "yarn install --frozen-lockfile",
        "yarn.lock",
    ),
    (
        &[
            (
                "package.json",
                r#"{"workspaces": ["apps/*"], "packageManager": "yarn@4.9.1"}"#,
            ),
            ("yarn.lock", "__metadata:\n  version: 8\n"),
        ],
        "yarn install --immutable",
        "yarn.lock",
    ),
    (
        &[
            ("package.json", "{}"),
            ("pnpm-workspace.yaml", "packages:\n  - 'apps/*'\n"),
            ("pnpm-lock.yaml", "lockfileVersion: '9.0'\n"),
        ],
        "pnpm install --frozen-lockfile",
        "pnpm-lock.yaml",
    ),
];

#[test]
fn packages_are_installed_at_the_root_of_the_workspace() {
    let request = BuildRequest {
        platform: Platform::Android,
        profile: None,
        build_type: Some(BuildType::Release),
        distribution: Some(Distribution::Store),
    };
    for (root, install, lockfile) in ROOTS {
        let directory = project(root);
        let app: Vec<_> = CAPACITOR
            .iter()
            .filter(|(name, _)| *name != "package-lock.json")
            .collect();
        for (name, content) in app {
            add(directory.path(), &[(&format!("apps/mobile/{name}"), content)]);
        }
        add(directory.path(), &[("apps/mobile/launchway.trust.json", "{}")]);
        let settings = "[build.production]\nbefore_build = [{ name = 'check', run = 'npm test' }]\n";
        add(directory.path(), &[("apps/mobile/launchway.toml", settings)]);

        let place = ProjectSource::find(&directory.path().join("apps/mobile"), "");
        let plan = resolve_in(&place, &request).unwrap().plan;
        assert_eq!(plan.steps[0].run, install);
        assert_eq!(plan.cache[0].key, format!("packages-{{{{ hash \"{lockfile}\" }}}}"));
        let others = &plan.steps[1..];
        assert!(
            others.iter().all(|step| step.run.starts_with("cd -- apps/mobile")),
            "{others:?}"
        );
        let embed = others.iter().find(|step| step.name == "embed fingerprint").unwrap();
        assert_eq!(embed.run, "cd -- apps/mobile\nlaunchway embed android");
        assert!(
            plan.artifacts[0].path.starts_with("apps/mobile/android/"),
            "{:?}",
            plan.artifacts
        );

        // Settings at the root mean the same plan, except for the trust file, which is then there, too.
        add(
            directory.path(),
            &[(
                "launchway.toml",
                &settings.replacen("]\n", "]\ndirectory = 'apps/mobile'\n", 1),
            )],
        );
        add(directory.path(), &[("launchway.trust.json", "{}")]);
        assert_eq!(resolve(directory.path(), &request).unwrap().plan, plan);
    }
}

#[test]
fn an_app_below_the_root_that_is_no_member_is_on_its_own() {
    let directory = project(&[
        ("package.json", r#"{"workspaces": ["packages/*"]}"#),
        ("package-lock.json", "{}"),
    ]);
    for (name, content) in CAPACITOR {
        add(directory.path(), &[(&format!("apps/mobile/{name}"), content)]);
    }
    let request = BuildRequest {
        platform: Platform::Android,
        profile: None,
        build_type: Some(BuildType::Release),
        distribution: Some(Distribution::Store),
    };
    let place = ProjectSource {
        root: directory.path().to_owned(),
        base: "apps/mobile".to_owned(),
    };
    let plan = resolve_in(&place, &request).unwrap().plan;
    assert_eq!(plan.steps[0].run, "cd -- apps/mobile\nnpm ci");
    assert!(
        plan.steps.iter().all(|step| step.run.starts_with("cd -- apps/mobile")),
        "{plan:?}"
    );
}
