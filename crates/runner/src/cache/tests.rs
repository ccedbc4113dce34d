//! Caches: what is restored, what is dropped, and which builds share one.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn stage(most: u64) -> (tempfile::TempDir, Caches) {
    let directory = tempfile::tempdir().unwrap();
    let caches = Caches::open(directory.path().join("caches"), most).unwrap();
    (directory, caches)
}

fn workspace(directory: &tempfile::TempDir, name: &str) -> Workspace {
    Workspace::make(directory.path().join(name), None).unwrap()
}

/// A build that is not stopped.
fn of<'u>(scope: &'u str, workspace: &'u Workspace, now: EpochMs) -> CacheUser<'u> {
    static NOBODY: std::sync::LazyLock<Stopper> = std::sync::LazyLock::new(Stopper::default);
    CacheUser {
        scope,
        workspace,
        stopper: &NOBODY,
        most_entries: 1000,
        now,
    }
}

fn keyed(key: &str, paths: &[&str]) -> ResolvedRule {
    ResolvedRule {
        key: key.to_owned(),
        names_content: false,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
    }
}

#[test]
fn what_was_saved_comes_back_as_it_was() {
    let (directory, caches) = stage(1 << 20);
    let (one, two) = (workspace(&directory, "one"), workspace(&directory, "two"));
    let rule = keyed("key", &["deps/lib", "~/.tool", "gone"]);
    assert_eq!(
        caches.restore(&rule, &of("org", &one, 1)),
        "Cache key: nothing saved yet"
    );
    fs::create_dir_all(one.source().join("deps/lib/inner")).unwrap();
    fs::write(one.source().join("deps/lib/inner/run"), "run").unwrap();
    fs::set_permissions(
        one.source().join("deps/lib/inner/run"),
        fs::Permissions::from_mode(0o750),
    )
    .unwrap();
    symlink("inner/run", one.source().join("deps/lib/link")).unwrap();
    symlink("/etc/passwd", one.source().join("deps/lib/out")).unwrap();
    fs::write(one.home().join(".tool"), "home").unwrap();
    assert_eq!(caches.save(&rule, &of("org", &one, 2)), "Cache key: saved, 1 KiB");
    // A build that changes its copy does not change the kept one.
    fs::write(one.source().join("deps/lib/inner/run"), "changed").unwrap();
    assert_eq!(caches.restore(&rule, &of("org", &two, 3)), "Cache key: restored");
    let run = two.source().join("deps/lib/inner/run");
    assert_eq!(fs::read_to_string(&run).unwrap(), "run");
    assert_eq!(fs::metadata(&run).unwrap().mode() & 0o777, 0o750);
    assert_eq!(
        fs::read_link(two.source().join("deps/lib/link")).unwrap(),
        Path::new("inner/run")
    );
    assert_eq!(
        fs::read_link(two.source().join("deps/lib/out")).unwrap(),
        Path::new("/etc/passwd")
    );
    assert_eq!(fs::read_to_string(two.home().join(".tool")).unwrap(), "home");
    // Saving under a key that does not identify the content replaces the cache.
    fs::write(&run, "newer").unwrap();
    caches.save(&rule, &of("org", &two, 4));
    let three = workspace(&directory, "three");
    caches.restore(&rule, &of("org", &three, 5));
    assert_eq!(
        fs::read_to_string(three.source().join("deps/lib/inner/run")).unwrap(),
        "newer"
    );
}

#[test]
fn another_organization_or_key_gets_nothing() {
    let (directory, caches) = stage(1 << 20);
    let (one, two) = (workspace(&directory, "one"), workspace(&directory, "two"));
    fs::write(one.source().join("file"), "x").unwrap();
    caches.save(&keyed("key", &["file"]), &of("org", &one, 1));
    for (org, key) in [("other", "key"), ("org", "other"), ("../org", "key")] {
        assert!(
            caches
                .restore(&keyed(key, &["file"]), &of(org, &two, 2))
                .ends_with("nothing saved yet")
        );
    }
}

