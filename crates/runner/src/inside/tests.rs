//! Trees with links, pipes and depths that no build should reach through.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;

use super::*;
use crate::stop::Stopper;

fn stage() -> (tempfile::TempDir, Inside) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(directory.path().join("secret"), "secret").unwrap();
    fs::create_dir(directory.path().join("outside")).unwrap();
    symlink("../secret", root.join("link")).unwrap();
    symlink("../outside", root.join("folder")).unwrap();
    let inside = Inside::open(&root).unwrap();
    (directory, inside)
}

#[test]
fn writes_and_reads_below() {
    let (_directory, inside) = stage();
    let path = Path::new("a/b/file");
    inside.create(path, 0o4755).unwrap().write_all(b"text").unwrap();
    let mut text = String::new();
    inside.read(path).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert_eq!(
        inside
            .enter(Path::new("a/b"))
            .unwrap()
            .mode(OsStr::new("file"))
            .unwrap(),
        0o755
    );
    assert!(inside.create(path, 0o600).is_err(), "twice");
    assert_eq!(inside.kind(path).unwrap(), Some(Kind::File));
    assert_eq!(inside.kind(Path::new("link")).unwrap(), Some(Kind::Link));
    assert_eq!(inside.kind(Path::new("a/c/d")).unwrap(), None);
    assert_eq!(inside.target(Path::new("link")).unwrap(), "../secret");
}

#[test]
fn follows_no_link_and_never_climbs() {
    let (directory, inside) = stage();
    for path in [
        "link",
        "folder/x",
        "../secret",
        "/etc/passwd",
        "a/../../secret",
        "",
        "..",
        ".",
    ] {
        let path = Path::new(path);
        assert!(inside.read(path).is_err(), "{path:?}");
        assert!(inside.create(path, 0o600).is_err(), "{path:?}");
        assert!(inside.link(OsStr::new("x"), path).is_err(), "{path:?}");
        assert!(inside.move_out(path, &directory.path().join("moved")).is_err() || path == Path::new("link"));
    }
    assert!(inside.enter(Path::new("folder")).is_err());
    assert!(inside.make_directories(Path::new("folder/x")).is_err());
    assert_eq!(fs::read(directory.path().join("secret")).unwrap(), b"secret");
    assert_eq!(fs::read_dir(directory.path().join("outside")).unwrap().count(), 0);
}

#[test]
fn a_pipe_is_no_file_and_does_not_block() {
    let (directory, inside) = stage();
    let pipe = directory.path().join("root/pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(pipe)
            .status()
            .unwrap()
            .success()
    );
    assert!(inside.read(Path::new("pipe")).is_err());
    assert_eq!(inside.kind(Path::new("pipe")).unwrap(), Some(Kind::Other));
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let (_directory, inside) = stage();
    let deep: PathBuf = (0..MAX_DEPTH + 5).map(|_| "d").collect();
    inside.make_directories(&deep).unwrap();
    let stopper = Stopper::default();
    let mut effort = Effort::new(&stopper, 1 << 20);
    assert!(inside.walk(&mut effort, &mut |_, _, _| Ok(())).is_err());
}
