//! What packages may contain, and what happens to those that contain something else.

use std::collections::BTreeMap;
use std::fs;
use std::io::Cursor;

use launchway_delta::{Digest, FileList};
use launchway_device::boot::{Content, Ending, Soundness};
use launchway_device::folder::Folder;
use launchway_device::ports::Storage;
use launchway_device::slot::{Expected, InstallError, content, install, soundness};
use launchway_device::{SyncError, SyncOutcome};
use serde_json::Value;

use crate::disk::Disk;
use crate::phone::{Server, Update, files, launch, package, process, zip_of};

const SLOT: Digest = Digest([1; 32]);

fn expected(entry_file: &str) -> Expected<'_> {
    Expected {
        entry_file,
        ..Expected::default()
    }
}

fn install_bytes(disk: &Disk, bytes: &[u8], expected: &Expected<'_>) -> Result<FileList, InstallError> {
    install(disk, Box::new(Cursor::new(bytes.to_vec())), SLOT, expected)
}

fn list_of(files: &BTreeMap<String, Vec<u8>>) -> FileList {
    FileList::of_archive(Cursor::new(package(files))).unwrap()
}

fn is_sound(disk: &Disk) -> Soundness {
    soundness(disk, SLOT, "index.html", true).unwrap()
}

#[test]
fn a_package_is_unpacked_byte_for_byte() {
    let disk = Disk::new();
    let list = install_bytes(&disk, &package(&files(1)), &expected("index.html")).unwrap();
    assert_eq!(disk.files_below(&content(SLOT)), files(1));
    assert_eq!(list, list_of(&files(1)));
    assert_eq!(is_sound(&disk), Soundness::Sound);
}

#[test]
fn hostile_packages_of_the_vectors_leave_no_slot() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../sdk/vectors/hostile-zips/zips.json");
    let vectors: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let bytes = |case: &Value| -> Vec<u8> {
        let hex = case["zip"].as_str().unwrap();
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    };
    let hostile = vectors["refused"].as_array().unwrap();
    assert!(hostile.len() >= 40);
    for case in hostile {
        let disk = Disk::new();
        let mut by_itself = false;
        for entry in ["ok", "a", "between", "index.html"] {
            let refused = install_bytes(&disk, &bytes(case), &expected(entry));
            by_itself |= !matches!(refused, Ok(_) | Err(InstallError::NoEntryFile(_)));
            assert!(refused.is_err(), "{}", case["name"]);
            assert_eq!(
                soundness(&disk, SLOT, entry, true).unwrap(),
                Soundness::Incomplete,
                "{}",
                case["name"]
            );
        }
        assert!(by_itself, "{}: only the entry file is missing", case["name"]);
        let outside: Vec<String> = disk
            .files_below("")
            .into_keys()
            .filter(|path| !path.starts_with("slots/"))
            .collect();
        assert_eq!(outside, Vec::<String>::new(), "{}", case["name"]);
    }
    for case in vectors["good"].as_array().unwrap() {
        let disk = Disk::new();
        let list = install_bytes(&disk, &bytes(case), &expected("index.html")).unwrap();
        assert_eq!(
            list.manifest().to_string(),
            case["manifest"].as_str().unwrap(),
            "{}",
            case["name"]
        );
        assert_eq!(is_sound(&disk), Soundness::Sound, "{}", case["name"]);
    }
}

#[test]
fn native_code_is_refused_wherever_it_is() {
    for path in [
        "lib/libx.so",
        "a.DEX",
        "b/c.jar",
        "x.dylib",
        "My.framework/Info.plist",
        "libz.so.1",
    ] {
        let bytes = zip_of(&[("index.html", b"x"), (path, b"x")]);
        let refused = install_bytes(&Disk::new(), &bytes, &expected("index.html"));
        assert!(
            matches!(refused, Err(InstallError::NativeCode(_))),
            "{path}: {refused:?}"
        );
    }
    for path in ["also.js", "so", "jar/a.txt", "dex.html"] {
        let bytes = zip_of(&[("index.html", b"x"), (path, b"x")]);
        assert!(
            install_bytes(&Disk::new(), &bytes, &expected("index.html")).is_ok(),
            "{path}"
        );
    }
}

#[test]
fn a_package_without_entry_file_is_refused() {
    let bytes = zip_of(&[("main.html", b"x"), ("index.html/a", b"x")]);
    assert!(matches!(
        install_bytes(&Disk::new(), &bytes, &expected("index.html")),
        Err(InstallError::NoEntryFile(_))
    ));
}

#[test]
fn only_what_the_file_list_names_is_taken() {
    let list = list_of(&files(1));
    let only = Expected {
        list: Some(&list),
        ..expected("index.html")
    };
    assert!(install_bytes(&Disk::new(), &package(&files(1)), &only).is_ok());
    let mut more = files(1);
    more.insert("evil.js".to_owned(), b"x".to_vec());
    let mut fewer = files(1);
    fewer.remove("js/app.js");
    let mut longer = files(1);
    longer.insert("js/app.js".to_owned(), b"x".to_vec());
    let mut other = files(1);
    other.get_mut("js/app.js").unwrap()[0] ^= 1;
    for (what, files) in [("more", more), ("fewer", fewer), ("longer", longer), ("other", other)] {
        let disk = Disk::new();
        let refused = install_bytes(&disk, &package(&files), &only);
        assert!(matches!(refused, Err(InstallError::Unlisted(_))), "{what}: {refused:?}");
        assert_eq!(is_sound(&disk), Soundness::Incomplete, "{what}");
    }
}

