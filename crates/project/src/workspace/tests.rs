//! Workspaces of each package manager, and what does not belong to them.

use super::*;
use crate::lockfile::PNPM_WORKSPACE;

/// A directory with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    for (name, text) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().expect("it lies in the directory")).expect("space");
        fs::write(path, text).expect("space");
    }
    directory
}

#[test]
fn members_are_those_that_the_root_lists() {
    let npm = |list: &str| ("package.json", format!(r#"{{"workspaces": {list}}}"#));
    let pnpm = |text: &str| (PNPM_WORKSPACE, text.to_owned());
    let rows = [
        (npm(r#"["apps/*"]"#), "apps/mobile", true),
        (npm(r#"["./apps/mobile/"]"#), "apps/mobile", true),
        (npm(r#"{"packages": ["apps/*"]}"#), "apps/mobile", true),
        (npm(r#"["apps/{web,mobile}"]"#), "apps/mobile", true),
        (npm(r#"["mobile"]"#), "apps/mobile", false),
        (npm(r#"["apps/*"]"#), "apps/mobile/inner", false),
        (npm(r#"["apps/*"]"#), "apps", false),
        (npm(r#"["apps/**"]"#), "apps/a/b", true),
        (npm(r#"["**"]"#), "apps/a", true),
        (npm(r#"["apps/*", "!apps/mobile"]"#), "apps/mobile", false),
        (npm(r#""apps/*""#), "apps/mobile", false),
        (npm("[1, null]"), "apps/mobile", false),
        (pnpm("packages:\n  - 'apps/*' # ours\n"), "apps/mobile", true),
        (
            pnpm("# all\npackages:\n- \"apps/**\"\n- packages\n"),
            "apps/mobile",
            true,
        ),
        (pnpm("packages: ['packages/*', \"apps/*\"]\n"), "apps/mobile", true),
        (
            pnpm("packages:\n  - 'apps/*'\n  - '!apps/mobile'\n"),
            "apps/mobile",
            false,
        ),
        (
            pnpm("packages:\n  - 'packages/*'\ncatalog:\n  - 'apps/*'\n"),
            "apps/mobile",
            false,
        ),
        (pnpm("onlyBuiltDependencies:\n  - a\n"), "apps/mobile", false),
        (pnpm("packages:\n  - '{{{'\n  - '[a'\n"), "apps/mobile", false),
        (pnpm(""), "apps/mobile", false),
    ];
    for ((name, text), directory, expected) in rows {
        let root = folder(&[(name, &text), ("apps/mobile/package.json", "{}")]);
        let source = Source::new(root.path());
        let found = root_within(&source, directory);
        assert_eq!(found.is_some(), expected, "{directory} of {text}");
        assert_eq!(found.unwrap_or_default(), "");
    }
}

#[test]
fn the_source_of_a_member_is_the_workspace() {
    let root = folder(&[
        ("package.json", r#"{"workspaces": ["apps/*"]}"#),
        ("package-lock.json", "{}"),
        ("apps/mobile/package.json", "{}"),
        ("apps/alone/package.json", "{}"),
        ("apps/alone/yarn.lock", ""),
        ("tools/package.json", "{}"),
    ]);
    let real = fs::canonicalize(root.path()).expect("it is there");
    let find = |project: &str, directory: &str| ProjectSource::find(&root.path().join(project), directory);
    let in_workspace = |base: &str| ProjectSource {
        root: real.clone(),
        base: base.to_owned(),
    };
    assert_eq!(find("apps/mobile", ""), in_workspace("apps/mobile"));
    assert_eq!(
        find("apps", "mobile"),
        in_workspace("apps"),
        "its settings are above it"
    );
    assert_eq!(in_workspace("apps").place("mobile"), "apps/mobile");
    for (project, directory) in [("", "apps/mobile"), ("tools", ""), ("apps/alone", ""), ("none", "")] {
        let found = find(project, directory);
        assert_eq!(
            (found.root, found.base.as_str()),
            (root.path().join(project), ""),
            "{project}"
        );
    }
    assert_eq!(declared_above(&real.join("apps/alone")), Some(real.clone()));
}

#[test]
fn nothing_above_the_repository_counts() {
    let root = folder(&[
        ("package.json", r#"{"workspaces": ["**"]}"#),
        ("repository/.git/HEAD", ""),
        ("repository/app/package.json", "{}"),
    ]);
    let project = root.path().join("repository/app");
    assert_eq!(ProjectSource::find(&project, "").root, project);
    fs::write(
        root.path().join("repository/package.json"),
        r#"{"workspaces": ["app"]}"#,
    )
    .expect("space");
    assert_eq!(ProjectSource::find(&project, "").base, "app");
}
