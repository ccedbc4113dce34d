//! Which files belong to a source, and that the same source gives the same bytes.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::*;

fn project(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = root.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn names(root: &Path) -> Vec<String> {
    walk(root).unwrap().into_iter().map(|entry| entry.name).collect()
}

fn packed(root: &Path) -> Vec<u8> {
    let entries = walk(root).unwrap();
    let target = tempfile::NamedTempFile::new().unwrap();
    pack(&entries, target.reopen().unwrap(), None, &|_| ()).unwrap();
    fs::read(target.path()).unwrap()
}

#[test]
fn leaves_out_what_is_ignored_and_what_projects_make_anew() {
    let root = project(&[
        (".gitignore", "dist/\n*.log\n!kept.log\n"),
        (".env", "A=1"),
        ("app/.gitignore", "/local"),
        ("app/local", ""),
        ("app/main.ts", ""),
        ("dist/out.js", ""),
        ("a.log", ""),
        ("kept.log", ""),
        (".git/config", ""),
        ("node_modules/x/index.js", ""),
        ("app/node_modules/y/index.js", ""),
        ("android/.gradle/x", ""),
        ("launchway-out/app.apk", ""),
    ]);
    let expected = [".env", ".gitignore", "app/.gitignore", "app/main.ts", "kept.log"];
    assert_eq!(names(root.path()), expected);
}

#[test]
fn the_own_ignore_file_wins_and_brings_back() {
    let root = project(&[
        (".gitignore", "dist/\n"),
        (".launchwayignore", "!dist/\n!node_modules/\nsecret.txt\n"),
        ("dist/out.js", ""),
        ("node_modules/x/index.js", ""),
        ("secret.txt", ""),
    ]);
    let expected = [
        ".gitignore",
        ".launchwayignore",
        "dist/out.js",
        "node_modules/x/index.js",
    ];
    assert_eq!(names(root.path()), expected);
}

#[test]
fn nothing_above_counts_unless_it_is_of_the_same_repository() {
    let top = project(&[
        (".gitignore", "*.ts\n"),
        ("repository/.gitignore", "*.js\n"),
        ("repository/app/a.ts", ""),
        ("repository/app/b.js", ""),
    ]);
    let app = top.path().join("repository/app");
    assert_eq!(names(&app), ["a.ts", "b.js"]);
    fs::create_dir(top.path().join("repository/.git")).unwrap();
    assert_eq!(names(&app), ["a.ts"]);
}

#[test]
fn what_git_tracks_is_packed_though_it_is_ignored() {
    let root = project(&[
        (".gitignore", "*.jar\n"),
        (".launchwayignore", "private.jar\n"),
        ("gradle/wrapper.jar", ""),
        ("private.jar", ""),
        ("other.jar", ""),
    ]);
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(root.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-f", "gradle/wrapper.jar", "private.jar"]);
    assert_eq!(
        names(root.path()),
        [".gitignore", ".launchwayignore", "gradle/wrapper.jar"]
    );
}

#[test]
fn the_same_source_gives_the_same_bytes_anywhere_and_anytime() {
    let files = [("b/run.sh", "#!/bin/sh\n"), ("a.txt", "hello"), ("z", "")];
    let (one, other) = (project(&files), project(&files));
    for (root, mode) in [(&one, 0o755), (&other, 0o711)] {
        fs::set_permissions(root.path().join("b/run.sh"), fs::Permissions::from_mode(mode)).unwrap();
        symlink("b/run.sh", root.path().join("link")).unwrap();
    }
    fs::set_permissions(other.path().join("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    fs::File::options()
        .append(true)
        .open(other.path().join("z"))
        .unwrap()
        .set_modified(old)
        .unwrap();
    let bytes = packed(one.path());
    assert_eq!(bytes, packed(other.path()));

    let to = tempfile::tempdir().unwrap();
    tar::Archive::new(zstd::Decoder::new(bytes.as_slice()).unwrap())
        .unpack(to.path())
        .unwrap();
    assert_eq!(fs::read(to.path().join("link")).unwrap(), b"#!/bin/sh\n");
    let mode = |name: &str| fs::metadata(to.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("b/run.sh"), mode("a.txt")), (0o755, 0o644));
}

#[test]
fn a_name_longer_than_a_header_holds_comes_along() {
    let long = format!("{}/{}/file.txt", "a".repeat(120), "b".repeat(120));
    let root = project(&[(&long, "text")]);
    let to = tempfile::tempdir().unwrap();
    let bytes = packed(root.path());
    tar::Archive::new(zstd::Decoder::new(bytes.as_slice()).unwrap())
        .unpack(to.path())
        .unwrap();
    assert_eq!(fs::read(to.path().join(long)).unwrap(), b"text");
}

#[test]
fn links_that_lead_out_are_named() {
    let outside = project(&[("secret", "")]);
    for (link, target) in [
        ("link", outside.path().join("secret")),
        ("link", "/etc/passwd".into()),
        ("link", "..".into()),
        ("sub/link", "../../x".into()),
    ] {
        let root = project(&[("sub/file", "")]);
        symlink(&target, root.path().join(link)).unwrap();
        let error = walk(root.path()).unwrap_err();
        let expected = format!(
            "{} links to {}, outside the source",
            root.path().join(link).display(),
            target.display()
        );
        assert_eq!(error.to_string(), expected);
        assert!(error.can_be_ignored());
        fs::write(root.path().join(".launchwayignore"), "link\n").unwrap();
        assert_eq!(names(root.path()), [".launchwayignore", "sub/file"]);
    }
    let root = project(&[("sub/file", "")]);
    symlink("sub", root.path().join("short")).unwrap();
    symlink("../sub/file", root.path().join("sub/self")).unwrap();
    symlink("not-there-yet", root.path().join("later")).unwrap();
    assert_eq!(names(root.path()), ["later", "short", "sub/file", "sub/self"]);
}

#[test]
fn a_way_out_through_another_link_is_found() {
    let top = project(&[("source/a/file", ""), ("secret", "")]);
    let root = top.path().join("source");
    symlink("a", root.join("down")).unwrap();
    fs::create_dir_all(root.join("b/c")).unwrap();
    symlink("../../a", root.join("b/c/across")).unwrap();
    // The text of the link stays inside; through `down`, which is one level up, it does not.
    symlink("b/c/across/../../secret", root.join("out")).unwrap();
    let error = walk(&root).unwrap_err();
    assert!(
        matches!(&error, SourceError::LinkOut { path, .. } if path.ends_with("out")),
        "{error}"
    );
}

#[test]
fn what_cannot_be_packed_is_named() {
    let nothing = project(&[]);
    assert!(matches!(walk(nothing.path()), Err(SourceError::Empty(_))));
    assert!(matches!(
        walk(&nothing.path().join("gone")),
        Err(SourceError::NotADirectory(_))
    ));
    let odd = project(&[("a\\b", "")]);
    assert!(
        walk(odd.path())
            .unwrap_err()
            .to_string()
            .ends_with("it contains a backslash")
    );
    let piped = project(&[("file", "")]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        piped.path().join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    assert!(matches!(walk(piped.path()), Err(SourceError::Special(_))));
    let shrinking = project(&[("file", "longer")]);
    let entries = walk(shrinking.path()).unwrap();
    for text in ["short", "longer than before"] {
        fs::write(shrinking.path().join("file"), text).unwrap();
        let target = tempfile::tempfile().unwrap();
        assert!(
            matches!(pack(&entries, target, None, &|_| ()), Err(SourceError::Changed(_))),
            "{text}"
        );
    }
}

#[test]
fn packing_stops_where_the_server_takes_no_more() {
    let directory = tempfile::tempdir().unwrap();
    let mut noise = vec![0; 4 << 20];
    ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut noise).unwrap();
    std::fs::write(directory.path().join("video.bin"), &noise).unwrap();
    let entries = walk(directory.path()).unwrap();
    for (limit, is_too_large) in [(1 << 20, true), (8 << 20, false)] {
        let packed = pack(&entries, tempfile::tempfile().unwrap(), Some(limit), &|_| ());
        assert_eq!(
            matches!(packed, Err(SourceError::TooLarge(told)) if told == limit),
            is_too_large,
            "{packed:?}"
        );
    }
}
