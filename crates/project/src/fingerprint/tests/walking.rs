//! Which files count: ignore files, `[fingerprint]` of `launchway.toml`, links.

use super::*;

const ANDROID: Platform = Platform::Android;

fn nothing_or(native: bool) -> Vec<String> {
    if native {
        vec!["Native source changed".to_owned()]
    } else {
        Vec::new()
    }
}

#[test]
fn ignore_files_only_leave_out() {
    let rows = [
        (".gitignore", "*.gen\n", "android/a.gen", false),
        (".gitignore", "/android/*.gen\n", "android/a.gen", false),
        (".gitignore", "/android/*.gen\n", "android/app/a.gen", true),
        ("android/.gitignore", "gen/\n", "android/app/gen/a", false),
        ("android/.gitignore", "gen/\n!gen/\n", "android/app/gen/a", true),
        (".fingerprintignore", "android/notes\n", "android/notes/a", false),
        ("android/.fingerprintignore", "*.txt\r\n", "android/a.txt", false),
        (".gitignore", "!build\n!.DS_Store\n", "android/build/a", false),
        (".gitignore", "!.DS_Store\n", "android/.DS_Store", false),
        (".gitignore", "[broken\n", "android/a", true),
        (".git/info/exclude", "a\n", "android/a", true),
    ];
    for (ignore, text, file, counts) in rows {
        let project = capacitor();
        project.write(ignore, text);
        let changes = project.changes(ANDROID, |project| project.write(file, "new"));
        assert_eq!(changes, nothing_or(counts), "{ignore} {text:?} {file}");
    }
    let project = capacitor();
    project.write(".gitignore", "*.gen\n");
    project.write("android/.fingerprintignore", "!*.gen\n");
    let changes = project.changes(ANDROID, |project| project.write("android/a.gen", "new"));
    assert_eq!(
        changes, [""; 0],
        "one kind brings nothing back that the other leaves out"
    );
}

#[test]
fn the_settings_include_and_exclude() {
    let include = || capacitor().rules(&["native-extras/**/*.c", "/one.xml"], &["android/notes", "*.tmp"]);
    let rows = [
        ("native-extras/deep/a.c", true),
        ("native-extras/deep/a.md", false),
        ("one.xml", true),
        ("deep/one.xml", false),
        ("android/notes/a", false),
        ("android/a.tmp", false),
        ("native-extras/a.tmp", false),
        ("android/a", true),
    ];
    for (file, counts) in rows {
        let changes = include().changes(ANDROID, |project| project.write(file, "new"));
        assert_eq!(changes, nothing_or(counts), "{file}");
    }
    for (pattern, problem) in [
        ("../x", "is outside the project"),
        ("[z-a]", "is not valid in .gitignore"),
    ] {
        let project = capacitor().rules(&[pattern], &[]);
        assert_eq!(
            project.problem(ANDROID),
            format!("the pattern `{pattern}` in launchway.toml {problem}")
        );
    }
}

#[test]
fn names_count_as_nfc() {
    let (project, other) = (capacitor(), capacitor());
    project.write("android/\u{e9}.txt", "a");
    other.write("android/e\u{301}.txt", "a");
    assert_eq!(project.document(ANDROID), other.document(ANDROID));
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn inside_they_are_followed() {
        let (linked, plain) = (capacitor(), capacitor());
        linked.write("shared/a.java", "class A {}");
        symlink("../shared", linked.root().join("android/shared")).unwrap();
        symlink("../../shared/a.java", linked.root().join("android/app/b.java")).unwrap();
        plain.write("android/shared/a.java", "class A {}");
        plain.write("android/app/b.java", "class A {}");
        assert_eq!(linked.document(ANDROID), plain.document(ANDROID));
    }

    #[test]
    fn others_are_errors_with_their_names() {
        let rows: [(&str, &str, &str); 4] = [
            (
                "../../outside",
                "android/out",
                "android/out is a link to outside the project; move its target into the project, or exclude it",
            ),
            (
                "nowhere",
                "android/none",
                "android/none is a broken link; fix it, or exclude it",
            ),
            (
                "self",
                "android/self",
                "android/self is a broken link; fix it, or exclude it",
            ),
            (
                "..",
                "android/app/up",
                "android/app/up is a link to a folder that contains it; remove it, or exclude it",
            ),
        ];
        for (target, link, expected) in rows {
            let project = capacitor();
            fs::write(project.folder.path().join("outside"), "secret").unwrap();
            symlink(target, project.root().join(link)).unwrap();
            assert_eq!(project.problem(ANDROID), expected);
            let excluded = project.rules(&[], &[link]);
            assert!(excluded.try_collect(ANDROID).is_ok(), "{link} is excluded");
        }
    }

    #[test]
    fn the_native_project_itself_may_not_lie_outside() {
        let project = capacitor();
        let outside = project.folder.path().join("outside");
        fs::rename(project.root().join("android"), &outside).unwrap();
        symlink(&outside, project.root().join("android")).unwrap();
        assert!(
            project
                .problem(ANDROID)
                .starts_with("android is a link to outside the project")
        );
    }

    #[test]
    fn pipes_are_named_and_not_opened() {
        let project = capacitor();
        let pipe = project.root().join("android/pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(
            project.problem(ANDROID),
            "android/pipe is neither a file nor a folder; remove it, or exclude it"
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let project = capacitor();
        let file = project.root().join("android/secret.c");
        project.write("android/secret.c", "a");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read everything.
        if fs::read(&file).is_err() {
            assert!(
                project
                    .problem(ANDROID)
                    .starts_with("android/secret.c cannot be read: ")
            );
        }
    }

    #[test]
    fn names_that_are_no_text_are_named() {
        use std::os::unix::ffi::OsStrExt;

        let project = capacitor();
        let name = std::ffi::OsStr::from_bytes(b"android/\xff");
        // Some file systems reject such names.
        if fs::write(project.root().join(name), "a").is_ok() {
            assert_eq!(
                project.problem(ANDROID),
                "android/\u{fffd} has a name that is not UTF-8; rename it"
            );
        }
    }
}
