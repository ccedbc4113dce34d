//! Hostile archives over the API: 400 with the entry named, and nothing remains of them. The inspector has its own
//! tests.

use std::io::{Cursor, Write};

use launchway_blob::Key;
use launchway_config::RawSettings;
use serde_json::json;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::BUNDLE;
use crate::support::{Says, TestApp, package};

type Zip = ZipWriter<Cursor<Vec<u8>>>;

fn archive(write: impl FnOnce(&mut Zip)) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    write(&mut zip);
    zip.finish().unwrap().into_inner()
}

fn file(zip: &mut Zip, name: &str, bytes: &[u8]) {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file(name, options).unwrap();
    zip.write_all(bytes).unwrap();
}

fn with_files(names: &[&str]) -> Vec<u8> {
    archive(|zip| names.iter().for_each(|name| file(zip, name, b"x")))
}

/// Sets the "encrypted" flag in the local header of the entry and in the directory.
fn encrypted(mut bytes: Vec<u8>) -> Vec<u8> {
    for (signature, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let at = bytes.windows(4).position(|window| window == signature).unwrap();
        bytes[at + flags] |= 1;
    }
    bytes
}

/// Gives both entries of an archive the name of the first; the writer itself refuses that.
fn twice(first: &str, second: &str) -> Vec<u8> {
    let mut bytes = with_files(&[first, second]);
    while let Some(at) = bytes.windows(second.len()).position(|window| window == second.as_bytes()) {
        bytes[at..at + second.len()].copy_from_slice(first.as_bytes());
    }
    bytes
}

#[tokio::test]
async fn a_hostile_archive_is_400_names_the_entry_and_leaves_nothing() {
    let (app, key) = TestApp::with_key().await;
    let good = package("index.html", &[7; 4096]);
    let link = archive(|zip| {
        file(zip, "index.html", b"x");
        zip.add_symlink("link.html", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    });
    let mut damaged = archive(|zip| {
        zip.start_file("damaged.bin", SimpleFileOptions::default().compression_method(CompressionMethod::Stored))
            .unwrap();
        zip.write_all(b"the bytes of this entry").unwrap();
    });
    let at = damaged.windows(5).position(|window| window == b"bytes").unwrap();
    damaged[at] ^= 1;
    let rows = [
        (with_files(&["index.html", "../evil.sh"]), "`../evil.sh`"),
        (with_files(&["a/../../evil.sh"]), "`a/../../evil.sh`"),
        (with_files(&["a/./b"]), "`a/./b`"),
        (with_files(&["/etc/passwd"]), "`/etc/passwd`"),
        (with_files(&["C:/windows/a.dll"]), "`C:/windows/a.dll`"),
        (with_files(&["..\\evil.bat"]), "`..\\evil.bat`"),
        (with_files(&["a\nb\u{1b}[31m"]), "`a\\nb\\u{1b}[31m`"),
        (link, "`link.html`"),
        (with_files(&["Main.js", "main.js"]), "`main.js`"),
        (with_files(&["café", "cafe\u{301}"]), "`cafe\\u{301}`"),
        (twice("a.js", "b.js"), "`a.js`"),
        (with_files(&["a", "a/b"]), "`a`"),
        (encrypted(with_files(&["secret.js"])), "`secret.js`"),
        (archive(|zip| file(zip, "bomb.bin", &vec![0; 8 << 20])), "`bomb.bin`"),
        (damaged, "`damaged.bin`"),
        (good[..good.len() / 2].to_vec(), "ZIP"),
        (good[..good.len() - 1].to_vec(), "ZIP"),
        ([&good[..], b"more"].concat(), "ZIP"),
        ([b"#!/bin/sh\n", &good[..]].concat(), "ZIP"),
        (archive(|_| {}), "no file"),
        (archive(|zip| zip.add_directory("folder/", SimpleFileOptions::default()).unwrap()), "no file"),
        (b"hello".to_vec(), "ZIP"),
        (vec![0; 100_000], "ZIP"),
        (b"\x1f\x8b\x08\x00 no gzip either".to_vec(), "ZIP"),
    ];
    for (at, (bytes, named)) in rows.into_iter().enumerate() {
        let upload = app.upload(&key, &bytes).await;
        let body = json!({"uploadId": upload, "bundleId": BUNDLE, "platform": "ios", "version": "1.0.0"});
        let answer = app.post(&key, "/update", body).await;
        let message = answer.refusal(400);
        assert!(message.contains(named), "row {at}: {message}: names {named}");
    }
    let packages = app.app.blob.list(Some(&Key::new("packages").unwrap())).await.unwrap();
    assert_eq!(packages, []);
    for path in ["/update", "/apps"] {
        assert_eq!(app.get(&key, path).await.ok()["total"], 0, "{path}");
    }
    let none = json!({"updateAvailable": false, "message": "No updates found for this bundle"});
    assert_eq!(app.checked(BUNDLE, "currentVersion=0.1.0").await, none);
}

#[tokio::test]
async fn a_plain_archive_is_counted_by_its_files() {
    let (app, key) = TestApp::with_key().await;
    let names = ["index.html", "assets/a.js", "assets/ü/日本.txt", "..dots", "a..b/c", "white space.txt"];
    let bytes = archive(|zip| {
        zip.add_directory("assets/", SimpleFileOptions::default()).unwrap();
        names.iter().for_each(|name| file(zip, name, b"x"));
        file(zip, "empty", b"");
    });
    let upload = app.upload(&key, &bytes).await;
    let update = app.published(&key, json!({"uploadId": upload})).await;
    assert_eq!(update["fileCount"], names.len() + 1);
}

#[tokio::test]
async fn how_far_a_package_may_unpack_is_a_setting() {
    let settings = |size: &str, ratio: &str| RawSettings {
        max_unpacked_size: Some(size.to_owned()),
        max_unpack_ratio: Some(ratio.to_owned()),
        ..RawSettings::default()
    };
    let bytes = archive(|zip| file(zip, "zeros.bin", &vec![0; 2 << 20]));
    for (settings, status, named) in [
        (settings("2M", "5000"), 201, "published"),
        (settings("2097151", "5000"), 400, "unpacks to more than 2097151 bytes"),
        (settings("2M", "100"), 400, "`zeros.bin` unpacks to more than 100 times its size"),
    ] {
        let app = TestApp::with(settings).await;
        let (_, key) = app.org_with_key().await;
        let upload = app.upload(&key, &bytes).await;
        let answer = app.publish(&key, json!({"uploadId": upload})).await;
        answer.is(status);
        answer.says(named);
    }
}