#[test]
fn links_of_a_build_lead_a_cache_nowhere() {
    let (directory, caches) = stage(1 << 20);
    let (one, two) = (workspace(&directory, "one"), workspace(&directory, "two"));
    let outside = directory.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "hunter2").unwrap();
    symlink(&outside, one.source().join("deps")).unwrap();
    fs::create_dir(one.home().join("x")).unwrap();
    // Nothing is read through a link…
    assert!(
        caches
            .save(&keyed("key", &["deps/secret"]), &of("org", &one, 1))
            .contains("not saved")
    );
    // …and nothing is written through one.
    fs::create_dir(two.source().join("deps")).unwrap();
    fs::write(two.source().join("deps/new"), "x").unwrap();
    caches.save(&keyed("key", &["deps/new"]), &of("org", &two, 2));
    let line = caches.restore(&keyed("key", &["deps/new"]), &of("org", &one, 3));
    assert!(line.contains("broken"), "{line}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn a_broken_cache_is_dropped() {
    let (directory, caches) = stage(1 << 20);
    let (one, two) = (workspace(&directory, "one"), workspace(&directory, "two"));
    fs::create_dir(one.source().join("deps")).unwrap();
    fs::write(one.source().join("deps/file"), "x").unwrap();
    let rule = keyed("key", &["deps"]);
    caches.save(&rule, &of("org", &one, 1));
    let place = caches.place("org", "key");
    // A pipe in place of a file, as after a disk error.
    fs::remove_dir_all(place.join("0")).unwrap();
    fs::write(place.join("0"), "x").unwrap();
    fs::set_permissions(&place, fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(place.join("note.json"), "{").unwrap();
    assert!(
        caches
            .restore(&rule, &of("org", &two, 2))
            .ends_with("nothing saved yet")
    );
    assert_eq!(fs::read_dir(two.source()).unwrap().count(), 0);
    assert_eq!(caches.save(&rule, &of("org", &one, 3)), "Cache key: saved, 1 KiB");
    assert_eq!(caches.restore(&rule, &of("org", &two, 4)), "Cache key: restored");
}

#[test]
fn the_least_recently_used_goes_first() {
    let (directory, caches) = stage(2500);
    let one = workspace(&directory, "one");
    fs::write(one.source().join("file"), vec![0; 1000]).unwrap();
    for (key, now) in [("a", 1), ("b", 2)] {
        caches.save(&keyed(key, &["file"]), &of("org", &one, now));
    }
    let fresh = |name: &str| workspace(&directory, name);
    assert!(
        caches
            .restore(&keyed("a", &["file"]), &of("org", &fresh("w1"), 3))
            .ends_with("restored")
    );
    caches.save(&keyed("c", &["file"]), &of("org2", &one, 4));
    assert!(
        caches
            .restore(&keyed("b", &["file"]), &of("org", &fresh("w2"), 5))
            .ends_with("nothing saved yet")
    );
    assert!(
        caches
            .restore(&keyed("a", &["file"]), &of("org", &fresh("w3"), 6))
            .ends_with("restored")
    );
    assert!(
        caches
            .restore(&keyed("c", &["file"]), &of("org2", &fresh("w4"), 7))
            .ends_with("restored")
    );
    fs::write(one.source().join("huge"), vec![0; 3000]).unwrap();
    assert!(
        caches
            .save(&keyed("huge", &["huge"]), &of("org", &one, 8))
            .contains("exceeds the size limit of caches")
    );
}

#[test]
fn what_a_crash_left_is_removed_and_a_key_is_saved_once() {
    let (directory, caches) = stage(1 << 20);
    let one = workspace(&directory, "one");
    fs::write(one.source().join("file"), "x").unwrap();
    let rule = ResolvedRule {
        names_content: true,
        ..keyed("key", &["file"])
    };
    caches.save(&rule, &of("org", &one, 1));
    assert_eq!(caches.save(&rule, &of("org", &one, 2)), "Cache key: already saved");
    let half = caches.beside(&caches.place("org", "key"), "new", &one);
    fs::create_dir(&half).unwrap();
    drop(caches);
    let caches = Caches::open(directory.path().join("caches"), 1 << 20).unwrap();
    assert!(!half.exists());
    assert!(
        caches
            .restore(&rule, &of("org", &workspace(&directory, "two"), 3))
            .ends_with("restored")
    );
}

#[test]
fn a_cache_outlives_a_build_that_stops_while_restoring_it() {
    let (directory, caches) = stage(1 << 20);
    let (one, two) = (workspace(&directory, "one"), workspace(&directory, "two"));
    fs::create_dir(one.source().join("deps")).unwrap();
    fs::write(one.source().join("deps/file"), "x").unwrap();
    let rule = keyed("key", &["deps"]);
    let stopper = Stopper::default();
    stopper.stop(crate::stop::StopReason::Canceled);
    let stopped = |workspace| CacheUser {
        stopper: &stopper,
        ..of("org", workspace, 1)
    };
    assert!(caches.save(&rule, &stopped(&one)).contains("the build was stopped"));
    caches.save(&rule, &of("org", &one, 2));
    assert!(caches.restore(&rule, &stopped(&two)).contains("the build was stopped"));
    assert_eq!(caches.restore(&rule, &of("org", &two, 3)), "Cache key: restored");
}

#[test]
fn pipes_holes_and_too_many_files_are_no_cache() {
    let (directory, caches) = stage(1 << 20);
    let one = workspace(&directory, "one");
    let holes = one.source().join("holes");
    fs::create_dir(&holes).unwrap();
    fs::File::create(holes.join("file")).unwrap().set_len(15 << 40).unwrap();
    let line = caches.save(&keyed("holes", &["holes"]), &of("org", &one, 1));
    assert_eq!(line, "Cache holes: not saved: it exceeds the size limit of caches");
    let many = one.source().join("many");
    fs::create_dir(&many).unwrap();
    for number in 0..1001 {
        fs::write(many.join(number.to_string()), "").unwrap();
    }
    let line = caches.save(&keyed("many", &["many"]), &of("org", &one, 2));
    assert_eq!(
        line,
        "Cache many: not saved: there are more than 1000 files and folders"
    );
    // A name that is not UTF-8 is kept; a pipe is not.
    use std::os::unix::ffi::OsStrExt;
    let odd = one.source().join("odd");
    fs::create_dir(&odd).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"a\xff\nb");
    fs::write(odd.join(name), "x").unwrap();
    let made = std::process::Command::new("mkfifo").arg(odd.join("pipe")).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(odd.join("socket")).unwrap();
    assert_eq!(
        caches.save(&keyed("odd", &["odd"]), &of("org", &one, 3)),
        "Cache odd: saved, 1 KiB"
    );
    let two = workspace(&directory, "two");
    caches.restore(&keyed("odd", &["odd"]), &of("org", &two, 4));
    let back: Vec<_> = fs::read_dir(two.source().join("odd"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(back, [name]);
}