#[test]
fn another_manifest_is_refused() {
    let right = Expected {
        manifest: Some(list_of(&files(1)).manifest()),
        ..expected("index.html")
    };
    assert!(install_bytes(&Disk::new(), &package(&files(1)), &right).is_ok());
    let disk = Disk::new();
    assert!(matches!(
        install_bytes(&disk, &package(&files(2)), &right),
        Err(InstallError::WrongFiles)
    ));
    assert_eq!(is_sound(&disk), Soundness::Incomplete);
}

#[test]
fn room_for_the_files_is_asked_before_the_first_is_written() {
    let disk = Disk::new();
    disk.set_free(8 << 20);
    assert!(matches!(
        install_bytes(&disk, &package(&files(1)), &expected("index.html")),
        Err(InstallError::NoSpace { .. })
    ));
    assert!(disk.files_below("slots").is_empty());
}

#[test]
fn a_slot_that_was_changed_is_not_sound() {
    let fresh = Disk::new();
    install_bytes(&fresh, &package(&files(1)), &expected("index.html")).unwrap();
    let path = |name: &str| format!("{}/{name}", content(SLOT));
    type Change = fn(&Disk, String);
    let changes: [(&str, Change, Soundness); 4] = [
        ("js/app.js", |disk, path| disk.put(&path, b"x"), Soundness::Damaged),
        ("new.js", |disk, path| disk.put(&path, b"x"), Soundness::Damaged),
        (
            "index.html",
            |disk, path| disk.remove_file(&path).unwrap(),
            Soundness::NoEntryFile,
        ),
        (
            "js/app.js",
            |disk, path| disk.remove_file(&path).unwrap(),
            Soundness::Damaged,
        ),
    ];
    for (name, change, found) in changes {
        let disk = fresh.copy();
        change(&disk, path(name));
        assert_eq!(is_sound(&disk), found, "{name}");
    }
    for mark in [&b""[..], b"x", &[b'0'; 65], Digest::of(b"other").to_string().as_bytes()] {
        let disk = fresh.copy();
        disk.put(&format!("slots/{SLOT}/.complete"), mark);
        let found = soundness(&disk, SLOT, "index.html", true);
        let rejected = [Soundness::Incomplete, Soundness::Damaged];
        assert!(rejected.contains(&found.unwrap()), "{mark:?}");
    }
}

#[test]
fn a_package_with_a_fault_is_downloaded_once_and_reported() {
    let mut bad = Update::number(1);
    bad.bytes = zip_of(&[("index.html", b"x"), ("lib.so", b"x")]);
    let (disk, server) = (Disk::new(), Server::offering(bad.clone()));
    process(&disk, &server, |device| {
        let _ = device.start(&launch(Ending::Explained));
        assert!(matches!(
            device.sync(&mut |_| ()),
            Err(SyncError::Install(InstallError::NativeCode(_)))
        ));
        assert!(matches!(device.sync(&mut |_| ()), Ok(SyncOutcome::Quarantined(_))));
        assert_eq!(device.start(&launch(Ending::Explained)).content, Content::Embedded);
    });
    assert_eq!(server.downloads().len(), 1);
    assert_eq!(disk.files_below("tmp").len(), 0);
    assert_eq!(
        *server.reports.borrow(),
        ["failed update_1 the file `lib.so` is native code, which updates must not contain"]
    );
}

#[cfg(unix)]
#[test]
fn links_in_the_clients_folder_are_not_followed() {
    use std::os::unix::fs::symlink;

    let (outside, inside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let target = outside.path().join("index.html");
    fs::write(&target, b"kept").unwrap();
    let storage = Folder::open(inside.path()).unwrap();
    symlink(&target, inside.path().join("state.json.new")).unwrap();
    assert!(storage.create("state.json.new").is_err());
    assert!(storage.append("state.json.new").is_err());
    assert!(storage.open("state.json.new").is_err());
    assert_eq!(fs::read(&target).unwrap(), b"kept");
    let package = Cursor::new(package(&files(1)));
    install(&storage, Box::new(package), SLOT, &expected("index.html")).unwrap();
    let entry = inside.path().join(content(SLOT)).join("index.html");
    fs::rename(&entry, &target).unwrap();
    symlink(&target, &entry).unwrap();
    assert_eq!(
        soundness(&storage, SLOT, "index.html", false).unwrap(),
        Soundness::NoEntryFile
    );
    let script = inside.path().join(content(SLOT)).join("js/app.js");
    fs::rename(&target, &entry).unwrap();
    fs::rename(&script, &target).unwrap();
    symlink(&target, &script).unwrap();
    assert_eq!(
        soundness(&storage, SLOT, "index.html", true).unwrap(),
        Soundness::Damaged
    );
}
